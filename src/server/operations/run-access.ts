import { BelayError } from "../../errors.ts";
import type { RunRow } from "../../journal/index.ts";
import type { ServedApp, SignedIn } from "../deps.ts";
import { hasStarted } from "../people/starter-mark.ts";
import type { OperationContext } from "./context.ts";
import { isAgent, may } from "./permission.ts";

/** The run, for somebody who may see it. Throws `BELAY_RUN_UNKNOWN`: that it exists is not told to others. */
export async function visibleRun(context: OperationContext, by: SignedIn, runId: string): Promise<RunRow> {
  const row = isId(runId) ? await context.store.run({ tenant: by.tenant, runId }) : undefined;
  if (row === undefined || !(isAgent(by) ? isOwn(by, row) : may(by, "read"))) {
    throw new BelayError("BELAY_RUN_UNKNOWN", "there is no such run here; see GET /v1/runs");
  }
  return row;
}

/** Whether somebody started this run: as themselves or in another's name. */
export function isOwn(by: SignedIn, row: RunRow): boolean {
  const kind = isAgent(by) ? "agent" : "person";
  return (row.principal.kind === kind && row.principal.id === by.person.id) || hasStarted(row, by);
}

/** The app of a run's agent. Throws `BELAY_APP_UNKNOWN` when this server does not have it. */
export function appOfRun(context: Pick<OperationContext, "apps">, { agent }: { readonly agent: string }): ServedApp {
  for (const app of context.apps.values()) {
    if (app.harness.agent.name === agent) return app;
  }
  throw new BelayError("BELAY_APP_UNKNOWN", `this server does not run the agent ${JSON.stringify(agent)}`);
}

function isId(text: string): boolean {
  return /^[\w.:@-]{1,128}$/.test(text);
}
