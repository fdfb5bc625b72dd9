export type { ApprovalRule, WebhookTarget } from "../config.ts";
export { createServer, type ServerOptions } from "./create-server.ts";
export type { Role, ServedApp, ServerDeps, SignedIn } from "./deps.ts";
export type { ServerEnv } from "./http/env.ts";
export type { RateLimit } from "./http/rate-limit.ts";
export type { RequestLogEntry } from "./http/request-log.ts";
export { type Listening, type ListenOptions, listen } from "./listen.ts";
export { createLiveRuns, type LiveRuns, type LiveRunsOptions, type RunWatch } from "./live/live-runs.ts";
export { loadPages } from "./load-pages.ts";
export { createDecisionGuard } from "./operations/decision-guard.ts";
export type { Decided, Operations, Quorum, Vote } from "./operations/operation.ts";
export { recoverVotes } from "./operations/recover-votes.ts";
export {
  createPeopleStore,
  type PeopleStore,
  type PeopleStoreOptions,
  ROLES,
  type StoredPerson,
  type StoredRole,
} from "./people/people-store.ts";
export { openServerDatabase, type ServerDatabase } from "./people/server-database.ts";
export { DEFAULT_SERVER_LIMITS, type ServerLimits } from "./settings.ts";
export type { Resolve } from "./webhook/address-guard.ts";
export { SIGNATURE_HEADER, verifyWebhook } from "./webhook/sign.ts";
export { createWebhooks, type WebhookOptions, type Webhooks } from "./webhook/webhooks.ts";
