import { createHarness, defineAgent, defineTool, type ModelClient } from "belay-harness";
import { createMemoryStore } from "belay-harness/store";
import { z } from "zod";
import { line, medianMicroseconds, microseconds } from "./support.ts";

/** One trivial tool and a model that answers at once: what is left is the harness. */
const add = defineTool({
  name: "add",
  description: "Adds one",
  level: "write",
  recovery: "keyed",
  input: z.strictObject({ n: z.number() }),
  execute: ({ n }) => ({ n: n + 1 }),
});

const agent = defineAgent({
  name: "bench",
  revision: "1",
  instructions: "Count.",
  tools: [add],
  rules: [{ id: "all", decide: () => ({ verdict: "allow", code: "OK", reason: "bench" }) }],
  limits: { stepsMax: 100_000 },
});

function countingModel(steps: number): ModelClient {
  let made = 0;
  const usage = { inputTokens: 10, outputTokens: 10 };
  return {
    id: "bench",
    generate: async () => {
      made += 1;
      if (made >= steps) return { kind: "final", text: "done", usage };
      return { kind: "calls", text: "", calls: [{ tool: "add", args: { json: { n: made } } }], usage };
    },
  };
}

async function harnessRun(steps: number): Promise<number> {
  const harness = createHarness({ agent, model: countingModel(steps), store: createMemoryStore() });
  const result = await harness.run("count").result;
  if (result.status !== "done") throw new Error(`the bench run ended as ${result.label}`);
  return Buffer.byteLength(JSON.stringify(await harness.entries(result))) / steps;
}

/** The least that any loop does: the same model, the schema check and the tool, with nothing kept. */
async function bareRun(steps: number): Promise<void> {
  const model = countingModel(steps);
  const request = { system: "", messages: [], tools: [], replyTokensMax: 1, temperature: 0 };
  const { signal } = new AbortController();
  for (;;) {
    const reply = await model.generate(request, { signal });
    if (reply.kind !== "calls") return;
    for (const call of reply.calls) {
      const checked = await add.input["~standard"].validate("json" in call.args ? call.args.json : null);
      if (checked.issues === undefined) add.execute(checked.value, {} as never);
    }
  }
}

export async function benchStepOverhead(): Promise<void> {
  await medianMicroseconds(64, async () => void (await harnessRun(64)), { rounds: 20 });
  const bare = await medianMicroseconds(256, () => bareRun(256));
  line("bare loop: model, schema check, tool; per step", microseconds(bare));
  const perStep: number[] = [];
  for (const steps of [8, 64, 256, 1024]) {
    let bytes = 0;
    const value = await medianMicroseconds(steps, async () => {
      bytes = await harnessRun(steps);
    });
    perStep.push(value);
    line(`harness, journal and audit in memory, ${steps} steps; per step`, microseconds(value), "under 300 µs");
    line(`  journal, ${steps} steps; per step`, `${bytes.toFixed(0)} B`, "under 1,024 B");
  }
  const ratio = Math.max(...perStep.slice(1)) / Math.min(...perStep.slice(1));
  line("growth from 64 to 1,024 steps, largest over smallest", `${ratio.toFixed(2)} ×`, "within 1.5 ×");
  line("1,024 steps over 8 steps", `${((perStep[3] ?? 0) / (perStep[0] ?? 1)).toFixed(2)} ×`, "within 1.5 ×");
}
