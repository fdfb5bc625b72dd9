import type { Entry, RunEvent, VerdictKind } from "../core/index.ts";
import { createOtlpExporter } from "../telemetry/index.ts";
import { type Command, type CommandInput, DATABASE_OPTIONS, hasFlag, textOption } from "./command.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { readRun } from "./show.ts";
import { sendTrace } from "./trace-otlp.ts";
import { traceTree } from "./trace-tree.ts";
import { usageError } from "./usage.ts";

/** One model step, as the published trace names its fields. */
export interface TraceStep {
  readonly run: string;
  readonly step: number;
  readonly model_ms: number;
  /** Input and output tokens. */
  readonly tokens: readonly [number, number];
  /** Set when the reply could not be read. */
  readonly error?: "invalid_output";
  readonly calls: readonly TraceCall[];
}

interface TraceCall {
  readonly tool: string;
  decision: "allow" | "deny" | "needs_approval" | null;
  code: string | null;
}

export const traceCommand: Command = {
  name: "trace",
  summary: "print a run's model steps or its tree of spans, or send its spans to an OTLP receiver",
  positionals: [{ name: "run" }],
  options: {
    jsonl: { type: "boolean", help: "print one JSON record per model step, one a line" },
    tree: { type: "boolean", help: "print the tree of spans, with arguments" },
    all: { type: "boolean", help: "with --tree: also the decisions that let a call through" },
    otlp: { type: "string", value: "endpoint", help: "send the spans, without content, to an OTLP/HTTP receiver" },
    ...DATABASE_OPTIONS,
  },
  examples: [
    "trace run_1",
    "trace run_1 --jsonl > trace.jsonl",
    "trace run_1 --tree",
    "trace run_1 --otlp http://localhost:4318",
  ],
  run: async (input) => {
    const place = placeOf(input);
    const [runId = ""] = input.positionals;
    const run = { tenant: place.tenant, runId };
    const endpoint = textOption(input, "otlp");
    checkForms(input, endpoint);
    // A mistyped address is told before anything is read.
    const exporter = endpoint === undefined ? undefined : await createOtlpExporter({ endpoint });
    const { entries } = await withStore(openStore(place), (store) => readRun(store, run));
    if (exporter !== undefined) {
      return await sendTrace(exporter, run, entries, input.output).finally(() => exporter.close());
    }
    if (hasFlag(input, "tree")) {
      for (const line of traceTree(run, entries, hasFlag(input, "all"))) {
        input.output.line(line);
      }
    } else {
      printSteps(input, traceSteps(runId, entries));
    }
    return 0;
  },
};

function checkForms(input: CommandInput, endpoint: string | undefined): void {
  const forms = [
    ...(["jsonl", "tree"] as const).filter((form) => hasFlag(input, form)),
    ...(endpoint === undefined ? [] : ["otlp"]),
  ];
  if (forms.length > 1) {
    throw usageError(`--${forms.join(" and --")} are different forms. Give one of them.`);
  }
  if (hasFlag(input, "all") && !hasFlag(input, "tree")) {
    throw usageError("--all says what --tree shows. Give both, or leave it out.");
  }
}

function printSteps(input: CommandInput, steps: readonly TraceStep[]): void {
  for (const step of steps) {
    if (hasFlag(input, "jsonl")) {
      input.output.json(traceRecord(step));
    } else {
      input.output.line(stepText(step));
    }
  }
}

/** Reads the model steps of a run from its journal. */
export function traceSteps(run: string, entries: readonly Entry[]): TraceStep[] {
  const steps: TraceStep[] = [];
  const calls = new Map<string, TraceCall>();
  let requestedAt = 0;
  for (const { at, event } of entries) {
    if (event.type === "model.requested") {
      requestedAt = at;
    } else if (event.type === "model.replied") {
      steps.push(stepOf(run, steps.length + 1, at - requestedAt, event, calls));
    } else if (event.type === "call.decided") {
      decideCall(calls.get(event.callId), event.decision.verdict, event.decision.code);
    }
  }
  return steps;
}

function stepOf(
  run: string,
  step: number,
  modelMs: number,
  { output, usage }: Extract<RunEvent, { type: "model.replied" }>,
  calls: Map<string, TraceCall>,
): TraceStep {
  const requested = output.kind === "calls" ? output.calls : [];
  return {
    run,
    step,
    model_ms: modelMs,
    tokens: [usage.inputTokens, usage.outputTokens],
    ...(output.kind === "unreadable" && { error: "invalid_output" as const }),
    calls: requested.map(({ callId, tool, refusal }) => {
      const call: TraceCall = { tool, decision: refusal ? "deny" : null, code: refusal?.code ?? null };
      calls.set(callId, call);
      return call;
    }),
  };
}

function decideCall(call: TraceCall | undefined, verdict: VerdictKind, code: string): void {
  // A later look at the world does not change what was decided at this step.
  if (call !== undefined && call.decision === null) {
    call.decision = verdict === "ask" ? "needs_approval" : verdict === "allow" ? "allow" : "deny";
    call.code = code;
  }
}

/** The published record has room for one call; a turn with more of them names the rest in `more_calls`. */
function traceRecord({ calls, ...step }: TraceStep): Record<string, unknown> {
  const [first, ...more] = calls;
  return {
    ...step,
    tool: first?.tool ?? null,
    decision: first?.decision ?? null,
    code: first?.code ?? null,
    ...(more.length > 0 && { more_calls: more }),
  };
}

function stepText({ step, model_ms, tokens, error, calls }: TraceStep): string {
  const what = calls.map(({ tool, decision, code }) => `${tool} ${decision ?? "undecided"} ${code ?? ""}`.trim());
  return `${step}  ${model_ms} ms  ${tokens[0]}+${tokens[1]} tokens  ${what.join("; ") || (error ?? "answer")}`;
}
