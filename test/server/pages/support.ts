import { type Context, Hono } from "hono";
import { getCookie } from "hono/cookie";
import { streamSSE } from "hono/streaming";
import shop from "../../../apps/shop/index.ts";
import type { ShopWorld } from "../../../apps/shop/world/shop-world.ts";
import type { Clock } from "../../../src/clock.ts";
import type { Person } from "../../../src/config.ts";
import { type Agent, createHarness, type Harness, type ModelClient } from "../../../src/index.ts";
import { type ApprovalRow, createMemoryStore, type Store } from "../../../src/journal/index.ts";
import type { ServedApp, ServerDeps, SignedIn } from "../../../src/server/deps.ts";
import { createPages, type PageOutcome, type PageProblem, type PagesSession } from "../../../src/server/pages/index.ts";

export const PEOPLE: readonly Person[] = [
  { id: "olga", name: "Olga Reyes", roles: ["operator"] },
  { id: "dana", name: "Dana Whitfield", roles: ["approver"] },
  { id: "lee", name: "Lee Sandoval", roles: ["approver", "operator"] },
  { id: "vik", name: "Vik Raman", roles: ["viewer"] },
];

export const CSRF = "token-of-a-test";

export interface TestConsole {
  readonly app: Hono;
  readonly deps: ServerDeps;
  readonly store: Store;
  readonly harness: Harness;
  readonly world: ShopWorld;
  readonly clock: Clock & { advance(ms: number): void };
  /** Waits until every run that a page set going has come to a rest. */
  settle(): Promise<void>;
  get(path: string, as?: string): Promise<Response>;
  post(path: string, fields: Readonly<Record<string, string>>, as?: string): Promise<Response>;
  /** Runs a message to its rest, as one of the people. */
  run(message: string, as?: string): Promise<{ readonly runId: string; readonly conversationId: string }>;
}

export interface TestConsoleOptions {
  readonly store?: Store;
  readonly start?: number;
  readonly resultsFolder?: string;
  /** Time runs by itself, as in a browser test. */
  readonly isReal?: boolean;
  readonly change?: (session: PagesSession) => PagesSession;
  readonly world?: (world: ShopWorld) => void;
  /** Instead of the shop's. */
  readonly agent?: Agent;
  readonly model?: ModelClient;
}

/** The pages over the real shop and a session that knows people by a cookie alone. */
export function testConsole(options: TestConsoleOptions = {}): TestConsole {
  const store = options.store ?? createMemoryStore();
  const clock = testClock(options.start ?? Date.now(), options.isReal === true);
  const world = shop.openWorld(":memory:");
  options.world?.(world);
  const harness = createHarness({
    agent: options.agent ?? shop.agent(world, clock.now),
    model: options.model ?? shop.offlineModel(world),
    store,
    clock,
    ...(shop.prices && { prices: shop.prices }),
    mayDecide: (by) => PEOPLE.some(({ id, roles }) => id === by.id && roles.includes("approver")),
  });
  const served: ServedApp = { name: "shop", description: shop.description, harness, labelOf: (code) => code };
  const deps: ServerDeps = {
    store,
    apps: new Map([["shop", served]]),
    clock,
    ...(options.resultsFolder !== undefined && { resultsFolder: options.resultsFolder }),
  };
  const deltas: Deltas = new Set();
  const moving = new Set<Promise<unknown>>();
  const move = (runId: string): void => {
    const moved: Promise<unknown> = harness
      .advance({ tenant: "default", runId }, { onDelta: (text) => tellAll(deltas, runId, text) })
      .then((result) => {
        if (result.nextRun !== undefined) move(result.nextRun.runId);
      })
      .finally(() => moving.delete(moved));
    moving.add(moved);
  };
  const session = fakeSession(harness, store, move);
  const app = new Hono();
  app.get("/v1/runs/:id/events", (c) => events(c, store, deltas));
  app.route("/", createPages(deps, options.change?.(session) ?? session));
  const request = (path: string, init: RequestInit, as: string | undefined) =>
    Promise.resolve(
      app.request(path, {
        ...init,
        headers: { ...init.headers, ...(as === undefined ? {} : { Cookie: `who=${as}` }) },
      }),
    );
  return {
    app,
    deps,
    store,
    harness,
    world,
    clock,
    async settle() {
      while (moving.size > 0) await Promise.all(moving);
    },
    get: (path, as = "dana") => request(path, {}, as === "" ? undefined : as),
    post: (path, fields, as = "dana") =>
      request(
        path,
        { method: "POST", body: new URLSearchParams({ csrf: CSRF, ...fields }) },
        as === "" ? undefined : as,
      ),
    async run(message, as = "olga") {
      const principal = { kind: as.startsWith("C-") ? "customer" : "person", id: as } as const;
      const { runId, conversationId } = await harness.run(message, { principal }).result;
      return { runId, conversationId };
    },
  };
}

function testClock(start: number, isReal: boolean): TestConsole["clock"] {
  let offset = start - Date.now();
  let fixed = start;
  return {
    now: () => (isReal ? Date.now() + offset : fixed),
    advance: (ms) => {
      offset += ms;
      fixed += ms;
    },
  };
}

function refuse(status: PageProblem["status"], code: string, detail: string): { ok: false; problem: PageProblem } {
  return { ok: false, problem: { status, code, detail } };
}

function fakeSession(harness: Harness, store: Store, move: (runId: string) => void): PagesSession {
  const current = (c: Context): SignedIn | undefined => {
    const person = PEOPLE.find(({ id }) => id === getCookie(c, "who"));
    return person && { person, tenant: "default" };
  };
  const principalOf = (c: Context) => ({ kind: "person", id: current(c)?.person.id ?? "" }) as const;
  const has = (c: Context, ...roles: readonly string[]) =>
    current(c)?.person.roles.some((role) => roles.includes(role)) === true;
  const started = new Map<string, PageOutcome<{ tenant: string; runId: string; conversationId: string }>>();
  return {
    current,
    csrfField: "csrf",
    csrfToken: () => CSRF,
    checkForm: (_c, token) => token === CSRF,
    problemOf: () => undefined,
    signIn: async (c, token) => {
      const person = PEOPLE.find(({ id }) => token === `token-${id}`);
      if (person === undefined) return refuse(401, "token_unknown", "This token is not known, or it was used before.");
      c.header("Set-Cookie", `who=${person.id}; Path=/; HttpOnly; SameSite=Lax`, { append: true });
      return { ok: true, value: { person, tenant: "default" } };
    },
    signOut: async (c) => {
      c.header("Set-Cookie", "who=; Path=/; Max-Age=0", { append: true });
    },
    allows: (c, action) =>
      action === "decide" ? has(c, "approver") : action === "verify_audit" ? true : has(c, "operator", "approver"),
    refusalToDecide: (c, approval: ApprovalRow) => {
      if (!has(c, "approver")) return "your role may not decide";
      return approval.requester.id === current(c)?.person.id
        ? "you asked for it, and another person has to"
        : undefined;
    },
    async startRun(c, { app, text, idempotencyKey }) {
      if (!has(c, "operator", "approver")) return refuse(403, "not_permitted", "Your role starts no runs.");
      if (app !== "shop") return refuse(404, "app_unknown", "There is no such app.");
      const known = started.get(idempotencyKey);
      if (known !== undefined) return known;
      const problem = textProblem(text);
      if (problem !== undefined) return problem;
      const conversationId = `cnv_${crypto.randomUUID()}`;
      const run = { tenant: "default", runId: `run_${crypto.randomUUID()}`, conversationId };
      const outcome = { ok: true, value: run } as const;
      started.set(idempotencyKey, outcome);
      await harness.start(text, { ...run, principal: principalOf(c) });
      move(run.runId);
      return outcome;
    },
    async sendMessage(c, { conversationId, text }) {
      const problem = textProblem(text);
      if (problem !== undefined) return problem;
      const outcome = await harness.message(conversationId, text, { principal: principalOf(c) });
      if (outcome.status === "started") move(outcome.run.runId);
      return { ok: true, value: { run: outcome.run, isQueued: outcome.status === "queued" } };
    },
    async decide(c, { approvalId, answer, argsHash, note }) {
      const by = principalOf(c);
      const value = await harness.decide({ approvalId, answer, by, argsHash, ...(note !== undefined && { note }) });
      const row = await store.approval("default", approvalId);
      if (row !== undefined && (value.status === "recorded" || value.status === "expired")) move(row.runId);
      return { ok: true, value };
    },
    refusalToReconcile: (c) => (has(c, "approver") ? undefined : "your role may not say it"),
    async reconcile(c, { runId, callId, outcome, note }) {
      const run = { tenant: "default", runId };
      const { status } = await harness.reconcile({ run, callId, outcome, note, by: principalOf(c) });
      return status === "recorded" ? { ok: true, value: run } : refuse(409, status, "It is not in doubt.");
    },
    async cancel(c, { runId, note }) {
      if (!has(c, "operator", "approver")) return refuse(403, "not_permitted", "Your role cancels no runs.");
      const outcome = await harness.cancel({ tenant: "default", runId }, principalOf(c), note);
      if (outcome === "unknown_run") return refuse(404, "run_unknown", "There is no such run.");
      move(runId);
      return { ok: true, value: outcome };
    },
  };
}

function textProblem(text: string): { ok: false; problem: PageProblem } | undefined {
  if (text.trim() === "") return refuse(422, "text_missing", "The message is empty.");
  return text.length > 500 ? refuse(413, "text_too_long", "The message is longer than 500 characters.") : undefined;
}

type Deltas = Set<(runId: string, text: string) => void>;

function tellAll(deltas: Deltas, runId: string, text: string): void {
  for (const hear of deltas) hear(runId, text);
}

/** The stream of a run's events, as the API has it. */
function events(c: Context, store: Store, deltas: Deltas): Response | Promise<Response> {
  const run = { tenant: "default", runId: c.req.param("id") ?? "" };
  return streamSSE(c, async (stream) => {
    let at = 0;
    const hear = (runId: string, text: string): void => {
      if (runId !== run.runId) return;
      void stream.writeSSE({ event: "delta", data: JSON.stringify({ at, text }) });
      at += text.length;
    };
    deltas.add(hear);
    stream.onAbort(() => {
      deltas.delete(hear);
    });
    let after = Number(c.req.header("Last-Event-ID") ?? c.req.query("after") ?? "0");
    for (;;) {
      for (const { seq, event } of await store.read(run, after)) {
        await stream.writeSSE({ id: String(seq), event: event.type, data: JSON.stringify({ event }) });
        after = seq;
      }
      const row = await store.run(run);
      if (stream.aborted || row === undefined || (row.termination !== undefined && row.head <= after)) return;
      await stream.sleep(40);
    }
  });
}
