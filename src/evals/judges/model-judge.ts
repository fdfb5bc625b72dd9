import { wrapUntrusted } from "../../context/index.ts";
import { parseStrictJson } from "../../core/index.ts";
import type { ModelClient, ModelRequest } from "../../model/index.ts";
import type { Grade, GradedAnswer, Judge } from "./judge.ts";
import { type RubricVersion, rubricText } from "./rubric.ts";

const REPLY_TOKENS_MAX = 200;

/** A judge that asks a model. What it cannot read is `unreadable`: never a pass. Rejects when the model call fails. */
export function modelJudge(model: ModelClient, rubric: RubricVersion = "v3"): Judge {
  return {
    id: `${model.id}/${rubric}`,
    grade: async (answer, { signal }) => {
      const reply = await model.generate(requestOf(answer, rubric), { signal });
      return reply.kind === "final" ? readGrade(reply.text) : unreadable("the judge did not answer with text");
    },
  };
}

function requestOf(answer: GradedAnswer, rubric: RubricVersion): ModelRequest {
  return {
    system: rubricText(rubric),
    messages: [{ role: "user", text: partsOf(answer).join("\n") }],
    tools: [],
    replyTokensMax: REPLY_TOKENS_MAX,
    temperature: 0,
  };
}

function partsOf({ question, answer, facts, forbiddenFacts = [], beside, author }: GradedAnswer): readonly string[] {
  const graded = wrapUntrusted("answer to grade", author === undefined ? answer : `[written by ${author}] ${answer}`);
  const other = beside === undefined ? [] : [wrapUntrusted("another answer, not to grade", beside.answer)];
  return [
    wrapUntrusted("question", question),
    wrapUntrusted("facts", JSON.stringify(facts)),
    wrapUntrusted("forbidden facts", JSON.stringify(forbiddenFacts)),
    ...(beside?.position === "before" ? [...other, graded] : [graded, ...other]),
  ];
}

function readGrade(text: string): Grade {
  const parsed = parseStrictJson(text.trim());
  const value = parsed.ok ? parsed.value : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return unreadable("the judge's reply is not one JSON object");
  }
  const { pass, reason } = value as Readonly<Record<string, unknown>>;
  return typeof pass === "boolean"
    ? { verdict: pass ? "pass" : "fail", reason: typeof reason === "string" ? reason : "" }
    : unreadable('the judge\'s reply has no "pass"');
}

function unreadable(reason: string): Grade {
  return { verdict: "unreadable", reason };
}
