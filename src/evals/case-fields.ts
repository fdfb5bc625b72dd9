import type { JsonValue } from "../core/index.ts";
import {
  amount,
  anyJson,
  anyOf,
  count,
  type Field,
  filledText,
  flag,
  listOf,
  mapOf,
  object,
  oneOf,
  record,
  text,
  wholeFrom,
} from "./field-check.ts";

const LIMITS = record(
  {},
  {
    stepsMax: count,
    tokensMax: count,
    replyTokensMax: count,
    costUsdMax: amount,
    wallClockMs: count,
    identicalCalls: anyOf(record({ max: count, scope: oneOf("consecutive", "run") }), oneOf("off")),
    cycles: anyOf(record({ lengthMax: count, repeats: count }), oneOf("off")),
    invalidCallsMax: anyOf(count, oneOf("off")),
    unreadableRepliesMax: count,
    callsPerTurnMax: count,
  },
);

const EXPECTATION = record(
  {},
  {
    stop: filledText,
    paused: flag,
    endState: object,
    codes: listOf(filledText),
    executed: listOf(filledText),
    modelCalls: count,
    modelCallsMax: count,
    costUsdMax: amount,
    seen: listOf(filledText),
    notSeen: listOf(filledText),
  },
);

const EXPECTED_TOOL = record({ name: filledText }, { args: object, compare: mapOf(oneOf("exact", "set", "ignore")) });
const MOCK_CALL = record({ tool: filledText, args: anyJson });
const MOCK_TURN = anyOf(MOCK_CALL, record({ final: text }));
const SCRIPT = listOf(anyOf(text, listOf(MOCK_CALL)));

/** The fields of a case. Both the check of a line and the JSON Schema come from this one table. */
export const CASE_FIELDS: Field = record(
  { id: filledText, class: filledText, message: text, expect: EXPECTATION },
  {
    script: SCRIPT,
    mockScript: listOf(MOCK_TURN),
    expectedTools: listOf(EXPECTED_TOOL),
    trajectoryMatchMode: oneOf("exact", "in_order_subset", "any_order"),
    expectedFacts: listOf(filledText),
    forbiddenFacts: listOf(filledText),
    expectedTermination: filledText,
    mustNotCall: listOf(filledText),
    referenceAnswer: text,
    retrieval: listOf(filledText),
    principal: filledText,
    before: listOf(record({ message: text, script: SCRIPT })),
    approvals: listOf(oneOf("approve", "reject", "expire", "approve_twice", "reject_then_approve", "ignore", "cancel")),
    faults: listOf(record({ when: oneOf("start", "pause", "effect"), kind: filledText }, {}, anyJson)),
    forbidden: listOf(anyJson),
    limits: LIMITS,
    limitFromNeed: record({ limit: oneOf("tokensMax", "costUsdMax"), add: wholeFrom(-1000, 1000) }),
    offeredTools: listOf(filledText),
    probe: filledText,
    tags: listOf(filledText),
    notes: text,
  },
);

/**
 * The case format as JSON Schema, draft 2020-12. Two things it cannot say: an id occurs once in a file, and a case
 * without `script` and `mockScript` needs `expectedTools`.
 */
export function evalCaseSchema(): JsonValue {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Belay evaluation case",
    description: "One line of a JSONL file of cases. Made from the field table in src/evals/case-fields.ts.",
    ...CASE_FIELDS.schema,
  };
}
