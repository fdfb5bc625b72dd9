import { argsHash } from "../approval/index.ts";
import { findCall, type RunEvent } from "../core/index.ts";
import type { EngineContext } from "./context.ts";
import type { Session } from "./session.ts";

/** Milliseconds that a question stays open when the agent does not say. */
export const APPROVAL_TTL_MS_DEFAULT: number = 24 * 60 * 60 * 1000;

/** The question to a person: arguments frozen and hashed, with everything the answer will be bound to. */
export function requestApproval(context: EngineContext, session: Session, callId: string): readonly RunEvent[] {
  const call = findCall(session.state, callId);
  const contract = call === undefined ? undefined : context.contracts.get(call.call.tool);
  if (call === undefined || contract === undefined) return [];
  const { tool, args } = call.call;
  const ttlMs = context.agent.approval?.ttlMs ?? APPROVAL_TTL_MS_DEFAULT;
  const expires = context.controls.guards.has("approval_expiry");
  return [
    {
      type: "approval.requested",
      callId,
      approvalId: context.newId("apr"),
      expiresAt: expires ? Math.max(context.clock.now(), session.state.lastAt) + ttlMs : Number.MAX_SAFE_INTEGER,
      argsHash: argsHash(tool, args),
      contractHash: contract.contractHash,
      policyHash: context.stamp.policyHash,
      revision: context.stamp.revision,
    },
  ];
}
