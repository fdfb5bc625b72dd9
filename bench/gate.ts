/** `node bench/gate.ts` after a build: what Belay adds to an action that does nothing. */

import { createActionGate, defineAction, permissionBudget } from "belay-harness/gate";
import { createMemoryStore } from "belay-harness/store";
import { z } from "zod";
import { line, medianMicroseconds, microseconds } from "./support.ts";

const CALLS = 200;
const actor = { kind: "customer", id: "bench" } as const;

const add = defineAction({
  name: "add",
  description: "Adds one",
  level: "write",
  recovery: "keyed",
  cost: 1,
  input: z.strictObject({ n: z.number(), note: z.string() }),
  execute: ({ n }) => ({ n: n + 1 }),
});

const args = { n: 1, note: "please add one to this" };

/** One store for each round, so that none grows without bound. */
async function gateRound(width: number): Promise<void> {
  const gate = createActionGate({
    actions: [add],
    budget: permissionBudget({ total: 1_000_000, perPerson: 1_000_000 }),
    store: createMemoryStore(),
  });
  for (let done = 0; done < CALLS; done += width) {
    const outcomes = await Promise.all(Array.from({ length: width }, () => gate.execute("add", args, { actor })));
    if (outcomes.some(({ status }) => status !== "done")) throw new Error("a bench action was not done");
  }
}

async function bareRound(): Promise<void> {
  for (let done = 0; done < CALLS; done += 1) {
    const checked = await add.input["~standard"].validate(args);
    if (checked.issues === undefined) add.execute(checked.value, {} as never);
  }
}

export async function benchGate(): Promise<void> {
  const options = { rounds: 15, warmUp: 20 };
  const bare = await medianMicroseconds(CALLS, bareRound, options);
  line("bare action: schema check and handler", microseconds(bare));
  const one = await medianMicroseconds(CALLS, () => gateRound(1), options);
  line("action gate, two budgets, audit, in memory; one at a time", microseconds(one), "under 150 µs");
  const many = await medianMicroseconds(CALLS, () => gateRound(50), options);
  line("action gate, 50 at once; per action", microseconds(many));
}

if (process.argv[1] === import.meta.filename) await benchGate();
