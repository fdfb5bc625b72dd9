import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";

const project = join(import.meta.dirname, "..");

/** What each example prints when everything that it checks holds. */
const PRINTED: Readonly<Record<string, string>> = {
  "action-gate.ts": "One refusal, one change put back, one approval carried out once, 60 of 60 points spent.\n",
  "approvals.ts": "One refund for three questions: approved, world changed, expired.\n",
  "first-agent.ts": "waiting: refund is above 20.00\ndone\n",
  "langgraph-graph.ts": "The same approval twice: LangGraph's tool node paid 2 times, Belay's once.\n",
  "layers.ts": "Seven layers, each used alone; 25 of 100 points spent, one person asked.\n",
  "real-model.ts": '2 model calls. The tool says {"order":"A-1","status":"shipped"}\n',
  "recovery.ts": [
    "keyed: completed, attempts 2, payments 1\n",
    "queryable: completed, attempts 1, payments 1\n",
    "opaque: outcome_unknown, attempts 1, payments 1\n",
  ].join(""),
  "rules.ts": "Every verdict is as expected.\n",
  "verify-elsewhere.ts": "intact: 7 records; edited: changed at record 1; rewritten: root_mismatch; cut: truncated\n",
};

it("knows every example", () => {
  const files = globSync("examples/*.ts", { cwd: project }).map((file) => basename(file));
  expect(files.sort()).toEqual(Object.keys(PRINTED));
});

it.for(Object.entries(PRINTED))("%s holds", { timeout: 60_000 }, async ([file, printed]) => {
  expect(await run(file)).toEqual({ code: 0, stdout: printed, stderr: "" });
});

function run(file: string): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> {
  const { NODE_OPTIONS: _1, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["--conditions=belay-source", join(project, "examples", file)],
      { env },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}
