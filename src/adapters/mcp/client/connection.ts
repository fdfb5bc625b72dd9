import { setTimeout as sleep } from "node:timers/promises";
import {
  Client,
  type JsonSchemaValidatorResult,
  type Tool,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { type McpProtocol, type McpTransport, openTransport } from "./transports.ts";

export interface ConnectionOptions {
  readonly transport: McpTransport;
  readonly protocol: McpProtocol;
  /** Time for one attempt to connect and list, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Attempts in a row before a call is told that the server is not there. */
  readonly attemptsMax: number;
  /** Pause after the first failed attempt, doubled each time up to two seconds. */
  readonly retryDelayMs: number;
  /** Whether the server is asked to say when its tools change. */
  readonly watch: boolean;
  /** Sees the tools after each connect, before anything is called. */
  readonly onConnected: (tools: readonly Tool[]) => void;
  readonly onToolsChanged: () => void;
}

/** A connection that comes back: each use gets a live client, or the reason why there is none. */
export interface Connection {
  /** A client that is connected and whose tools were seen; rejects after the last attempt. */
  ready(): Promise<Client>;
  listTools(): Promise<readonly Tool[]>;
  /** Forgets a client that turned out to be dead. */
  drop(client: Client): void;
  close(): Promise<void>;
}

const RETRY_DELAY_MS_MAX = 2_000;

export function createConnection(options: ConnectionOptions): Connection {
  let current: Promise<Client> | undefined;
  let live: Client | undefined;
  let isClosed = false;

  function forget(client: Client): void {
    if (live === client) {
      live = undefined;
      current = undefined;
    }
  }

  async function connectOnce(): Promise<Client> {
    const { transport, mode } = await openTransport(options.transport, options.protocol);
    const client = createClient(options, mode);
    client.onclose = () => forget(client);
    try {
      await client.connect(transport, { timeout: options.connectTimeoutMs });
      options.onConnected(await listAll(client, options.connectTimeoutMs));
      if (isClosed) {
        throw new Error("the connection was closed");
      }
      live = client;
      return client;
    } catch (error) {
      await quietly(client.close());
      await quietly(transport.close());
      throw error;
    }
  }

  async function connect(): Promise<Client> {
    let delayMs = options.retryDelayMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await connectOnce();
      } catch (error) {
        if (attempt >= options.attemptsMax || isClosed) {
          throw error;
        }
      }
      await sleep(delayMs);
      delayMs = Math.min(delayMs * 2, RETRY_DELAY_MS_MAX);
    }
  }

  function ready(): Promise<Client> {
    if (isClosed) {
      return Promise.reject(new Error("the connection was closed"));
    }
    if (current === undefined) {
      const connecting = connect();
      current = connecting;
      connecting.catch(() => {
        if (current === connecting) {
          current = undefined;
        }
      });
    }
    return current;
  }

  return {
    ready,
    listTools: async () => await listAll(await ready(), options.connectTimeoutMs),
    drop(client) {
      forget(client);
      void quietly(client.close());
    },
    async close() {
      isClosed = true;
      const client = live;
      live = undefined;
      await quietly(client?.close());
    },
  };
}

function createClient({ watch, onToolsChanged }: ConnectionOptions, mode: VersionNegotiationMode): Client {
  return new Client(
    { name: "belay", version: "1" },
    {
      versionNegotiation: { mode },
      // No capability is declared, so a server that asks for one is wrong.
      inputRequired: { autoFulfill: false },
      // Results are checked by the harness, with schemas that were looked at before.
      jsonSchemaValidator: { getValidator: () => acceptAnything },
      ...(watch ? { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } } } : {}),
    },
  );
}

function acceptAnything<Value>(input: unknown): JsonSchemaValidatorResult<Value> {
  return { valid: true, data: input as Value, errorMessage: undefined };
}

async function listAll(client: Client, timeoutMs: number): Promise<readonly Tool[]> {
  const { tools } = await client.listTools({}, { cacheMode: "bypass", timeout: timeoutMs });
  return tools;
}

/** Ends something that may be broken already. */
async function quietly(ending: Promise<unknown> | undefined): Promise<void> {
  try {
    await ending;
  } catch {
    // It is over either way.
  }
}
