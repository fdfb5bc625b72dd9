import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import type { ApprovalRow, Harness, ModelReply, RunResult, Store } from "../../src/index.ts";
import { createMemoryStore } from "../../src/journal/index.ts";
import { DANA, type World, world } from "../engine/support.ts";

/** The stores that every durable behaviour is shown on. */
export const STORES: readonly (readonly [name: string, open: () => Promise<Store>])[] = [
  ["memory", async () => closedAfterwards(createMemoryStore())],
  ["sqlite", async () => closedAfterwards(await openSqliteStore(":memory:"))],
];

export function closedAfterwards(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "belay-behaviour-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type Change = NonNullable<Parameters<typeof world>[1]>;

/** `world` on a store of the test's choice. */
export function worldOn(store: Store, replies: readonly ModelReply[], change: Change = {}): World {
  return world(replies, { ...change, options: { ...change.options, store } });
}

export const idOf = (result: { readonly approvals: readonly ApprovalRow[] }, index = 0): string =>
  result.approvals[index]?.approvalId ?? "";

/** Answers the first open question and goes on. */
export async function answer(
  harness: Harness,
  waiting: RunResult,
  says: "approved" | "rejected",
  index = 0,
): Promise<RunResult> {
  await harness.decide({ tenant: waiting.tenant, approvalId: idOf(waiting, index), answer: says, by: DANA });
  return harness.advance(waiting);
}

export const statuses = (result: RunResult): readonly (string | undefined)[] =>
  result.calls.map(({ outcome }) => outcome?.status);

export const codeOf = (result: RunResult, index = 0): string | undefined => {
  const outcome = result.calls[index]?.outcome;
  return outcome === undefined || outcome.status === "ok" ? undefined : outcome.error.code;
};

/** The results of tools in the last request that the model got, in order. */
export function toolTexts(setup: World): readonly string[] {
  const last = setup.model.requests.at(-1)?.messages ?? [];
  return last.flatMap((message) => (message.role === "tool" ? [message.text] : []));
}

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly string[];
}

/** Runs a program of this folder in a process of its own until it ends. */
export async function runChild(name: string, ...args: readonly string[]): Promise<ChildEnd> {
  const path = fileURLToPath(new URL(`./children/${name}`, import.meta.url));
  const child = spawn(process.execPath, ["--conditions=belay-source", path, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, lines: printed.split("\n").slice(0, -1) };
}
