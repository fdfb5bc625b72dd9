import type { JsonValue } from "../core/index.ts";
import { attributeNames, BELAY } from "./attributes.ts";
import type { SpanRecord } from "./span.ts";

export interface TreeOptions {
  /** Also the decisions of the policy that let a call through. Default false: they are the rule, not the news. */
  readonly withAllowed?: boolean;
}

const INDENT = "  ";

/**
 * Draws spans as an indented tree, one line each, in the order of the journal.
 *
 * Spans whose parent is not among them stand at the left, so that a part of a trace can be drawn too. Arguments are
 * shown where they were captured.
 */
export function treeLines(spans: readonly SpanRecord[], options: TreeOptions = {}): readonly string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const shown = spans.filter((span) => options.withAllowed === true || !isAllowed(span));
  const ordered = shown.toSorted((left, right) => left.openedSeq - right.openedSeq);
  const childrenOf = (parent: SpanRecord | undefined): readonly SpanRecord[] =>
    ordered.filter(({ parentSpanId }) =>
      parent === undefined ? parentSpanId === undefined || !known.has(parentSpanId) : parentSpanId === parent.spanId,
    );
  const draw = (span: SpanRecord, depth: number): readonly string[] => [
    `${INDENT.repeat(depth)}${spanLine(span)}`,
    ...childrenOf(span).flatMap((child) => draw(child, depth + 1)),
  ];
  return childrenOf(undefined).flatMap((span) => draw(span, 0));
}

function isAllowed({ attributes }: SpanRecord): boolean {
  return attributes[BELAY.verdict] === "allow";
}

function spanLine(span: SpanRecord): string {
  const { name, attributes, semconv } = span;
  const names = attributeNames(semconv);
  const facts: string[] = [name];
  const add = (fact: string, value: unknown): void => {
    if (value !== undefined) {
      facts.push(`${fact}=${String(value)}`);
    }
  };
  const role = attributes[BELAY.spanKind];
  if (role === "LLM") {
    add("in", attributes[names.inputTokens]);
    add("out", attributes[names.outputTokens]);
  } else if (role === "TOOL") {
    add("args", spacedText(attributes[names.toolArguments]));
    facts.push(`error=${span.status === "error" ? "True" : "False"}`);
  } else {
    add("tool", attributes[names.toolName]);
    add("verdict", attributes[BELAY.verdict]);
    add("code", attributes[BELAY.code]);
    add("rule", attributes[BELAY.ruleId]);
    add("answer", attributes[BELAY.answer]);
    add("outcome", attributes[BELAY.outcome]);
    add("termination", attributes[BELAY.termination] === "completed" ? undefined : attributes[BELAY.termination]);
  }
  if (name === "belay.approval") {
    add("waited_ms", span.endMs - span.startMs);
  }
  if (role === "LLM" || role === "TOOL") {
    add("error.type", attributes[names.errorType]);
  }
  return span.closedSeq === undefined ? `${facts.join(" ")} (open)` : facts.join(" ");
}

/** JSON with a space after each comma and colon, as the published trees have it; text that was cut stays as it is. */
function spacedText(text: unknown): string | undefined {
  if (typeof text !== "string") {
    return undefined;
  }
  try {
    return spaced(JSON.parse(text) as JsonValue);
  } catch {
    return text;
  }
}

function spaced(value: JsonValue): string {
  if (Array.isArray(value)) {
    return `[${value.map(spaced).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${spaced(item)}`);
    return `{${fields.join(", ")}}`;
  }
  return JSON.stringify(value);
}
