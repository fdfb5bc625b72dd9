import { inspect } from "node:util";
import { onTestFinished } from "vitest";
import type { ApprovalRule } from "../../src/config.ts";
import { type Agent, createHarness, defineAgent, type Harness, type ModelClient } from "../../src/index.ts";
import { createMemoryStore, type Store } from "../../src/journal/index.ts";
import {
  createDecisionGuard,
  createLiveRuns,
  createPeopleStore,
  createServer,
  type LiveRuns,
  openServerDatabase,
  type PeopleStore,
  type ServerDatabase,
  type ServerOptions,
  type StoredRole,
} from "../../src/server/index.ts";
import { ASK_ABOVE_1000, calls, final, manualClock, refundTool, searchTool } from "../engine/support.ts";

/** A model that does what the message says: `refund O-1 5000`, `search x`; then it is done. */
export function obedientModel(): ModelClient {
  return {
    id: "scripted",
    generate: async ({ messages }) => {
      const told = messages.findLast((message) => message.role === "user")?.text ?? "";
      const hasResult = messages.at(-1)?.role === "tool";
      const [, order, cents] = /^refund (\S+) (\d+)$/.exec(told) ?? [];
      const usage = { inputTokens: 10, outputTokens: 5 };
      if (hasResult || !/^(refund|search) /.test(told)) return { ...final(`done: ${told}`), usage };
      return order === undefined
        ? { ...calls(["search", { q: told.slice(7) }]), usage }
        : { ...calls(["refund", { order, cents: Number(cents) }]), usage };
    },
  };
}

export interface ServerWorld {
  readonly app: ReturnType<typeof createServer>;
  readonly harness: Harness;
  readonly store: Store;
  readonly people: PeopleStore;
  readonly database: ServerDatabase;
  readonly live: LiveRuns;
  readonly clock: ReturnType<typeof manualClock>;
  readonly effects: string[];
  /** A token of a person, who is added when new. */
  token(id: string, roles?: readonly StoredRole[], tenant?: string): string;
  request(
    token: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  /** Starts a run and drives it until it ends or waits; its id. */
  run(token: string, input: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  /** The one open question. */
  question(): Promise<{ readonly approvalId: string; readonly argsHash: string }>;
}

export interface ServerChange {
  readonly store?: Store;
  readonly database?: ServerDatabase;
  readonly approvals?: readonly ApprovalRule[];
  readonly agent?: Partial<Agent>;
  readonly model?: ModelClient;
  readonly options?: Partial<ServerOptions>;
  /** Runs are driven in the background, as a server does. Default true. */
  readonly isWorking?: boolean;
}

export async function serverWorld(change: ServerChange = {}): Promise<ServerWorld> {
  const clock = manualClock();
  const ledger = { effects: [] as string[], keys: [] as string[] };
  const store = change.store ?? createMemoryStore();
  const database = change.database ?? openServerDatabase(":memory:");
  const people = createPeopleStore(database, { clock });
  const approvals = change.approvals ?? [];
  const live = createLiveRuns(store);
  const harness = createHarness({
    agent: defineAgent({
      name: "test",
      revision: "1",
      instructions: "Help.",
      tools: [refundTool(ledger), searchTool(ledger)],
      rules: [ASK_ABOVE_1000],
      ...change.agent,
    }),
    model: change.model ?? obedientModel(),
    store,
    clock,
    mayDecide: createDecisionGuard(people, approvals),
    onDelta: live.tell,
  });
  const app = createServer({
    store,
    clock,
    people,
    database,
    live,
    approvals,
    apps: new Map([["desk", { name: "desk", description: "A desk", harness, labelOf: (code) => code.toUpperCase() }]]),
    onError: (error) => {
      process.stderr.write(`${inspect(error)}\n`);
    },
    ...change.options,
  });
  const working = change.isWorking === false ? undefined : await harness.work();
  onTestFinished(async () => {
    await live.close();
    await working?.close();
    if (change.store === undefined) await store.close();
    if (change.database === undefined) database.close();
  });
  const request: ServerWorld["request"] = async (token, method, path, body, headers = {}) =>
    app.request(path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  return {
    app,
    harness,
    store,
    people,
    database,
    live,
    clock,
    effects: ledger.effects,
    request,
    token(id, roles = ["operator"], tenant = "default") {
      if (people.find(tenant, id) === undefined) people.add({ id, name: id.toUpperCase(), roles, tenant });
      return people.issue("token", tenant, id);
    },
    async run(token, input, more = {}) {
      const response = await request(token, "POST", "/v1/runs", { app: "desk", input, ...more }, { prefer: "wait=10" });
      const body = (await response.json()) as { readonly runId: string };
      if (response.status !== 200) throw new Error(`the run did not settle: ${JSON.stringify(body)}`);
      return body.runId;
    },
    async question() {
      const [row] = await store.approvals({ tenant: "default", status: "pending" });
      if (row === undefined) throw new Error("no question is open");
      return { approvalId: row.approvalId, argsHash: row.argsHash };
    },
  };
}

export interface Problem {
  readonly type: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly [member: string]: unknown;
}

/** The problem of a refused request, with its status checked against the one in the body. */
export async function problemOf(response: Response): Promise<Problem> {
  const problem = (await response.json()) as Problem;
  if (response.headers.get("content-type") !== "application/problem+json" || problem.status !== response.status) {
    throw new Error(`no problem: ${response.status} ${JSON.stringify(problem)}`);
  }
  return problem;
}

/** `status code` of a refusal. */
export async function refusal(response: Response): Promise<string> {
  const { status, code } = await problemOf(response);
  return `${status} ${code}`;
}
