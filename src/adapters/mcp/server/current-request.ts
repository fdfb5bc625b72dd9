import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerContext } from "@modelcontextprotocol/server";

const current = new AsyncLocalStorage<ServerContext>();

/** The request that a running tool was called by, for its progress and log messages; `undefined` outside of one. */
export function currentMcpRequest(): ServerContext | undefined {
  return current.getStore();
}

export function withMcpRequest<Value>(request: ServerContext, work: () => Value): Value {
  return current.run(request, work);
}
