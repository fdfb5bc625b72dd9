import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import type { DemoMessage } from "../config.ts";
import type { Principal } from "../core/index.ts";
import type { Store } from "../journal/index.ts";
import type { LoadedConfig } from "./load-config.ts";
import type { Output } from "./output.ts";
import { printResult } from "./run-result.ts";
import type { ServedApps } from "./serve-apps.ts";
import { createStory } from "./story.ts";
import { usageError } from "./usage.ts";

const CUSTOMER: Principal = { kind: "customer", id: "customer" };

/**
 * Sends the messages of a demonstration to a database that has no run yet, and tells the first one on the terminal.
 *
 * Returns whether it did.
 */
export async function playDemo(
  served: ServedApps,
  store: Store,
  tenant: string,
  messages: readonly DemoMessage[],
  output: Output,
): Promise<boolean> {
  if (messages.length === 0 || (await store.runs({ tenant, limit: 1 })).length > 0) return false;
  for (const [index, message] of messages.entries()) {
    await play(served, tenant, message, index === 0 ? output : undefined);
  }
  return true;
}

async function play(
  { apps, principals }: ServedApps,
  tenant: string,
  { app: name, message, as }: DemoMessage,
  output: Output | undefined,
): Promise<void> {
  const app = apps.get(name);
  if (app === undefined) throw usageError(`'demo' of the configuration names the app ${name}, which it does not have.`);
  const principal: Principal = as === undefined ? (principals.get(name) ?? CUSTOMER) : { kind: "customer", id: as };
  const handle = app.harness.run(message, { tenant, principal });
  if (output === undefined) {
    await handle.result;
    return;
  }
  output.line({ text: `${principal.id}: `, style: "bold" }, message);
  const story = createStory(output);
  for await (const entry of handle) story.tell(entry);
  printResult(output, await handle.result);
}

/**
 * Evaluates the apps of a demonstration in processes of their own, one after another and behind everything else, so that
 * the console has results to show. Does nothing when some are stored already.
 */
export async function evaluateDemo(
  config: Pick<LoadedConfig, "apps" | "file">,
  folder: string,
  stop: AbortSignal,
): Promise<void> {
  const program = process.argv[1];
  if (program === undefined || (await readdir(folder).catch(() => [])).some((name) => name.endsWith(".json"))) return;
  for (const name of Object.keys(config.apps)) {
    if (stop.aborted) return;
    const args = [program, "eval", name, "--config", config.file, "--out", folder];
    const child = spawn(process.execPath, args, { stdio: "ignore", signal: stop });
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    // What fails here, such as an app without cases, is only missing on the page, which says how to make it.
    await new Promise<void>((resolve) => child.once("error", () => resolve()).once("close", () => resolve()));
  }
}
