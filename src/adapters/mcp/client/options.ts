import type { Clock } from "../../../clock.ts";
import type { ToolExecutor } from "../../../tool/index.ts";
import type { McpLevels, Unclassified } from "./classify.ts";
import type { McpProtocol, McpTransport } from "./transports.ts";

export interface ConnectMcpOptions {
  readonly transport: McpTransport;
  /** Name of the server in messages; default `mcp`. */
  readonly name?: string;
  /** Default `auto`. */
  readonly protocol?: McpProtocol;
  /** How the operator classes each tool, by name. */
  readonly levels?: McpLevels;
  /** Default `ask`: a tool that nobody classed is irreversible, and each call of it asks a person. */
  readonly unclassified?: Unclassified;
  /**
   * For a server of ours that serves this app's own tools: levels, recovery classes and checks are those of this
   * executor, and failures are taken as the server tells them. Descriptions and schemas stay the server's.
   */
  readonly local?: ToolExecutor;
  /** Hashes of definitions that were approved before, by tool. Absent: what is listed first is trusted. */
  readonly pins?: Readonly<Record<string, string>>;
  /** Milliseconds for a call of a tool that is classed without a time. Default 30,000. */
  readonly timeoutMs?: number;
  /** Milliseconds for one attempt to connect. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Attempts to connect before a call fails. Default 3. */
  readonly attemptsMax?: number;
  /** Milliseconds before the second attempt, doubled for each further one. Default 100. */
  readonly retryDelayMs?: number;
  /** Milliseconds after which the tools are listed again before a call. Default 60,000. */
  readonly relistMs?: number;
  /** Put before run ids and keys, when several clients that count their runs alike use one server. */
  readonly scope?: string;
  readonly clock?: Clock;
}
