import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Clock } from "../../../clock.ts";
import type { FormatToolError } from "../../../context/index.ts";
import { type JsonValue, printable } from "../../../core/index.ts";
import { decideCall, type Rule } from "../../../policy/index.ts";
import type { ToolContext, ToolContract, ToolExecutor, ToolResult } from "../../../tool/index.ts";
import { contextOfMeta } from "../meta.ts";
import { withMcpRequest } from "./current-request.ts";
import { showResult } from "./show-result.ts";

type Presented = CallToolResult | InputRequiredResult;

/**
 * Says a result in another way than as structured content: with images, or as a question to the client.
 *
 * `undefined` leaves it as it is. A `ProtocolError` that it throws is the answer.
 */
export type PresentResult = (
  tool: string,
  result: ToolResult,
  request: ServerContext,
) => Presented | undefined | Promise<Presented | undefined>;

export interface AnswerOptions {
  readonly find: (tool: string) => { readonly executor: ToolExecutor; readonly contract: ToolContract } | undefined;
  readonly rules: readonly Rule[] | undefined;
  readonly formatToolError: FormatToolError | undefined;
  readonly present: PresentResult | undefined;
  readonly clock: Clock;
  readonly onError: (detail: string, cause: unknown) => void;
}

export interface Caller {
  readonly fallbackRunId: string;
  readonly trustCaller: boolean;
}

/** Runs one call as the harness would: known tool, arguments checked, rules asked, then the tool, in its time. */
export async function answerCall(
  options: AnswerOptions,
  caller: Caller,
  params: { readonly name: string; readonly arguments?: unknown },
  request: ServerContext,
): Promise<Presented> {
  const found = options.find(params.name);
  if (found === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `unknown tool "${printable(params.name, 80)}"`);
  }
  const { executor, contract } = found;
  const { signal, release } = inTime(request.mcpReq.signal, contract.timeoutMs);
  const context = contextOfMeta(request.mcpReq._meta, {
    runId: caller.fallbackRunId,
    requestId: String(request.mcpReq.id),
    trustCaller: caller.trustCaller,
    now: options.clock.now(),
    signal,
  });
  try {
    const result = await withMcpRequest(request, () =>
      runCall(options, executor, contract, (params.arguments ?? {}) as JsonValue, context),
    );
    const presented = await options.present?.(contract.name, result, request);
    return presented ?? showResult(contract.name, result, options.formatToolError);
  } finally {
    release();
  }
}

async function runCall(
  options: AnswerOptions,
  executor: ToolExecutor,
  contract: ToolContract,
  args: JsonValue,
  context: ToolContext,
): Promise<ToolResult> {
  const checked = await executor.check(contract.name, args);
  if (!checked.ok) {
    return checked;
  }
  const refusal = await refusalOf(options, contract, checked.args, context);
  if (refusal !== undefined) {
    return refusal;
  }
  return await untilAborted(context.signal, contract, async () =>
    executor.execute(contract.name, checked.args, context),
  );
}

/** Without rules the caller's own harness decides. With them, what a person would have to decide is refused here. */
async function refusalOf(
  options: AnswerOptions,
  contract: ToolContract,
  args: JsonValue,
  context: ToolContext,
): Promise<ToolResult | undefined> {
  if (options.rules === undefined) {
    return undefined;
  }
  const { callId, runId, tenant, principal, now } = context;
  const decision = await decideCall(
    options.rules,
    { callId, tool: contract.name, args, level: contract.level },
    { tenant, principal, runId, step: 1, input: "", memory: [], calls: [], now, recheck: false },
    { onError: (rule, cause) => options.onError(`rule ${rule} on ${contract.name}`, cause) },
  );
  const { verdict, code, reason } = decision;
  if (verdict === "allow") {
    return undefined;
  }
  const message =
    verdict === "ask" ? `a person must approve this call, and nobody can be asked here: ${reason}` : reason;
  return { ok: false, error: { code, message, retryable: false } };
}

/** An executor never rejects, but it may never answer. */
function untilAborted(
  signal: AbortSignal,
  contract: ToolContract,
  work: () => Promise<ToolResult>,
): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      // Of a change nobody knows whether it happened, and that is what this code says.
      const code = contract.recovery === "read" ? "timeout" : "tool_failed";
      const message = `${contract.name} gave no answer in time`;
      resolve({ ok: false, error: { code, message, retryable: contract.recovery === "read" } });
    };
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener("abort", stop, { once: true });
    work().then(resolve, reject);
  });
}

function inTime(outer: AbortSignal, timeoutMs: number): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const timer = setTimeout(stop, timeoutMs);
  outer.addEventListener("abort", stop, { once: true });
  if (outer.aborted) {
    stop();
  }
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      outer.removeEventListener("abort", stop);
    },
  };
}
