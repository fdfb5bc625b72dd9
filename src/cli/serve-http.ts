import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { systemClock } from "../clock.ts";
import { BelayError } from "../errors.ts";
import type { Listening, Webhooks } from "../server/index.ts";
import { type CommandInput, hasFlag, textOption } from "./command.ts";
import type { ServedProject } from "./serve-project.ts";
import { ensureSigner } from "./signing-key.ts";
import { usageError } from "./usage.ts";

const HOST_DEFAULT = "127.0.0.1";
const GRACE_MS = 5000;

export interface HttpServer {
  /** Address by which people reach it. */
  readonly origin: string;
  readonly isLoopback: boolean;
  /** Takes no new requests, ends streams, and waits a little for what is being answered. */
  close(): Promise<void>;
}

/** Builds the server of a project and listens. Throws `BELAY_SERVER_ADDRESS` and what its settings are refused with. */
export async function startHttp(project: ServedProject, port: number): Promise<HttpServer> {
  const { input, server, config, place, store, people, database, served, live, onError } = project;
  const host = textOption(input, "host") ?? HOST_DEFAULT;
  const origin = originOption(input);
  let isReady = true;
  const app = server.createServer({
    store,
    apps: served.apps,
    clock: systemClock,
    people,
    database,
    live,
    approvals: config.approvals ?? [],
    signer: ensureSigner(input, place),
    resultsFolder: resultsFolder(project),
    trustedProxies: listOption(input, "proxy"),
    isReady: () => isReady,
    pages: await server.loadPages(),
    ...hostsOf(host, origin),
    ...(hasFlag(input, "log") && { onRequest: (entry) => input.output.progress(JSON.stringify(entry)) }),
    onError: (error, requestId) => onError({ tenant: "", runId: `(request ${requestId})` }, error),
  });
  let listening: Listening | undefined;
  let webhooks: Webhooks | undefined;
  const close = async (): Promise<void> => {
    isReady = false;
    const closing = listening?.close(GRACE_MS);
    await live.close();
    await closing;
    await webhooks?.close();
  };
  try {
    listening = await server.listen(app, { host, port });
    const address = origin ?? `http://${isIP(host) === 6 ? `[${host}]` : host}:${listening.port}`;
    webhooks = startWebhooks(project, address);
    return { origin: address, isLoopback: isLoopback(host), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where `belay eval` and `belay ablate` put their results, beside the database. */
export function resultsFolder({ input, place }: Pick<ServedProject, "input" | "place">): string {
  return resolve(input.cwd, textOption(input, "results") ?? join(place.folder, "results"));
}

/** Whether only programs of this machine can reach an address. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Throws `BELAY_PEOPLE_MISSING`: what others can reach must know who they are. */
export function checkReachable({ input, people }: ServedProject): void {
  const host = textOption(input, "host") ?? HOST_DEFAULT;
  if (isLoopback(host) || people.list().some(({ isRevoked }) => !isRevoked)) return;
  throw new BelayError(
    "BELAY_PEOPLE_MISSING",
    `Others can reach ${host}, and nobody may use this server. Add somebody first: belay people add dana --roles approver`,
  );
}

function startWebhooks(project: ServedProject, origin: string): Webhooks | undefined {
  const { input, server, config, store, database, people, place } = project;
  if (config.webhook === undefined) return undefined;
  return server.createWebhooks({
    store,
    database,
    target: config.webhook,
    secret: process.env["BELAY_WEBHOOK_SECRET"] ?? "",
    clock: systemClock,
    tenants: () => [...new Set([place.tenant, ...people.list().map(({ tenant }) => tenant)])],
    origin,
    onFailure: ({ approvalId, attempts, reason }) =>
      input.output.progress(`webhook for ${approvalId} failed (attempt ${attempts}): ${reason}`),
  });
}

/** Requests for other names are refused where the name is known: a name of somebody else that points here is an attack. */
function hostsOf(host: string, origin: string | undefined): { readonly hosts?: readonly string[] } {
  if (origin !== undefined) return { hosts: [new URL(origin).hostname] };
  return isLoopback(host) ? { hosts: [isIP(host) === 6 ? `[${host}]` : host] } : {};
}

function originOption(input: CommandInput): string | undefined {
  const text = textOption(input, "origin");
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.pathname !== "/" || url.search !== "") {
    throw usageError(
      `--origin is ${JSON.stringify(text)}. Give scheme and host alone, such as https://belay.example.com.`,
    );
  }
  return url.origin;
}

function listOption(input: CommandInput, name: string): readonly string[] {
  return (textOption(input, name) ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
