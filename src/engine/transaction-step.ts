import type { CallOutcome, CallState, Decision } from "../core/index.ts";
import type { ToolContext, ToolContract, ToolResult } from "../tool/index.ts";
import type { EngineContext } from "./context.ts";
import { unknownOutcome } from "./indefinite.ts";
import type { Kit } from "./kit.ts";
import type { Settlement } from "./outcome.ts";
import type { Session } from "./session.ts";

/** Thrown to roll a transaction back and carry the result out of it. */
class Rollback extends Error {
  readonly settlement: Settlement;
  constructor(settlement: Settlement) {
    super("rolled back");
    this.settlement = settlement;
  }
}

/**
 * One transaction of the world: an earlier attempt's outcome, or the rules once more and then the tool.
 *
 * The earlier attempt comes first, because its own effect may be what makes the rules say no today.
 */
export function executeInTransaction(
  context: EngineContext,
  session: Session,
  call: CallState,
  contract: ToolContract,
  signal: AbortSignal,
  settle: (result: ToolResult) => Settlement,
): Settlement {
  const { attemptOf, toolContext } = context.kit;
  const { callId, tool, args } = call.call;
  const { transaction } = context.agent;
  const toolInput = toolContext(context, session, call, signal);
  const now = <Value>(value: Value | Promise<Value>): Value => atOnce(context.kit, value);
  // An earlier attempt may have, and this one not yet.
  let mayHaveRun = call.attempt > 1;
  try {
    if (transaction === undefined) throw new TypeError(`${contract.name} needs the agent's transaction`);
    return transaction(() => {
      const earlier = now(context.executor.lookup(tool, args, toolInput));
      if (mayHaveRun && isOpen(context, earlier)) throw new Error("the earlier attempt could not be looked up");
      if (earlier !== undefined) return settle(earlier);
      const refusal = judgeInTransaction(context, session, call);
      if (refusal !== undefined) {
        const outcome = worldChangedOutcome(refusal.code, refusal.reason);
        throw new Rollback({ event: { type: "call.settled", callId, outcome, ...attemptOf(call) } });
      }
      mayHaveRun = true;
      const result = now(context.executor.execute(tool, args, toolInput));
      const settlement = settle(result);
      if (!result.ok) throw new Rollback(settlement);
      return settlement;
    });
  } catch (error) {
    if (error instanceof Rollback) return error.settlement;
    context.alarm({ code: "TOOL_FAILED", run: session.run, detail: `transaction of call ${callId}`, cause: error });
    return afterBrokenTransaction(context, call, contract, toolInput, settle, mayHaveRun);
  }
}

/** The rules once more, inside the transaction of the effect; `undefined` when they still let the call through. */
function judgeInTransaction(context: EngineContext, session: Session, call: CallState): Decision | undefined {
  if (!context.controls.guards.has("transaction_recheck")) return undefined;
  const { core, decideCallSync, ruleCall, ruleContext, withGate } = context.kit;
  const isRecheck = call.approval?.approvedBy !== undefined;
  const ruled = decideCallSync(
    context.controls.rules,
    ruleCall(context, call),
    ruleContext(context, session, call, isRecheck),
  );
  const decision = withGate(context, ruled);
  if (decision.verdict === "allow") return undefined;
  return decision.verdict === "ask" && isRecheck && core.isCovered(call, decision) ? undefined : decision;
}

const NOTHING_DONE: ToolResult = {
  ok: false,
  error: { code: "transaction_failed", message: "the world could not be changed; nothing was done", retryable: true },
};

/** Whether a lookup leaves open what became of the call. */
function isOpen({ kit }: EngineContext, found: ToolResult | undefined): boolean {
  return found?.ok === false && kit.INDEFINITE.has(found.error.code);
}

/** A tool without a lookup says "absent" of everything. A tool of another executor is looked up by its class. */
function hasLookup({ agent }: EngineContext, { name, recovery }: ToolContract): boolean {
  return recovery === "queryable" || agent.tools.some((tool) => tool.name === name && tool.lookup !== undefined);
}

/** The transaction threw: it was rolled back, unless the commit itself went wrong after the fact. */
function afterBrokenTransaction(
  context: EngineContext,
  call: CallState,
  contract: ToolContract,
  toolInput: ToolContext,
  settle: (result: ToolResult) => Settlement,
  mayHaveRun: boolean,
): Settlement {
  const { callId, tool, args } = call.call;
  try {
    // Also when the tool did not begin: a world that cannot be read is not one to make promises about.
    const found = atOnce(context.kit, context.executor.lookup(tool, args, toolInput));
    const isAbsent = found === undefined && (!mayHaveRun || hasLookup(context, contract));
    if (isAbsent || contract.recovery === "read") return settle(NOTHING_DONE);
    if (found !== undefined && !isOpen(context, found)) return settle(found);
  } catch {
    // As open as a lookup that says nothing.
  }
  const outcome = unknownOutcome("the transaction failed and the world cannot be read");
  return { event: { type: "call.settled", callId, outcome, ...context.kit.attemptOf(call) } };
}

/** A tool of a transaction answers at once; a promise would let other work in between. */
function atOnce<Value>({ isThenable }: Kit, value: Value | Promise<Value>): Value {
  if (isThenable(value)) {
    value.then(undefined, () => undefined);
    throw new TypeError("a tool with inTransaction must be synchronous");
  }
  return value;
}

function worldChangedOutcome(code: string, message: string): CallOutcome {
  return { status: "world_changed", error: { code, message, retryable: false } };
}
