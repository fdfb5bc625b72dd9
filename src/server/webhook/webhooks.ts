import type { Clock } from "../../clock.ts";
import type { WebhookTarget } from "../../config.ts";
import { BelayError } from "../../errors.ts";
import type { ApprovalRow, Store } from "../../journal/index.ts";
import type { ServerDatabase } from "../people/server-database.ts";
import { createAddressGuard, type Resolve } from "./address-guard.ts";
import { createDeliveries, type Deliveries } from "./deliveries.ts";
import { createOpenQuestions } from "./open-questions.ts";
import { post } from "./post.ts";
import { SIGNATURE_HEADER, signWebhook } from "./sign.ts";

export interface WebhookOptions {
  readonly store: Store;
  readonly database: ServerDatabase;
  readonly target: WebhookTarget;
  /** Signs each message; at least 32 characters, from the environment. */
  readonly secret: string;
  readonly clock: Clock;
  /** Tenants whose questions are told of, asked at each look. */
  readonly tenants: () => readonly string[];
  /** Where people answer, such as https://belay.example.com; put before the path of the question. */
  readonly origin: string;
  readonly pollMs?: number;
  readonly retryMs?: number;
  readonly timeoutMs?: number;
  readonly resolve?: Resolve;
  readonly onFailure?: (failure: {
    readonly approvalId: string;
    readonly attempts: number;
    readonly reason: string;
  }) => void;
}

export interface Webhooks {
  /** Sends what is due now; also called by itself. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const SECRET_CHARACTERS_MIN = 32;
const ATTEMPTS_MAX = 12;
const RETRY_MS_MAX = 3_600_000;
const AT_ONCE = 8;
/**
 * Tells an address of the operator's choice about each question that waits: at least once, signed, with growing pauses.
 *
 * What was sent is written down, and what waits is read from the store, so a restart loses nothing. The message names
 * the question and holds no arguments: those are for whoever signs in. Throws `BELAY_WEBHOOK_REFUSED` and
 * `BELAY_SERVER_SETTINGS` for a target or secret that cannot be used.
 */
export function createWebhooks(options: WebhookOptions): Webhooks {
  const { store, database, target, clock, pollMs = 5000 } = options;
  checkSecret(options.secret);
  const guard = createAddressGuard(target, options.resolve);
  const deliveries = createDeliveries(database);
  const questions = createOpenQuestions(store, deliveries, clock);
  let flushing: Promise<void> | undefined;
  let isClosed = false;
  let isAsked = false;

  const send = async (row: ApprovalRow): Promise<void> => {
    const body = messageOf(row, options.origin);
    const headers = {
      [SIGNATURE_HEADER]: signWebhook(options.secret, body, clock.now()),
      "belay-delivery": row.approvalId,
      "user-agent": "belay",
    };
    const posted = await post(guard, body, headers, options.timeoutMs ?? 10_000);
    settle(options, deliveries, row, posted);
  };
  const tellAll = async (tenant: string): Promise<void> => {
    for await (const due of questions.due(tenant)) {
      for (let at = 0; at < due.length && !isClosed; at += AT_ONCE) {
        await Promise.all(due.slice(at, at + AT_ONCE).map(send));
      }
      if (isClosed) return;
    }
  };
  const look = async (): Promise<void> => {
    do {
      isAsked = false;
      for (const tenant of options.tenants()) await tellAll(tenant);
    } while (isAsked && !isClosed);
  };
  const flush = (): Promise<void> => {
    isAsked = true;
    // A store that does not answer is asked again at the next look.
    flushing ??= look()
      .catch(() => undefined)
      .finally(() => {
        flushing = undefined;
      });
    return flushing;
  };
  const unsubscribe = store.subscribe((_run, entries) => {
    if (entries.some(({ event }) => event.type === "approval.requested")) void flush();
  });
  // Retries, and questions that another process asked.
  const timer = setInterval(() => void flush(), pollMs).unref();
  void flush();
  return {
    flush,
    async close() {
      isClosed = true;
      clearInterval(timer);
      unsubscribe();
      await flushing;
    },
  };
}

function settle(
  { clock, retryMs = 1000, onFailure }: WebhookOptions,
  deliveries: Deliveries,
  row: ApprovalRow,
  posted: Awaited<ReturnType<typeof post>>,
): void {
  if (posted.ok) {
    deliveries.delivered(row);
    return;
  }
  const attempts = deliveries.attempts(row) + 1;
  const pauseMs = Math.min(retryMs * 2 ** (attempts - 1), RETRY_MS_MAX);
  deliveries.failed(row, attempts, clock.now() + pauseMs, attempts >= ATTEMPTS_MAX);
  onFailure?.({ approvalId: row.approvalId, attempts, reason: posted.reason });
}

function messageOf(
  { approvalId, runId, tenant, agent, tool, code, requestedAt, expiresAt }: ApprovalRow,
  origin: string,
): string {
  return JSON.stringify({
    type: "approval.pending",
    approvalId,
    runId,
    tenant,
    agent,
    tool,
    code,
    requestedAt,
    expiresAt,
    url: `${origin}/approvals/${encodeURIComponent(approvalId)}`,
  });
}

function checkSecret(secret: string): void {
  if (secret.length >= SECRET_CHARACTERS_MIN) return;
  throw new BelayError(
    "BELAY_SERVER_SETTINGS",
    `The webhook needs a secret of at least ${SECRET_CHARACTERS_MIN} characters. Set BELAY_WEBHOOK_SECRET.`,
  );
}
