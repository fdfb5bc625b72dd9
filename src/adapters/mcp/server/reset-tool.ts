import { type AnyTool, defineTool, type ToolSchema } from "../../../tool/index.ts";

export const RESET_TOOL = "reset_session_state";

const NO_ARGUMENTS: ToolSchema<Record<string, never>> = {
  "~standard": {
    version: 1,
    vendor: "belay-mcp",
    validate: () => ({ value: {} }),
    jsonSchema: {
      input: () => ({ type: "object", properties: {}, additionalProperties: false }),
      output: () => ({ type: "object" }),
    },
  },
};

/** Whose state: what an app keeps for one run of one tenant. */
export interface SessionScope {
  readonly tenant: string;
  readonly runId: string;
}

/** The hidden tool `reset_session_state`, which forgets what the app keeps for the caller's run. */
export function resetSessionTool(reset: (scope: SessionScope) => void): AnyTool {
  return defineTool({
    name: RESET_TOOL,
    description: "Forget what is kept for this run. For clients, not for models.",
    level: "write",
    recovery: "keyed",
    input: NO_ARGUMENTS,
    execute: (_args, { tenant, runId }) => {
      reset({ tenant, runId });
      return { reset: true };
    },
  });
}
