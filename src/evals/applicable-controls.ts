import type { AnyApp } from "../config.ts";
import { controlsOf } from "../engine/ablation.ts";
import type { Agent } from "../engine/index.ts";
import { createToolExecutor } from "../tool/index.ts";

/** A control of an agent; `idle` says why it cannot act in this agent, whatever a model does. */
export interface AgentControl {
  readonly id: string;
  readonly idle?: string;
}

/** Every control of an app's agent, in a stable order, on a fresh world. */
export function controlsOfApp(app: AnyApp): readonly AgentControl[] {
  const world = app.openWorld(":memory:");
  try {
    const agent: Agent = app.agent(world as never, Date.now);
    const inner = createToolExecutor(agent.tools);
    const tools = (agent.executor?.(inner) ?? inner).listTools();
    const isTransactional = tools.some(({ inTransaction }) => inTransaction);
    return controlsOf(agent).map(({ id }) => {
      const idle = idleReason(id, agent, isTransactional);
      return idle === undefined ? { id } : { id, idle };
    });
  } finally {
    world.close();
  }
}

/** Only what the agent's own declaration settles: no case could make these act. */
function idleReason(id: string, agent: Agent, isTransactional: boolean): string | undefined {
  if (id === "guard:transaction_recheck" && !isTransactional) {
    return "no tool of this agent runs in a transaction of its world";
  }
  if (id === "limit:rejections" && agent.approval?.onReject === "end_run") {
    return "the first rejection ends a run of this agent";
  }
  return undefined;
}
