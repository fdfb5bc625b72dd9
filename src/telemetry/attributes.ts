/**
 * Every attribute name that Belay writes, in one place.
 *
 * Standard names are those of the OpenTelemetry semantic conventions for generative AI and of OpenInference; what
 * neither has is ours and begins with `belay.`.
 */
export interface AttributeNames {
  readonly operation: string;
  readonly provider: string;
  readonly agentName: string;
  readonly agentVersion: string;
  readonly conversationId: string;
  readonly requestModel: string;
  readonly requestTokensMax: string;
  readonly finishReasons: string;
  readonly inputTokens: string;
  readonly outputTokens: string;
  readonly toolName: string;
  readonly toolType: string;
  readonly toolCallId: string;
  readonly errorType: string;
  /** Content, written only when it is captured. */
  readonly toolArguments: string;
  readonly toolResult: string;
  readonly inputMessages: string;
  readonly outputMessages: string;
}

/**
 * Versions of the conventions that a receiver may expect.
 *
 * `1.41` is the last one of the main repository; the GenAI repository that follows it kept these names. `1.36` is the
 * version that OpenTelemetry's transition plan lets older receivers stay on.
 */
export const SEMCONV_VERSIONS = ["1.41", "1.36"] as const;

export type SemconvVersion = (typeof SEMCONV_VERSIONS)[number];

export const SEMCONV_VERSION_DEFAULT: SemconvVersion = "1.41";

const CURRENT: AttributeNames = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agentName: "gen_ai.agent.name",
  agentVersion: "gen_ai.agent.version",
  conversationId: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  requestTokensMax: "gen_ai.request.max_tokens",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  errorType: "error.type",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
};

const NAMES: Readonly<Record<SemconvVersion, AttributeNames>> = {
  "1.41": CURRENT,
  "1.36": {
    ...CURRENT,
    provider: "gen_ai.system",
    // Content was not part of spans then, and the agent had no version.
    agentVersion: "belay.agent.revision",
    toolArguments: "belay.tool.arguments",
    toolResult: "belay.tool.result",
    inputMessages: "belay.input.messages",
    outputMessages: "belay.output.messages",
  },
};

/** The names of one version of the conventions. */
export function attributeNames(version: SemconvVersion): AttributeNames {
  return NAMES[version];
}

/** Schema that the names of a version belong to. */
export function schemaUrlOf(version: SemconvVersion): string {
  return `https://opentelemetry.io/schemas/${version}.0`;
}

/** Our own names, the same in every version; `spanKind` is OpenInference's. */
export const BELAY = {
  spanKind: "openinference.span.kind",
  runId: "belay.run.id",
  tenant: "belay.tenant",
  principalKind: "belay.principal.kind",
  principalId: "belay.principal.id",
  termination: "belay.run.termination",
  steps: "belay.run.steps",
  purpose: "belay.chat.purpose",
  usageEstimated: "belay.usage.estimated",
  costNanoUsd: "belay.cost.nano_usd",
  callIndex: "belay.call.index",
  callStep: "belay.call.step",
  disposition: "belay.call.disposition",
  outcome: "belay.call.outcome",
  attempts: "belay.call.attempts",
  recovery: "belay.call.recovery",
  blockedBy: "belay.call.blocked_by",
  untrusted: "belay.call.untrusted",
  filterNotes: "belay.call.filter_notes",
  notes: "belay.call.notes",
  differs: "belay.call.differs",
  verdict: "belay.decision.verdict",
  code: "belay.decision.code",
  ruleId: "belay.decision.rule",
  reason: "belay.decision.reason",
  recheck: "belay.decision.recheck",
  approvalId: "belay.approval.id",
  answer: "belay.approval.answer",
  answeredBy: "belay.approval.answered_by",
  tokensBefore: "belay.compaction.tokens_before",
  tokensAfter: "belay.compaction.tokens_after",
  results: "belay.compaction.results",
  limit: "belay.limit",
  worker: "belay.segment.worker",
  fence: "belay.segment.fence",
} as const;
