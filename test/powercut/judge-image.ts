import { hash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspectSqliteStore, openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { type Store, verifyStoreAudit } from "../../src/journal/index.ts";
import type { Acknowledgement } from "./protocol.ts";
import { STORE_NAME } from "./record-workload.ts";

/** What was promised before the power went. */
export interface Promised {
  /** Hashes of the events of each run, in order. */
  readonly events: Map<string, string[]>;
  readonly effects: Set<string>;
  root: { readonly size: number; readonly root: string };
}

export function nothingPromised(): Promised {
  return { events: new Map(), effects: new Set(), root: { size: 0, root: hash("sha256", "") } };
}

/** Adds one acknowledgement. */
export function promise(promised: Promised, given: Acknowledgement): void {
  switch (given.kind) {
    case "commit": {
      const key = JSON.stringify([given.tenant, given.runId]);
      const events = promised.events.get(key) ?? [];
      // Commits of one run are acknowledged in their order, and an early one may be of a commit that came to nothing.
      given.hashes.forEach((text, index) => {
        events[given.head - given.hashes.length + index] = text;
      });
      promised.events.set(key, events);
      return;
    }
    case "effect":
      promised.effects.add(given.idempotencyKey);
      return;
    case "root":
      if (given.size > promised.root.size) promised.root = { size: given.size, root: given.root };
  }
}

/** What is wrong with an image; empty when it holds all that was promised and is whole. */
export interface Fault {
  readonly kind: "unopenable" | "damaged" | "unverified" | "events_lost" | "effect_without_intent";
  readonly detail: string;
}

/** Opens an image as a machine would after the power has come back, and holds it against what was promised. */
export async function judgeImage(
  folder: string,
  files: ReadonlyMap<string, Buffer>,
  promised: Promised,
): Promise<readonly Fault[]> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes, { mode: 0o600 });
  let store: Store;
  try {
    store = await openSqliteStore(join(folder, STORE_NAME));
  } catch (error) {
    return [{ kind: "unopenable", detail: String(error) }];
  }
  try {
    return await judgeStore(store, promised);
  } catch (error) {
    return [{ kind: "damaged", detail: String(error) }];
  } finally {
    await store.close();
  }
}

async function judgeStore(store: Store, promised: Promised): Promise<readonly Fault[]> {
  const faults: Fault[] = [];
  const { complaints } = await inspectSqliteStore(store);
  if (complaints.length > 0) faults.push({ kind: "damaged", detail: complaints.join("; ") });
  const verdict = await verifyStoreAudit(store, { trustedCheckpoints: [promised.root] });
  if (!verdict.ok) faults.push({ kind: "unverified", detail: `${verdict.problem}: ${verdict.detail}` });
  const { events, intents } = await contentsOf(store);
  for (const [key, hashes] of promised.events) {
    const stored = events.get(key) ?? [];
    const lost = hashes.findIndex((text, index) => stored[index] !== text);
    if (lost !== -1) faults.push({ kind: "events_lost", detail: `${key}: event ${lost + 1} of ${hashes.length}` });
  }
  for (const key of promised.effects) {
    if (!intents.has(key)) faults.push({ kind: "effect_without_intent", detail: key });
  }
  return faults;
}

async function contentsOf(store: Store) {
  const events = new Map<string, string[]>();
  const intents = new Set<string>();
  for await (const { run, text } of store.audit.lines()) {
    const key = JSON.stringify([run.tenant, run.runId]);
    const hashes = events.get(key) ?? [];
    hashes.push(hash("sha256", text));
    events.set(key, hashes);
    const event = JSON.parse(text) as { readonly type: string; readonly idempotencyKey?: string };
    if (event.type === "call.started" && event.idempotencyKey !== undefined) intents.add(event.idempotencyKey);
  }
  return { events, intents };
}
