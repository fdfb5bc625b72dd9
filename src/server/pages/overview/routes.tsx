import type { Context, Hono } from "hono";
import type { ApprovalRow, RunRow } from "../../../journal/index.ts";
import { type Html, NOTHING } from "../html.ts";
import { Head, Notice, Panel } from "../shell/frame.tsx";
import { type PageKit, signedIn, viewOf } from "../shell/kit.ts";
import { reply } from "../shell/reply.tsx";
import { BarList, Columns } from "../show/charts.tsx";
import { plainLine } from "../show/code-points.ts";
import { ForeignLine } from "../show/foreign.tsx";
import { costText, countText, shareText } from "../show/numbers.ts";
import { Countdown, durationText, Time } from "../show/times.tsx";
import { CallName } from "../story/story-list.tsx";
import { codeText } from "../story/words.ts";
import { type OverviewFigures, overviewFigures } from "./figures.ts";

const WAITING_MAX = 100;
const WAITING_LISTED = 5;
const CODES_SHOWN = 8;

/** The overview: how many runs, how they ended, what was refused, what waits, what it cost. */
export function overviewRoutes(app: Hono, kit: PageKit): void {
  app.get("/", async (c) => overviewPage(kit, c));
}

async function overviewPage(kit: PageKit, c: Context): Promise<Response> {
  const { tenant } = signedIn(kit, c);
  const view = await viewOf(kit, c);
  const { store } = kit.deps;
  const [figures, waiting, inDoubt] = await Promise.all([
    overviewFigures(store, tenant, view.now),
    store.approvals({ tenant, status: "pending", limit: WAITING_MAX + 1 }),
    store.runs({ tenant, inDoubt: true, limit: WAITING_LISTED + 1 }),
  ]);
  const body = (
    <>
      <Head title="Overview">
        <span class="soft">The last {figures.days.length} days, UTC</span>
      </Head>
      <InDoubt runs={inDoubt} />
      <Numbers figures={figures} waiting={waiting.length} />
      <div class="columns">
        <Panel title="Runs per day" id="days">
          <Columns label="Runs per day" columns={figures.days.map(({ day, runs }) => ({ name: day, value: runs }))} />
        </Panel>
        <Waiting rows={waiting} now={view.now} />
        <Panel title="Runs by how they ended" id="stops">
          <BarList
            empty="No run has ended yet."
            bars={figures.stops.map(([code, count]) => ({
              name: codeText(code),
              value: count,
              tone: code === "completed" ? "good" : "bad",
              href: `/runs?${new URLSearchParams({ reason: code })}`,
            }))}
          />
        </Panel>
        <Panel title="Refused calls by code" id="denials">
          <BarList
            empty="Nothing was refused."
            bars={figures.denials.slice(0, CODES_SHOWN).map(([name, value]) => ({ name, value, tone: "bad" }))}
          />
          <p class="soft small">Of the newest {countText(figures.read)} runs.</p>
        </Panel>
      </div>
    </>
  );
  return reply(c, view, "Overview", body);
}

/** Calls of which nobody knows whether they happened: somebody has to look, so it stands above everything else. */
function InDoubt(props: { readonly runs: readonly RunRow[] }): Html {
  const { runs } = props;
  if (runs.length === 0) return NOTHING;
  return (
    <Notice tone="bad" title="Nobody knows whether these calls happened. Look them up and say what you found.">
      <ul class="plain-list">
        {runs.slice(0, WAITING_LISTED).map((run) => (
          <li>
            <a href={`/runs/${encodeURIComponent(run.runId)}`}>
              <ForeignLine text={run.input} charactersMax={80} />
            </a>{" "}
            <span class="soft">
              {plainLine(run.agent, 40)}, <Time at={run.updatedAt} />
            </span>
          </li>
        ))}
      </ul>
      {runs.length > WAITING_LISTED ? (
        <p>
          <a href="/runs?inDoubt=true">All of them</a>
        </p>
      ) : (
        ""
      )}
    </Notice>
  );
}

function Numbers(props: { readonly figures: OverviewFigures; readonly waiting: number }): Html {
  const { figures, waiting } = props;
  const { metrics } = figures;
  const completed = figures.stops.find(([code]) => code === "completed")?.[1] ?? 0;
  const ended = figures.runs - figures.unfinished;
  const read = `newest ${countText(figures.read)} runs`;
  const numbers: readonly (readonly [string, string, string])[] = [
    ["Runs", `${countText(figures.runs)}${figures.isCut ? "+" : ""}`, `${countText(figures.unfinished)} not ended`],
    ["Answered", shareText(completed, ended), "of those that ended"],
    ["Waiting for a person", waiting > WAITING_MAX ? `${WAITING_MAX}+` : countText(waiting), "at this moment"],
    [
      "Time to decision",
      figures.decisionMs === undefined ? "none" : durationText(figures.decisionMs),
      `median of ${countText((metrics.approvals.approved ?? 0) + (metrics.approvals.rejected ?? 0))} answers`,
    ],
    ["Spend", costText(metrics.costNanoUsd), read],
    ["Tokens", countText(metrics.inputTokens + metrics.outputTokens), read],
  ];
  return (
    <dl class="figures">
      {numbers.map(([name, value, about]) => (
        <div>
          <dt>{name}</dt>
          <dd class="number">{value}</dd>
          <dd class="plain soft">{about}</dd>
        </div>
      ))}
    </dl>
  );
}

function Waiting(props: { readonly rows: readonly ApprovalRow[]; readonly now: number }): Html {
  const { rows, now } = props;
  return (
    <Panel title="Waiting longest" id="waiting">
      {rows.length === 0 ? (
        <p class="soft">Nothing waits for a person.</p>
      ) : (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Request</th>
              <th scope="col">Expires in</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, WAITING_LISTED).map((row) => (
              <tr>
                <td data-label="Request">
                  <a href={`/approvals/${encodeURIComponent(row.approvalId)}`}>
                    <CallName tool={row.tool} args={row.args} />
                  </a>
                </td>
                <td data-label="Expires in">
                  <Countdown until={row.expiresAt} now={now} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p>
        <a href="/approvals">All approvals</a>
      </p>
    </Panel>
  );
}
