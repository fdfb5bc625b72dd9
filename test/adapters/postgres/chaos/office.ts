import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { createPgBossWaker, createPostgresStore } from "../../../../src/adapters/postgres/index.ts";
import type { Waker } from "../../../../src/engine/index.ts";
import { createHarness, type Harness } from "../../../../src/index.ts";
import { type RunKey, type Store, verifyStoreAudit } from "../../../../src/journal/index.ts";
import { hasten } from "./hasten.ts";
import type { Ledger } from "./ledger.ts";
import { payInput, paymentsAgent, paymentsModel } from "./payments.ts";

/** Where runs are handed in: another process than any worker, which drives nothing itself. */
export interface Office extends AsyncDisposable {
  readonly store: Store;
  readonly harness: Harness;
  /** Runs whose start was confirmed, with the parts that each has to pay. */
  readonly acknowledged: ReadonlyMap<string, { readonly run: RunKey; readonly parts: number }>;
  /** Hands in a run; what fails is not confirmed and not counted. */
  submit(order: string, parts: number, cents?: number): Promise<void>;
}

export async function openOffice(postgresUrl: string, ledger: Ledger, given?: Waker): Promise<Office> {
  const store = await createPostgresStore({ connectionString: postgresUrl });
  const own = given === undefined ? createPgBossWaker({ connectionString: postgresUrl, timeoutMs: 5000 }) : undefined;
  if (own !== undefined) await hasten(postgresUrl, own);
  const harness = createHarness({
    agent: paymentsAgent(ledger.url, "1"),
    model: paymentsModel(1),
    store,
    waker: (given ?? own) as Waker,
    mayDecide: () => true,
  });
  const acknowledged = new Map<string, { readonly run: RunKey; readonly parts: number }>();
  return {
    store,
    harness,
    acknowledged,
    async submit(order, parts, cents = 100) {
      try {
        const run = await harness.start(payInput(order, parts, cents));
        acknowledged.set(order, { run, parts });
      } catch {
        // The database was away; whoever handed it in was told so.
      }
    },
    [Symbol.asyncDispose]: async () => {
      await own?.close();
      await store.close();
    },
  };
}

/** Waits until every confirmed run is what `isDone` says. */
export async function untilAll(
  { store, acknowledged }: Office,
  isDone: (status: string) => boolean,
  timeoutMs: number,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  const open = new Map(acknowledged);
  for (;;) {
    for (const [order, { run }] of open) {
      const row = await store.run(run).catch(() => undefined);
      if (row !== undefined && isDone(row.status)) open.delete(order);
    }
    if (open.size === 0) return;
    if (Date.now() > deadline) throw new Error(`not ended: ${[...open.keys()].join(", ")}`);
    await sleep(100);
  }
}

/** Every confirmed payment was made, no payment was made twice, and the audit log proves what was done. */
export async function expectExact({ store, acknowledged }: Office, ledger: Ledger): Promise<void> {
  const done = ledger.done();
  expect([...done].filter(([, times]) => times !== 1)).toEqual([]);
  const expected = [...acknowledged].flatMap(([order, { parts }]) =>
    Array.from({ length: parts }, (_, index) => `${order}/${index + 1}`),
  );
  expect(expected.filter((effect) => !done.has(effect))).toEqual([]);
  expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
}
