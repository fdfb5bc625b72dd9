import type { Context, Hono } from "hono";
import type { RunRow, RunStatus } from "../../../journal/index.ts";
import { type Html, NOTHING } from "../html.ts";
import { Head } from "../shell/frame.tsx";
import { endLabel, type PageKit, signedIn, viewOf } from "../shell/kit.ts";
import { reply } from "../shell/reply.tsx";
import { RunBadge } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import { ForeignLine } from "../show/foreign.tsx";
import { countText } from "../show/numbers.ts";
import { Age, durationText } from "../show/times.tsx";
import { codeText } from "../story/words.ts";
import { type RunCursor, type RunFilter, type RunPage, runPage } from "./query.ts";

const STATUSES: readonly (readonly [RunStatus, string])[] = [
  ["running", "Running"],
  ["waiting", "Waiting for a person"],
  ["done", "Answered"],
  ["failed", "Stopped"],
];

const REASONS = [
  ...["completed", "rejected", "approval_expired", "world_changed", "halted", "cancelled", "outcome_unknown"],
  ...["model_error", "max_steps", "token_budget", "cost_budget", "wall_clock", "repeated_call", "cycle"],
  ...["invalid_calls", "unreadable_replies", "rejections"],
];

/** The list of runs, newest first. */
export function runListRoute(app: Hono, kit: PageKit): void {
  app.get("/runs", async (c) => listPage(kit, c));
}

async function listPage(kit: PageKit, c: Context): Promise<Response> {
  const { tenant } = signedIn(kit, c);
  const view = await viewOf(kit, c);
  const filter = filterOf(c);
  const page = await runPage(kit.deps.store, tenant, filter, cursorOf(c));
  const agents = [...kit.deps.apps.values()].map(({ harness }) => harness.agent.name);
  const body = (
    <>
      <Head title="Runs" />
      <Filters filter={filter} agents={agents} />
      {page.rows.length === 0 ? (
        <p class="panel">
          {page.seen === 0 ? "There are no runs here." : `None of the ${countText(page.seen)} runs looked at fits.`}
        </p>
      ) : (
        <Rows kit={kit} rows={page.rows} now={view.now} />
      )}
      <Pages filter={filter} page={page} />
    </>
  );
  return reply(c, view, "Runs", body);
}

function filterOf(c: Context): RunFilter {
  const { status, agent, inDoubt, reason, person } = c.req.query();
  const known = STATUSES.find(([id]) => id === status)?.[0];
  return {
    ...(known !== undefined && { status: known }),
    ...(agent !== undefined && agent !== "" && { agent }),
    ...(inDoubt === "true" && { inDoubt }),
    ...(reason !== undefined && reason !== "" && { reason }),
    ...(person !== undefined && person.trim() !== "" && { person: person.trim() }),
  };
}

function cursorOf(c: Context): RunCursor | undefined {
  const before = Number(c.req.query("before"));
  const beforeRunId = c.req.query("run");
  return beforeRunId !== undefined && Number.isSafeInteger(before) ? { before, beforeRunId } : undefined;
}

function Filters(props: { readonly filter: RunFilter; readonly agents: readonly string[] }): Html {
  const { filter, agents } = props;
  return (
    <form class="filters" method="get" action="/runs" aria-label="Filter">
      <div>
        <label for="status">State</label>
        <Select id="status" options={STATUSES} chosen={filter.status} />
      </div>
      <div>
        <label for="reason">Reason of the end</label>
        <Select id="reason" options={REASONS.map((reason) => [reason, codeText(reason)])} chosen={filter.reason} />
      </div>
      <div>
        <label for="agent">Agent</label>
        <Select id="agent" options={agents.map((agent) => [agent, agent])} chosen={filter.agent} />
      </div>
      <div>
        <label for="person">Person</label>
        <input id="person" name="person" maxlength={128} value={filter.person ?? ""} />
      </div>
      <div>
        <label class="check">
          <input type="checkbox" name="inDoubt" value="true" checked={filter.inDoubt !== undefined} /> Outcome unknown
        </label>
        <button type="submit">Filter</button>
      </div>
    </form>
  );
}

function Select(props: {
  readonly id: string;
  readonly options: readonly (readonly [id: string, name: string])[];
  readonly chosen: string | undefined;
}): Html {
  const { id, options, chosen } = props;
  return (
    <select id={id} name={id}>
      <option value="">All</option>
      {options.map(([value, name]) => (
        <option value={value} selected={value === chosen}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Rows(props: { readonly kit: PageKit; readonly rows: readonly RunRow[]; readonly now: number }): Html {
  const { kit, rows, now } = props;
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Message</th>
          <th scope="col">State</th>
          <th scope="col">Agent</th>
          <th scope="col">Person</th>
          <th scope="col" class="end">
            Entries
          </th>
          <th scope="col">Took</th>
          <th scope="col">Started</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((run) => (
          <tr>
            <td data-label="Message">
              <a href={`/runs/${encodeURIComponent(run.runId)}`}>
                <ForeignLine text={run.input} charactersMax={80} />
              </a>
            </td>
            <td data-label="State">
              <RunBadge run={run} label={endLabel(kit.deps, run)} />
              {run.inDoubt === undefined ? "" : <div class="small tone-bad">outcome unknown</div>}
            </td>
            <td data-label="Agent" class="wide nowrap">
              {plainLine(run.agent, 32)}
            </td>
            <td data-label="Person" class="nowrap">
              {plainLine(run.principal.id, 32)}
            </td>
            <td data-label="Entries" class="end number wide">
              {run.head}
            </td>
            <td data-label="Took" class="number wide">
              {run.termination === undefined ? "" : durationText(run.updatedAt - run.startedAt)}
            </td>
            <td data-label="Started" class="nowrap">
              <Age at={run.startedAt} now={now} /> ago
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Pages(props: { readonly filter: RunFilter; readonly page: RunPage }): Html {
  const { filter, page } = props;
  const { next } = page;
  if (next === undefined) {
    return NOTHING;
  }
  const query = new URLSearchParams({ ...filter, before: String(next.before), run: next.beforeRunId });
  return (
    <nav class="pages" aria-label="Pages">
      <a class="button" href={`/runs?${query}`}>
        Older runs
      </a>
    </nav>
  );
}
