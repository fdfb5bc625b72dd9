import type { Agent } from "../engine/index.ts";
import type { Through } from "../evals/index.ts";
import type { ToolContext, ToolExecutor } from "../tool/index.ts";
import type { AgentThrough } from "./mcp-tools.ts";

export interface SharedTools {
  readonly through: Through;
  close(): Promise<void>;
}

/**
 * One boundary for all cases of an evaluation, opened for the first of them: a child for each would take a second each.
 *
 * Cases call their runs by the same ids, so each gets a scope of its own. What tools keep by run is therefore kept by
 * case; whatever else they keep, all cases share.
 */
export function sharedTools(open: (agent: Agent) => Promise<AgentThrough>): SharedTools {
  let opening: Promise<AgentThrough> | undefined;
  let cases = 0;
  return {
    through: async (agent) => {
      // The wrapper of each case's agent goes around the far side by itself, below.
      const { executor: wrap, ...bare } = agent;
      opening ??= open(bare);
      const { agent: far, isWorldElsewhere } = await opening;
      cases += 1;
      const scope = `case-${cases}:`;
      return {
        isWorldElsewhere,
        agent: {
          ...agent,
          executor: (inner) => {
            const remote = scoped(far.executor?.(inner) ?? inner, scope);
            return wrap?.(remote) ?? remote;
          },
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
    close: async () => {
      // A boundary that could not be opened has told so to every case.
      const boundary = await opening?.catch(() => undefined);
      await boundary?.[Symbol.asyncDispose]();
    },
  };
}

function scoped(far: ToolExecutor, scope: string): ToolExecutor {
  const inScope = (context: ToolContext): ToolContext => ({
    ...context,
    runId: `${scope}${context.runId}`,
    idempotencyKey: `${scope}${context.idempotencyKey}`,
  });
  return {
    listTools: () => far.listTools(),
    check: (tool, args) => far.check(tool, args),
    execute: (tool, args, context) => far.execute(tool, args, inScope(context)),
    lookup: (tool, args, context) => far.lookup(tool, args, inScope(context)),
  };
}
