import type { AnyApp, World } from "../config.ts";
import type { Agent } from "../engine/index.ts";
import type { ToolExecutor } from "../tool/index.ts";
import { type AgentThrough, agentThrough, type ToolsMode } from "./mcp-tools.ts";

export interface AppThrough extends AsyncDisposable {
  readonly app: AnyApp;
}

/**
 * The app with its tools behind a boundary of the Model Context Protocol, such as streamable HTTP: each agent of it
 * gets a server over its own world, which is started when its first tool is called.
 *
 * What lists and checks tools stays in this process. No tool runs in a transaction of the world any more. Dispose it
 * to end the servers.
 */
export function appThrough(app: AnyApp, mode: Exclude<ToolsMode, "mcp-stdio">): AppThrough {
  if (mode === "local") {
    return { app, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const opened = new Map<object, Promise<AgentThrough>>();
  const open = (agent: Agent, key: object): Promise<AgentThrough> => {
    const known = opened.get(key) ?? agentThrough(agent, mode, { app: app.name, config: "", serveArgs: [] });
    opened.set(key, known);
    return known;
  };
  const close = async (key: object): Promise<void> => {
    const through = opened.get(key);
    opened.delete(key);
    await (await through)?.[Symbol.asyncDispose]();
  };
  return {
    app: {
      ...app,
      agent: (world, now) => remoteAgent(app.agent(world, now), (agent) => open(agent, world as World)),
    },
    [Symbol.asyncDispose]: async () => {
      for (const key of [...opened.keys()]) {
        await close(key);
      }
    },
  };
}

function remoteAgent(declared: Agent, open: (agent: Agent) => Promise<AgentThrough>): Agent {
  const agent: Agent = { ...declared, tools: declared.tools.map((tool) => ({ ...tool, inTransaction: false })) };
  // The wrapper of the app goes around the far side, once it is there, and not around this one too.
  const { executor: wrap, ...bare } = agent;
  const remote = async (inner: ToolExecutor): Promise<ToolExecutor> => {
    const { agent: through } = await open(bare);
    return through.executor?.(inner) ?? inner;
  };
  return {
    ...agent,
    executor: (inner) => {
      const far: ToolExecutor = {
        ...inner,
        execute: async (tool, args, context) => await (await remote(inner)).execute(tool, args, context),
        lookup: async (tool, args, context) => await (await remote(inner)).lookup(tool, args, context),
      };
      return wrap?.(far) ?? far;
    },
  };
}
