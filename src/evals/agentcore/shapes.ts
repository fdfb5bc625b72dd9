import type { JsonValue } from "../../core/index.ts";
import { anyJson, type Field, listOf, oneOf, record } from "../field-check.ts";

/**
 * Request shapes of two services as their published service models have them (Amazon Bedrock 2023-04-20,
 * `CreateEvaluationJob`; Amazon Bedrock AgentCore 2024-02-28, `Evaluate`), as far as Belay sends them.
 */
function pattern(name: string, source: string, most: number): Field {
  const whole = new RegExp(`^(?:${source})$`);
  return {
    check: (value: JsonValue, path: string) =>
      typeof value === "string" && value.length >= 1 && value.length <= most && whole.test(value)
        ? undefined
        : { path, problem: `must be ${name} (${source}, at most ${most} characters), not ${shown(value)}` },
    schema: { type: "string", pattern: whole.source, minLength: 1, maxLength: most },
  };
}

function atMost(least: number, most: number, item: Field): Field {
  const list = listOf(item);
  return {
    check: (value, path) =>
      Array.isArray(value) && (value.length < least || value.length > most)
        ? { path, problem: `must have ${least} to ${most} items, not ${value.length}` }
        : list.check(value, path),
    schema: { ...list.schema, minItems: least, maxItems: most },
  };
}

function shown(value: JsonValue): string {
  return JSON.stringify(value).slice(0, 80);
}

const JOB_NAME = pattern("a job name", "[a-z0-9](-*[a-z0-9]){0,62}", 63);
const ROLE_ARN = pattern("the ARN of a role", "arn:aws(-[^:]+)?:iam::([0-9]{12})?:role/.+", 2048);
const S3_URI = pattern(
  "an S3 URI",
  "s3://[a-z0-9][-.a-z0-9]{1,61}(?:/[-!_*'().a-z0-9A-Z]+(?:/[-!_*'().a-z0-9A-Z]+)*)?/?",
  1024,
);
const NAME = pattern("a name", "[0-9a-zA-Z-_.]+", 63);
const SOURCE = pattern("the name of a source", ".+", 256);
const MODEL = pattern("the id or ARN of a model", "(?:arn:aws(-[^:]+)?:bedrock:)?[a-zA-Z0-9.:/-]+", 2048);
const TOKEN = pattern("a token", "[a-zA-Z0-9]([-a-zA-Z0-9]{0,254}[a-zA-Z0-9])?", 256);

const DATASET = record({ name: NAME, datasetLocation: record({ s3Uri: S3_URI }) });
const METRICS = oneOf("Builtin.Correctness", "Builtin.Completeness", "Builtin.Faithfulness", "Builtin.Helpfulness");

export const EVALUATION_JOB: Field = record(
  {
    jobName: JOB_NAME,
    roleArn: ROLE_ARN,
    evaluationConfig: record({
      automated: record({
        datasetMetricConfigs: atMost(
          1,
          5,
          record({ taskType: oneOf("QuestionAndAnswer"), dataset: DATASET, metricNames: atMost(1, 4, METRICS) }),
        ),
        evaluatorModelConfig: record({ bedrockEvaluatorModels: atMost(1, 1, record({ modelIdentifier: MODEL })) }),
      }),
    }),
    inferenceConfig: record({
      models: atMost(1, 1, record({ precomputedInferenceSource: record({ inferenceSourceIdentifier: SOURCE }) })),
    }),
    outputDataConfig: record({ s3Uri: S3_URI }),
  },
  { clientRequestToken: TOKEN, applicationType: oneOf("ModelEvaluation") },
);

const TRACE_ID = pattern("a trace id", "[0-9a-f]{32}", 32);
const SPAN_ID = pattern("a span id", "[0-9a-f]{16}", 16);

export const AGENTCORE_EVALUATION: Field = record(
  {
    evaluatorId: pattern("an evaluator", "Builtin\\.[a-zA-Z0-9_-]+|[a-zA-Z][a-zA-Z0-9_-]{0,99}-[a-zA-Z0-9]{10}", 2048),
    evaluationInput: record({ sessionSpans: atMost(1, 1000, anyJson) }),
  },
  { evaluationTarget: oneTarget() },
);

/** A union: traces or spans, never both. */
function oneTarget(): Field {
  const traces = record({ traceIds: atMost(1, 10, TRACE_ID) });
  const spans = record({ spanIds: atMost(1, 10, SPAN_ID) });
  return {
    check: (value, path) => {
      const isSpans = typeof value === "object" && value !== null && "spanIds" in value && !("traceIds" in value);
      return (isSpans ? spans : traces).check(value, path);
    },
    schema: { anyOf: [traces.schema, spans.schema] },
  };
}
