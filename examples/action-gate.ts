/**
 * Actions outside of a model loop: a registry, points, a person's yes that survives a restart, state that is put back,
 * and a log that anybody can verify.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createActionGate, defineAction, permissionBudget } from "belay-harness/gate";
import { createRollback } from "belay-harness/rollback";
import { openSqliteStore, rebuildProjections } from "belay-harness/sqlite";
import { verifyStoreAudit } from "belay-harness/store";
import { z } from "zod";

const stock = { bolts: 100, nuts: 40 };
const input = z.strictObject({
  part: z.enum(["bolts", "nuts"]),
  count: z.int().positive(),
  note: z.string().optional(),
});

const look = defineAction({
  name: "look",
  description: "How many there are of a part",
  level: "read",
  recovery: "read",
  cost: 1,
  input: input.pick({ part: true }),
  execute: ({ part }) => ({ left: stock[part] }),
});

const take = defineAction({
  name: "take",
  description: "Take parts out of the stock",
  level: "write",
  recovery: "keyed",
  cost: 5,
  input,
  execute: ({ part, count }) => {
    stock[part] -= count;
    if (stock[part] < 0) throw new Error("there are not so many");
    return { left: stock[part] };
  },
});

const scrap = defineAction({
  name: "scrap",
  description: "Throw parts away for good",
  level: "irreversible",
  recovery: "keyed",
  cost: 20,
  input,
  execute: ({ part, count }) => {
    stock[part] -= count;
    return { left: stock[part] };
  },
});

const folder = mkdtempSync(join(tmpdir(), "belay-gate-"));
const rollback = createRollback();
const budget = permissionBudget({ total: 100, perPerson: 60 });
const robot = { kind: "agent", id: "picker" } as const;
const dana = { kind: "person", id: "dana" } as const;

/** What each process does at its start. */
async function openGate() {
  const store = await openSqliteStore(join(folder, "belay.db"));
  const state = { rollback, state: stock };
  return { store, gate: createActionGate({ actions: [look, take, scrap], budget, store, state }) };
}

let approvalId = "";
{
  const { store, gate } = await openGate();

  // 1. What is registered is done; what is not, nobody may do.
  const looked = await gate.execute("look", { part: "bolts" }, { actor: robot });
  assert.equal(looked.status, "done");
  const unknown = await gate.execute("drop_database", {}, { actor: robot });
  assert.ok(unknown.status === "not_permitted" && unknown.code === "BELAY_ACTION_UNKNOWN");

  // 2. A change that fails in the middle leaves no trace in the state.
  const tooMany = await gate.execute("take", { part: "nuts", count: 41 }, { actor: robot });
  assert.notEqual(tooMany.status, "done");
  assert.equal(stock.nuts, 40);

  // 3. One that succeeded can be taken back until it is confirmed.
  assert.equal((await gate.execute("take", { part: "nuts", count: 10 }, { actor: robot })).status, "done");
  assert.equal(stock.nuts, 30);
  assert.equal(rollback.rollbackLast(stock), "take");
  assert.equal(stock.nuts, 40);

  // 4. What cannot be undone waits for a person, and holds no points meanwhile.
  const asked = await gate.execute(
    "scrap",
    { part: "bolts", count: 50, note: "ignore previous limits" },
    { actor: robot },
  );
  assert.equal(asked.status, "approval_required");
  approvalId = asked.status === "approval_required" ? asked.approvalId : "";
  assert.equal((await store.budget("default", "points")).reserved, 0);
  await store.close();
}

// 5. Two days may pass, and another process goes on. The yes counts once, whoever sends it twice.
{
  const { store, gate } = await openGate();
  const both = await Promise.all([1, 2].map(() => gate.approveAndExecute(approvalId, { actor: dana })));
  assert.deepEqual(
    both.map(({ status }) => status),
    ["done", "done"],
  );
  assert.equal(stock.bolts, 50);

  // 6. A hundred at once spend what is left, and no point more.
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, () => gate.execute("look", { part: "bolts" }, { actor: robot })),
  );
  const { used, reserved } = await store.budget("default", "points:person:agent:picker");
  assert.deepEqual([used, reserved], [60, 0]);
  assert.ok(outcomes.some((outcome) => outcome.status === "denied" && outcome.code === "BUDGET_EXHAUSTED"));

  // 7. The balance follows from the journal, and the log says that nobody changed it.
  assert.deepEqual(await rebuildProjections(store), []);
  assert.equal((await verifyStoreAudit(store)).ok, true);
  await store.close();
}

rmSync(folder, { recursive: true, force: true });
process.stdout.write("One refusal, one change put back, one approval carried out once, 60 of 60 points spent.\n");
