import type { DemoMessage } from "../config.ts";
import type { Principal } from "../core/index.ts";
import type { Store } from "../journal/index.ts";
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
