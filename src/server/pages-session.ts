import type { Context } from "hono";
import { type JsonValue, parseStrictJson } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { ServerContext } from "./http/env.ts";
import { toldProblem } from "./http/problem.ts";
import type { RateLimiter } from "./http/rate-limit.ts";
import { clearSession, csrfTokenOf, isFromOwnPages, readSession, writeSession } from "./http/session-cookie.ts";
import type { Decided } from "./operations/operation.ts";
import { isAgent } from "./operations/permission.ts";
import { refusalOf } from "./operations/quorum.ts";
import { refusalToReconcile } from "./operations/reconcile.ts";
import type { PageAction, PageDecision, PageOutcome, PageProblem, PagesSession } from "./pages/session.ts";
import { isSameText } from "./people/secret.ts";
import { type RouteContext, signedInOf } from "./routes/context.ts";

const PERMISSIONS = {
  start_run: "operate",
  cancel_run: "operate",
  decide: "decide",
  verify_audit: "read",
} as const satisfies Record<PageAction, string>;

/** A click is answered within this time; the page of the run tells the rest. */
const DECIDE_WAIT_MS = 1500;

/** What the pages need of people, sessions and limits, made of the same operations as the API. */
export function createPagesSession(
  context: RouteContext,
  failures: RateLimiter,
  onError: (error: unknown, requestId: string) => void,
): PagesSession {
  const { operations, people } = context;
  const who = (c: Context) => signedInOf(server(c));
  return {
    csrfField: "csrf",
    current: (c) => server(c).get("signedIn"),
    csrfToken: (c) => csrfTokenOf(server(c)),
    checkForm: (c, token) => token !== undefined && isSameText(token, csrfTokenOf(server(c))) && isFromOwnPages(c),
    problemOf(c, error) {
      const problem = error instanceof BelayError ? problemOf(error) : undefined;
      if (problem === undefined) onError(error, server(c).get("requestId"));
      return problem;
    },
    signIn: (c, token) =>
      outcome(async () => {
        const redeemed = people.redeem(token);
        if (redeemed === undefined) {
          failures.take(server(c).get("address"));
          throw new BelayError("BELAY_NOT_SIGNED_IN", "the link has been used or has expired; ask for a new one");
        }
        writeSession(server(c), redeemed.session, people.sessionMs);
        return redeemed.signedIn;
      }),
    async signOut(c) {
      const session = readSession(server(c));
      if (session !== undefined) people.endSession(session);
      clearSession(server(c));
    },
    allows(c, action) {
      const signedIn = server(c).get("signedIn");
      return signedIn !== undefined && operations.may(signedIn, PERMISSIONS[action]);
    },
    refusalToDecide: (c, approval) => refusalOf(context, who(c), approval),
    async signatures(c, approval) {
      const { needed, given } = operations.quorum(who(c), approval);
      if (needed === 1) return undefined;
      return {
        need: needed,
        given: given.map(({ personId, at, reason }) => ({
          personId,
          at,
          ...(reason === undefined ? {} : { note: reason }),
        })),
      };
    },
    startRun: (c, { app, text, idempotencyKey }) =>
      outcome(async () => {
        const { run, conversationId } = await operations.startRun(who(c), { app, input: text, idempotencyKey });
        return { ...run, conversationId };
      }),
    sendMessage: (c, { conversationId, text, idempotencyKey }) =>
      outcome(async () => {
        const by = who(c);
        const last = (await context.store.conversation(by.tenant, conversationId)).at(-1);
        if (last === undefined || isAgent(by)) {
          throw new BelayError("BELAY_RUN_UNKNOWN", "there is no such conversation here");
        }
        const sent = await operations.sendMessage(by, { runId: last.runId, text, idempotencyKey });
        return { run: sent.run, isQueued: sent.status === "queued" };
      }),
    decide: (c, { approvalId, answer, argsHash, note }) =>
      outcome(async () => {
        const decided = await operations.decide(who(c), {
          approvalId,
          answer: answer === "approved" ? "approve" : "reject",
          argsHash,
          waitMs: DECIDE_WAIT_MS,
          ...(note === undefined ? {} : { reason: note }),
        });
        return pageDecision(decided);
      }),
    cancel: (c, { runId, note }) => outcome(() => operations.cancel(who(c), runId, note)),
    refusalToReconcile: (c, run) => refusalToReconcile(who(c), run),
    reconcile: (c, { valueJson, ...form }) =>
      outcome(async () => {
        const value = valueJson === undefined ? {} : { value: jsonValue(valueJson) };
        return (await operations.reconcile(who(c), { ...form, ...value })).run;
      }),
  };
}

function jsonValue(text: string): JsonValue {
  const read = parseStrictJson(text);
  if (read.ok) return read.value;
  throw new BelayError(
    "BELAY_REQUEST_INVALID",
    `What the call gave is no JSON: ${read.message}. Nothing was recorded; leave it empty when it is not known.`,
  );
}

function pageDecision(decided: Decided): PageDecision {
  switch (decided.status) {
    case "recorded":
    case "world_changed": {
      // The page of the run tells what the second look said.
      const { tenant, runId } = decided.approval;
      return { status: "recorded", run: { tenant, runId } };
    }
    case "collected": {
      const { approval, quorum } = decided;
      return { status: "counted", approval, have: quorum.given.length, need: quorum.needed };
    }
    case "unknown":
      return { status: "unknown_approval" };
    default:
      return decided;
  }
}

/** Refusals as values; what is nobody's fault but ours goes on to the server's own answer. */
async function outcome<Value>(work: () => Promise<Value>): Promise<PageOutcome<Value>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    const problem = error instanceof BelayError ? problemOf(error) : undefined;
    if (problem === undefined) throw error;
    return { ok: false, problem };
  }
}

function problemOf(error: BelayError): PageProblem | undefined {
  const { status, code, detail, headers } = toldProblem(error);
  if (status === 500 || status === 405 || status === 408 || status === 421) return undefined;
  const seconds = Number(headers["retry-after"]);
  return { status, code, detail, ...(Number.isFinite(seconds) ? { retryAfterS: seconds } : {}) };
}

/** Every request that reaches a page has gone through the layers of the server. */
function server(context: Context): ServerContext {
  return context as ServerContext;
}
