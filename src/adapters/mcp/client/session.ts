import type { Tool } from "@modelcontextprotocol/client";
import { systemClock } from "../../../clock.ts";
import { BelayError } from "../../../errors.ts";
import type { ToolExecutor } from "../../../tool/index.ts";
import { cleanText } from "../clean-text.ts";
import { ownValue } from "../json-object.ts";
import { META } from "../meta.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import { type Classed, classify } from "./classify.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { Imported } from "./import-tool.ts";
import { importTool } from "./import-tool.ts";
import type { ConnectMcpOptions } from "./options.ts";
import { remoteCall } from "./remote-call.ts";

const TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
const RELIST_MS = 60_000;

/** A server's tools as they were trusted and the connection to it, kept in step. */
export interface McpSession {
  readonly catalog: Catalog;
  readonly connection: Connection;
  /** Tools of a server of ours that are not for models. */
  readonly hidden: ReadonlySet<string>;
  refresh(): Promise<void>;
  /** Resolves when what is known about the tools is new enough to call one. */
  freshen(): Promise<void>;
}

export function createSession(options: ConnectMcpOptions): McpSession {
  const { clock = systemClock, local } = options;
  const hidden = new Set<string>();
  let listedAt = 0;
  let refreshing: Promise<void> | undefined;

  const observe = (tools: readonly Tool[]): void => {
    const isHidden = (tool: Tool): boolean => local !== undefined && ownValue(tool._meta, META.hidden) === true;
    for (const tool of tools.filter(isHidden)) {
      hidden.add(tool.name);
    }
    catalog.observe(tools.filter((tool) => !isHidden(tool)));
    listedAt = clock.now();
  };

  function refresh(): Promise<void> {
    const listing = connection.listTools().then(observe);
    refreshing = listing;
    const done = (): void => {
      if (refreshing === listing) {
        refreshing = undefined;
      }
    };
    listing.then(done, done);
    return listing;
  }

  const connection = createConnection({
    transport: options.transport,
    protocol: options.protocol ?? "auto",
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    attemptsMax: options.attemptsMax ?? 3,
    retryDelayMs: options.retryDelayMs ?? 100,
    watch: local === undefined,
    onConnected: observe,
    onToolsChanged: () => {
      // The next call waits for the new list; a failure to get it is that call's to tell.
      refresh().catch(() => undefined);
    },
  });
  const call = remoteCall(connection, options, (tool) => catalog.refusal(tool));
  const catalog = createCatalog((tool) => imported(tool, options, call), options.pins);

  return {
    catalog,
    connection,
    hidden,
    refresh,
    async freshen() {
      const isOld = local === undefined && clock.now() - listedAt > (options.relistMs ?? RELIST_MS);
      await (refreshing ?? (isOld ? refresh() : undefined));
    },
  };
}

function imported(tool: Tool, options: ConnectMcpOptions, call: ReturnType<typeof remoteCall>): Imported {
  const { levels = {}, unclassified = "ask", local, timeoutMs = TIMEOUT_MS } = options;
  const classed = local === undefined ? classify(tool, levels, unclassified) : localClass(local, tool.name);
  if (classed === undefined) {
    return { ok: false, reason: local === undefined ? "nobody gave it a level" : "the app has no such tool" };
  }
  return importTool(tool, { classed, timeoutMs, local, call });
}

/** What the app itself says of its tool. An outcome cannot be looked up over the protocol. */
function localClass(local: ToolExecutor, name: string): Classed | undefined {
  const contract = local.listTools().find((candidate) => candidate.name === name);
  if (contract === undefined) {
    return undefined;
  }
  const { level, timeoutMs, untrusted } = contract;
  const recovery = contract.recovery === "queryable" ? "opaque" : contract.recovery;
  const isRisky = contract.risk !== undefined || (level === "irreversible" && recovery === "opaque");
  return {
    level,
    recovery,
    timeoutMs,
    untrusted,
    failuresAreDefinite: true,
    ...(isRisky ? { risk: "may_happen_twice_or_unknown" as const } : {}),
  };
}

/** The error for a server that cannot be reached. */
export function unavailable(options: ConnectMcpOptions, cause: unknown): BelayError {
  const detail = cause instanceof Error ? cleanText(cause.message, 200) : "no reason given";
  return new BelayError(
    "BELAY_MCP_UNAVAILABLE",
    `The tool server ${options.name ?? "mcp"} cannot be used: ${detail}. Start it, or correct its command or address.`,
    { cause },
  );
}
