import type { Context } from "hono";
import type { DecideOutcome } from "../../engine/index.ts";
import type { ApprovalRow, RunKey, RunRow } from "../../journal/index.ts";
import type { SignedIn } from "../deps.ts";

/** What a page may offer to the one who looks at it. The API still checks each action itself. */
export type PageAction = "start_run" | "decide" | "cancel_run" | "verify_audit";

/** Why an action was not done. `detail` is a sentence for people and holds no secret; `code` is stable. */
export interface PageProblem {
  readonly status: 400 | 401 | 403 | 404 | 409 | 410 | 412 | 413 | 422 | 429 | 503;
  readonly code: string;
  readonly detail: string;
  /** With 429 and 503: seconds to wait. */
  readonly retryAfterS?: number;
}

export type PageOutcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: PageProblem };

export interface StartForm {
  /** Name of an app of `deps.apps`. */
  readonly app: string;
  readonly text: string;
  /** Made with the form: the same form sent twice starts one run. */
  readonly idempotencyKey: string;
}

export interface MessageForm {
  readonly conversationId: string;
  readonly text: string;
  readonly idempotencyKey: string;
}

export interface DecideForm {
  readonly approvalId: string;
  readonly answer: "approved" | "rejected";
  /** The digest of the arguments that the page showed. */
  readonly argsHash: string;
  readonly note?: string;
}

export interface CancelForm {
  readonly runId: string;
  readonly note?: string;
}

/** A person looked the outcome of an unknown call up and says what it was. */
export interface ReconcileForm {
  readonly runId: string;
  readonly callId: string;
  readonly outcome: "happened" | "did_not_happen";
  /** How the person knows. */
  readonly note: string;
  /** What the call gave, as JSON, when it happened and that is known. */
  readonly valueJson?: string;
}

/** With four-eyes: `recorded` answers the question, `counted` is one of several that it needs. */
export type PageDecision =
  | DecideOutcome
  | { readonly status: "counted"; readonly approval: ApprovalRow; readonly have: number; readonly need: number };

/** Who has said yes so far to a question that needs several people. */
export interface Signatures {
  readonly need: number;
  readonly given: readonly { readonly personId: string; readonly at: number; readonly note?: string }[];
}

/**
 * What the pages need of the part of the server that knows people, sessions and limits.
 *
 * Pages read through the store; whatever they change goes through these functions, which do what the routes of the API
 * do: permission, rate limit, message cap. They report refusals as values and drive the run on by themselves (a page
 * does not wait for the end of a run). Each is called only after `checkForm` said yes.
 *
 * Live parts read `GET /v1/runs/{id}/events?after={seq}` with the session's cookie: each journal entry as one event of
 * any name, whose `id` is its sequence; and, while a model streams, events named `delta` with `{"at": 0, "text": "…"}` as
 * data and no id: a piece of the reply and where in it the piece begins. The stream ends with the run.
 */
export interface PagesSession {
  /** Who is signed in, or undefined. */
  current(c: Context): SignedIn | undefined;
  /** Name of the hidden field that carries the token. */
  readonly csrfField: string;
  /** Token for the forms of this page, also before sign-in. */
  csrfToken(c: Context): string;
  /** Whether a form came from one of our own pages: token, and what the browser says of its origin. */
  checkForm(c: Context, token: string | undefined): boolean | Promise<boolean>;
  /** What a reader is told of an exception; undefined: a fault of the server, of which its operator is told. */
  problemOf(c: Context, error: unknown): PageProblem | undefined;
  /** Exchanges the token of a sign-in link for a session and sets its cookie. */
  signIn(c: Context, token: string): Promise<PageOutcome<SignedIn>>;
  signOut(c: Context): Promise<void>;
  allows(c: Context, action: PageAction): boolean;
  /** Why the signed-in person may not answer this question; undefined when they may. */
  refusalToDecide(c: Context, approval: ApprovalRow): string | undefined;
  /** Absent where no question needs more than one person. */
  signatures?(c: Context, approval: ApprovalRow): Promise<Signatures | undefined>;
  startRun(c: Context, form: StartForm): Promise<PageOutcome<RunKey & { readonly conversationId: string }>>;
  sendMessage(
    c: Context,
    form: MessageForm,
  ): Promise<PageOutcome<{ readonly run: RunKey; readonly isQueued: boolean }>>;
  decide(c: Context, form: DecideForm): Promise<PageOutcome<PageDecision>>;
  cancel(c: Context, form: CancelForm): Promise<PageOutcome<"recorded" | "already_ended">>;
  /** Why the signed-in person may not say what became of the calls of this run; undefined when they may. */
  refusalToReconcile(c: Context, run: RunRow): string | undefined;
  reconcile(c: Context, form: ReconcileForm): Promise<PageOutcome<RunKey>>;
}
