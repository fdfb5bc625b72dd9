import type { Context, Hono } from "hono";
import type { Html } from "../html.ts";
import { Head, Notice } from "../shell/frame.tsx";
import { type PageKit, signedIn, viewOf } from "../shell/kit.ts";
import { reply } from "../shell/reply.tsx";
import { plainLine } from "../show/code-points.ts";
import { Code } from "../show/foreign.tsx";
import { KillMatrix } from "./kill-matrix.tsx";
import { type Matrix, matrixOfResults } from "./matrices.ts";
import { readResults } from "./read-results.ts";
import { SuitePanel } from "./suite-panel.tsx";
import type { EvalResult } from "./suite-results.ts";

/** Evaluations: the last results of each suite, how they went over time, and what each control is good for. */
export function evaluationRoutes(app: Hono, kit: PageKit): void {
  app.get("/evaluations", async (c) => evaluationsPage(kit, c));
}

async function evaluationsPage(kit: PageKit, c: Context): Promise<Response> {
  signedIn(kit, c);
  const view = await viewOf(kit, c);
  const { results, matrices, unreadable } = await readResults(kit.deps.resultsFolder);
  const suites = bySuite(results.filter(({ without }) => without.length === 0));
  const shown = shownMatrices(results, matrices);
  const folder = kit.deps.resultsFolder;
  const [exampleApp = "<app>"] = kit.deps.apps.keys();
  const body = (
    <>
      <Head title="Evaluations" />
      {suites.size === 0 ? (
        <Missing
          what="There are no stored results yet."
          how="Each run of this command stores one, and several make a trend:"
          command={`belay eval ${exampleApp}`}
          folder={folder}
        />
      ) : (
        ""
      )}
      {[...suites.values()].map((history, index) => (
        <SuitePanel history={history} id={`suite-${index}`} />
      ))}
      {shown.length === 0 ? (
        <Missing
          what="There is no kill matrix yet: which cases fail when a control is taken out."
          how="This command takes out each control in turn, which takes about half a minute:"
          command={`belay ablate ${exampleApp}`}
          folder={folder}
        />
      ) : (
        shown.map((matrix, index) => <KillMatrix matrix={matrix} id={`matrix-${index}`} />)
      )}
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

function bySuite(results: readonly EvalResult[]): ReadonlyMap<string, readonly EvalResult[]> {
  return Map.groupBy(results, ({ app, suite }) => `${app} ${suite}`);
}

/** The newest whole matrix of each app; of apps without one, what results without a control say. */
function shownMatrices(results: readonly EvalResult[], matrices: readonly Matrix[]): readonly Matrix[] {
  const whole = new Map(matrices.map((matrix) => [matrix.app, matrix]));
  const complete = bySuite(results.filter(({ without }) => without.length === 0));
  const ablated = bySuite(results.filter(({ app, without }) => without.length > 0 && !whole.has(app)));
  return [
    ...whole.values(),
    ...[...ablated].flatMap(([name, group]) => matrixOfResults(group, complete.get(name)?.at(-1)) ?? []),
  ];
}

/** What is not there yet, and the command that makes it. */
function Missing(props: {
  readonly what: string;
  readonly how: string;
  readonly command: string;
  readonly folder: string | undefined;
}): Html {
  const { what, how, command, folder } = props;
  return (
    <div class="panel">
      <p>{what}</p>
      <p class="soft">{how}</p>
      <Code text={command} />
      <p class="soft small">
        {folder === undefined ? (
          "This server was started without a folder of results."
        ) : (
          <>
            This page reads <code>{plainLine(folder, 200)}</code>.
          </>
        )}
      </p>
    </div>
  );
}
