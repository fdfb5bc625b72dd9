import type { Context } from "hono";
import { BelayError } from "../errors.ts";
import type { ServerContext } from "./http/env.ts";
import { HttpProblem } from "./http/problem.ts";
import type { RateLimiter } from "./http/rate-limit.ts";
import { clearSession, csrfTokenOf, isFromOwnPages, readSession, writeSession } from "./http/session-cookie.ts";
import { statusOf } from "./http/status-of.ts";
import type { Decided } from "./operations/operation.ts";
import { isAgent } from "./operations/permission.ts";
import type { PageAction, PageDecision, PageOutcome, PageProblem, PagesSession } from "./pages/session.ts";
import { isSameText } from "./people/secret.ts";
import { type RouteContext, signedInOf } from "./routes/context.ts";

const PERMISSIONS = {
  start_run: "operate",
  cancel_run: "operate",
  decide: "decide",
  verify_audit: "read",
} as const satisfies Partial<Record<PageAction, string>>;

/** A click is answered within this time; the page of the run tells the rest. */
const DECIDE_WAIT_MS = 1500;

/** What the pages need of people, sessions and limits, made of the same operations as the API. */
export function createPagesSession(context: RouteContext, failures: RateLimiter): PagesSession {
  const { operations, people } = context;
  const who = (c: Context) => signedInOf(server(c));
  return {
    csrfField: "csrf",
    current: (c) => server(c).get("signedIn"),
    csrfToken: (c) => csrfTokenOf(server(c)),
    checkForm: (c, token) => token !== undefined && isSameText(token, csrfTokenOf(server(c))) && isFromOwnPages(c),
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
      // The engine has no way yet to settle an outcome that nobody knows.
      if (signedIn === undefined || action === "reconcile_call") return false;
      return operations.may(signedIn, PERMISSIONS[action]);
    },
    refusalToDecide: (c, approval) => operations.quorum(who(c), approval).refusal,
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
  };
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
  const status = statusOf(error.code);
  switch (status) {
    case 400:
    case 401:
    case 403:
    case 404:
    case 409:
    case 410:
    case 412:
    case 413:
    case 429:
    case 503: {
      const seconds = error instanceof HttpProblem ? Number(error.headers["retry-after"]) : Number.NaN;
      const retry = Number.isFinite(seconds) ? { retryAfterS: seconds } : {};
      return { status, code: error.code, detail: error.message, ...retry };
    }
    default:
      return undefined;
  }
}

/** Every request that reaches a page has gone through the layers of the server. */
function server(context: Context): ServerContext {
  return context as ServerContext;
}
