import type { CallToolResult, Client, Tool } from "@modelcontextprotocol/client";
import type { JsonValue, ToolError } from "../../../core/index.ts";
import { type ToolContext, toolFailure } from "../../../tool/index.ts";
import { callMeta, strangerMeta } from "../meta.ts";
import type { Connection } from "./connection.ts";
import { failureOf, type Trouble, troubleOf } from "./failure.ts";
import type { RemoteCall } from "./import-tool.ts";
import type { ConnectMcpOptions } from "./options.ts";
import { type ResultReader, readResult } from "./read-result.ts";

/** The request gives up a little before the harness does, so that the failure says who was slow. */
const TIME_SHARE = 0.95;

type Sent = { readonly ok: true; readonly result: CallToolResult } | { readonly ok: false; readonly trouble: Trouble };

/**
 * Makes the way in which calls reach the server. Never rejects: whatever goes wrong is a failure as data.
 *
 * What was certainly not sent is sent once more over a new connection, and so is a read whose answer was lost.
 */
export function remoteCall(
  connection: Connection,
  options: ConnectMcpOptions,
  refusal: (tool: string) => ToolError | undefined,
): RemoteCall {
  const { name: server = "mcp", scope } = options;
  return async (definition, reader, args, context) => {
    const deadline = deadlineOf(reader.contract.timeoutMs, context.signal);
    try {
      for (let attempt = 1; ; attempt += 1) {
        const sent = await send(connection, definition, reader, args, context, scope, deadline.signal, refusal);
        if ("error" in sent) {
          return toolFailure(sent.error.code, sent.error.message, sent.error);
        }
        if (sent.ok) {
          return readResult(sent.result, reader);
        }
        if (attempt > 1 || !mayRepeat(sent.trouble, reader)) {
          return failureOf(sent.trouble, server, reader.contract);
        }
      }
    } finally {
      deadline.release();
    }
  };
}

function mayRepeat({ kind }: Trouble, { contract }: ResultReader): boolean {
  return kind === "not_sent" || (kind === "lost" && contract.recovery === "read");
}

async function send(
  connection: Connection,
  definition: Tool,
  reader: ResultReader,
  args: JsonValue,
  context: ToolContext,
  scope: string | undefined,
  signal: AbortSignal,
  refusal: (tool: string) => ToolError | undefined,
): Promise<Sent | { readonly error: ToolError }> {
  let client: Client;
  try {
    client = await untilAborted(connection.ready(), signal);
  } catch {
    return { ok: false, trouble: { kind: "not_sent", reason: "it cannot be reached" } };
  }
  // A new connection may have shown other tools.
  const error = refusal(definition.name);
  if (error !== undefined) {
    return { error };
  }
  try {
    // Without its output schema: the result is checked by us, not by the library.
    const { outputSchema: _unchecked, ...toolDefinition } = definition;
    const result = await client.callTool(
      {
        name: definition.name,
        arguments: args as Record<string, unknown>,
        _meta: reader.isOwn ? callMeta(context, scope) : strangerMeta(context),
      },
      { signal, toolDefinition, timeout: reader.contract.timeoutMs },
    );
    return { ok: true, result };
  } catch (cause) {
    const trouble = troubleOf(cause, signal.aborted);
    if (trouble.kind === "lost" || trouble.kind === "not_sent") {
      connection.drop(client);
    }
    return { ok: false, trouble };
  }
}

function deadlineOf(
  timeoutMs: number,
  outer: AbortSignal,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const timer = setTimeout(stop, Math.max(1, Math.floor(timeoutMs * TIME_SHARE)));
  outer.addEventListener("abort", stop, { once: true });
  if (outer.aborted) {
    stop();
  }
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      outer.removeEventListener("abort", stop);
    },
  };
}

function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error("aborted"));
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
