import { createHash } from "node:crypto";
import type { Principal } from "../../core/index.ts";
import type { ToolContext } from "../../tool/index.ts";
import { isJsonObject, ownValue } from "./json-object.ts";

/** Keys under `_meta` by which a harness and a tool server of ours tell each other what the protocol has no place for. */
export const META = {
  runId: "belay/runId",
  callId: "belay/callId",
  idempotencyKey: "belay/idempotencyKey",
  attempt: "belay/attempt",
  tenant: "belay/tenant",
  principal: "belay/principal",
  /** On a result: the failure as the harness knows it, whole. */
  error: "belay/error",
  /** On a result: `structuredContent.value` is the value, because the protocol's older era takes objects alone. */
  wrapped: "belay/wrapped",
  /** On a definition: not for a model. */
  hidden: "belay/hidden",
} as const;

const ID_CHARACTERS_MAX = 256;
const KINDS: readonly unknown[] = ["customer", "person", "agent", "system"] satisfies Principal["kind"][];

/** What a client of ours sends along with a call. `scope` keeps apart what several clients call by the same run id. */
export function callMeta(context: ToolContext, scope = ""): Record<string, unknown> {
  return {
    [META.runId]: `${scope}${context.runId}`,
    [META.callId]: context.callId,
    [META.idempotencyKey]: `${scope}${context.idempotencyKey}`,
    [META.attempt]: context.attempt,
    [META.tenant]: context.tenant,
    [META.principal]: { kind: context.principal.kind, id: context.principal.id },
  };
}

/** What a server of somebody else is told: a key to drop duplicates by, and nothing about whose call it is. */
export function strangerMeta(context: ToolContext): Record<string, unknown> {
  return { [META.idempotencyKey]: createHash("sha256").update(context.idempotencyKey).digest("hex") };
}

export interface CallerDefaults {
  /** Of a caller that names no run. */
  readonly runId: string;
  readonly requestId: string;
  /** Whether tenant and principal are taken from what the caller says. */
  readonly trustCaller: boolean;
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Makes the context of a call from what came with it. Whatever is absent or malformed gets a default; tenant and
 * principal of a caller that is not trusted are `default` and the agent `mcp`.
 */
export function contextOfMeta(meta: unknown, defaults: CallerDefaults): ToolContext {
  const runId = idIn(meta, META.runId) ?? defaults.runId;
  const callId = idIn(meta, META.callId) ?? `mcp-${defaults.requestId}`;
  const attempt = ownValue(meta, META.attempt);
  const tenant = (defaults.trustCaller ? idIn(meta, META.tenant) : undefined) ?? "default";
  return {
    runId,
    callId,
    tenant,
    principal: (defaults.trustCaller ? principalIn(meta) : undefined) ?? { kind: "agent", id: "mcp" },
    idempotencyKey: idIn(meta, META.idempotencyKey) ?? `${tenant}:${runId}:${callId}`,
    attempt: Number.isSafeInteger(attempt) && Number(attempt) >= 1 ? Number(attempt) : 1,
    now: defaults.now,
    signal: defaults.signal,
  };
}

function idIn(meta: unknown, key: string): string | undefined {
  const value = ownValue(meta, key);
  return typeof value === "string" && value !== "" && value.length <= ID_CHARACTERS_MAX && value.isWellFormed()
    ? value
    : undefined;
}

function principalIn(meta: unknown): Principal | undefined {
  const principal = ownValue(meta, META.principal);
  const kind = ownValue(principal, "kind");
  const id = idIn(principal, "id");
  return isJsonObject(principal) && id !== undefined && KINDS.includes(kind)
    ? { kind: kind as Principal["kind"], id }
    : undefined;
}
