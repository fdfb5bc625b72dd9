import { McpServer, type Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type Clock, systemClock } from "../../../clock.ts";
import type { FormatToolError } from "../../../context/index.ts";
import type { Rule } from "../../../policy/index.ts";
import type { AnyTool, ToolExecutor } from "../../../tool/index.ts";
import { type AnswerOptions, answerCall, type PresentResult } from "./answer-call.ts";
import { announce, type Changeable, createHttpDoor, freshRunId, type HttpDoor, type McpEra } from "./http-door.ts";
import { serverTools } from "./list-tools.ts";

export interface McpToolServerOptions {
  readonly name: string;
  readonly version: string;
  /** Either these or an executor of them. */
  readonly tools?: readonly AnyTool[];
  readonly executor?: ToolExecutor;
  /** Tools for clients and not for models, such as `resetSessionTool(...)`; clients of ours leave them out. */
  readonly hidden?: readonly AnyTool[];
  readonly instructions?: string;
  /** Judge each call here. Absent: the caller's harness decides. Given: what needs a person is refused. */
  readonly rules?: readonly Rule[];
  /** How the app words a failure; default `{ error: code, message, …details }`. */
  readonly formatToolError?: FormatToolError;
  readonly present?: PresentResult;
  /** Adds what is not a tool (resources, prompts) to each server that is made. */
  readonly configure?: (server: McpServer, era: McpEra) => void;
  readonly clock?: Clock;
  /** Gets what no client must see. */
  readonly onError?: (detail: string, cause: unknown) => void;
  /** Largest request over HTTP, in bytes. Default 1 MiB. */
  readonly bodyBytesMax?: number;
}

/** Whether callers may say for which tenant and principal they call; never a matter of what they send. */
export interface CallerTrust {
  readonly trustCaller?: boolean;
}

/** An app's tools behind the protocol, ready to be served in any way. */
export interface McpToolServer extends AsyncDisposable {
  readonly name: string;
  /** Answers one HTTP request of either era. Looks at no Host, Origin or token: `listenMcp` does. */
  fetch(request: Request, trust?: CallerTrust): Promise<Response>;
  /** Serves one connection of the 2025 era over a transport. */
  connect(transport: Transport, trust?: CallerTrust): Promise<{ close(): Promise<void> }>;
  /** Serves one connection of either era over this process's stdin and stdout, which nothing else may write to. */
  serveStdio(trust?: CallerTrust & { readonly transport?: Transport }): { close(): Promise<void> };
  /** Tells every client that a list has changed, so that it asks again. */
  changed(what?: Changeable): void;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 1024 * 1024;

/**
 * Exposes tools over the Model Context Protocol, in both of its eras.
 *
 * Arguments are checked here whatever the caller did. Over HTTP the modern era has no sessions: what a run keeps is
 * keyed by the run id in `_meta`, so that cases which run side by side do not share it. Throws `BELAY_MCP_INVALID` for
 * no tools, and what `createToolExecutor` throws.
 */
export function createMcpToolServer(options: McpToolServerOptions): McpToolServer {
  const { clock = systemClock, bodyBytesMax = BODY_BYTES_MAX } = options;
  const createServer = serverFactory(options, clock);
  const report = (error: Error): void => options.onError?.("protocol", error);
  const doorFor = (trust: CallerTrust): HttpDoor =>
    createHttpDoor((era, runId) => createServer(era, runId, trust), {
      bodyBytesMax,
      now: () => clock.now(),
      onError: report,
    });
  const doors = { trusted: doorFor({ trustCaller: true }), others: doorFor({}) };
  const connected = new Set<McpServer>();
  const close = async (): Promise<void> => {
    await Promise.all([doors.trusted.close(), doors.others.close()]);
    await Promise.all([...connected].map((server) => server.close()));
  };
  return {
    name: options.name,
    fetch: (request, trust = {}) => (trust.trustCaller === true ? doors.trusted : doors.others).fetch(request),
    async connect(transport, trust = {}) {
      const server = createServer("legacy", freshRunId(), trust);
      connected.add(server);
      await server.connect(transport);
      return {
        close: async () => {
          connected.delete(server);
          await server.close();
        },
      };
    },
    serveStdio({ transport, ...trust } = {}) {
      const runId = freshRunId();
      return serveStdio(({ era }) => createServer(era, runId, trust), {
        onerror: report,
        ...(transport === undefined ? {} : { transport }),
      });
    },
    changed(what = "tools") {
      doors.trusted.changed(what);
      doors.others.changed(what);
      for (const server of connected) {
        announce(server, what);
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

type ServerFactory = (era: McpEra, fallbackRunId: string, trust: CallerTrust) => McpServer;

function serverFactory(options: McpToolServerOptions, clock: Clock): ServerFactory {
  const { name, version, instructions } = options;
  const onError = options.onError ?? (() => undefined);
  const tools = serverTools(options, onError);
  const answering: AnswerOptions = {
    find: tools.find,
    rules: options.rules,
    formatToolError: options.formatToolError,
    present: options.present,
    clock,
    onError,
  };
  return (era, fallbackRunId, trust) => {
    const server = new McpServer(
      { name, version },
      { capabilities: { tools: { listChanged: true } }, ...(instructions === undefined ? {} : { instructions }) },
    );
    server.server.setRequestHandler("tools/list", () => ({ tools: [...tools.list()] }));
    server.server.setRequestHandler("tools/call", (request, context) =>
      answerCall(answering, { fallbackRunId, trustCaller: trust.trustCaller === true }, request.params, context),
    );
    options.configure?.(server, era);
    return server;
  };
}
