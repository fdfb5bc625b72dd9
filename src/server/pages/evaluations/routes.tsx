import type { Context, Hono } from "hono";
import type { Html } from "../html.ts";
import { Head, Notice } from "../shell/frame.tsx";
import { type PageKit, signedIn, viewOf } from "../shell/kit.ts";
import { reply } from "../shell/reply.tsx";
import { plainLine } from "../show/code-points.ts";
import { KillMatrix } from "./kill-matrix.tsx";
import { type EvalResult, readResults } from "./read-results.ts";
import { SuitePanel } from "./suite-panel.tsx";

/** Evaluations: the last results of each suite, how they went over time, and what each control is good for. */
export function evaluationRoutes(app: Hono, kit: PageKit): void {
  app.get("/evaluations", async (c) => evaluationsPage(kit, c));
}

async function evaluationsPage(kit: PageKit, c: Context): Promise<Response> {
  signedIn(kit, c);
  const view = await viewOf(kit, c);
  const { results, unreadable } = await readResults(kit.deps.resultsFolder);
  const suites = Map.groupBy(
    results.filter(({ without }) => without.length === 0),
    ({ app, suite }) => `${app} ${suite}`,
  );
  const ablated = Map.groupBy(
    results.filter(({ without }) => without.length > 0),
    ({ app, suite }) => `${app} ${suite}`,
  );
  const body = (
    <>
      <Head title="Evaluations" />
      {results.length === 0 ? <Empty /> : ""}
      {[...suites.values()].map((history, index) => (
        <SuitePanel history={history} id={`suite-${index}`} />
      ))}
      {[...ablated.values()].map((group, index) => (
        <KillMatrix results={group} baseline={baselineOf(suites, group)} id={`matrix-${index}`} />
      ))}
      {unreadable.length === 0 ? (
        ""
      ) : (
        <Notice tone="wait" title="Some files of the folder are no results and were passed over.">
          <p>{plainLine(unreadable.join(", "), 400)}</p>
        </Notice>
      )}
    </>
  );
  return reply(c, view, "Evaluations", body);
}

function baselineOf(
  suites: ReadonlyMap<string, readonly EvalResult[]>,
  group: readonly EvalResult[],
): EvalResult | undefined {
  const [first] = group;
  return first && suites.get(`${first.app} ${first.suite}`)?.at(-1);
}

function Empty(): Html {
  return (
    <div class="panel">
      <p>There are no stored results yet.</p>
      <p class="soft">
        A result is the JSON of <code>belay eval &lt;app&gt; --json</code>, saved in the server's folder of results.
      </p>
    </div>
  );
}
