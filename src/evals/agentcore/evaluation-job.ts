import type { JsonValue } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import type { CaseResult } from "../case-result.ts";
import type { EvalCase } from "../suite.ts";
import { EVALUATION_JOB } from "./shapes.ts";

export const JUDGE_METRICS = [
  "Builtin.Correctness",
  "Builtin.Completeness",
  "Builtin.Faithfulness",
  "Builtin.Helpfulness",
] as const;

/** A `CreateEvaluationJob` request of Amazon Bedrock, with a model as judge of answers that are there already. */
export interface EvaluationJobPayload {
  readonly jobName: string;
  readonly roleArn: string;
  readonly applicationType: "ModelEvaluation";
  readonly evaluationConfig: {
    readonly automated: {
      readonly datasetMetricConfigs: readonly {
        readonly taskType: "QuestionAndAnswer";
        readonly dataset: { readonly name: string; readonly datasetLocation: { readonly s3Uri: string } };
        readonly metricNames: readonly (typeof JUDGE_METRICS)[number][];
      }[];
      readonly evaluatorModelConfig: {
        readonly bedrockEvaluatorModels: readonly { readonly modelIdentifier: string }[];
      };
    };
  };
  readonly inferenceConfig: {
    readonly models: readonly { readonly precomputedInferenceSource: { readonly inferenceSourceIdentifier: string } }[];
  };
  readonly outputDataConfig: { readonly s3Uri: string };
}

export interface EvaluationJobInput {
  readonly app: string;
  /** Such as `1.0.0`; the name of a job has no dots, so it becomes `1-0-0`. */
  readonly version: string;
  readonly roleArn: string;
  /** Name of the set of prompts, and where the file of `judgeDataset` was put. */
  readonly dataset: { readonly name: string; readonly s3Uri: string };
  readonly outputS3Uri: string;
  readonly judgeModel: string;
}

/** Most prompts that one job takes. */
const PROMPTS_MAX = 1000;

/** Builds the request of a job. Throws `BELAY_EVAL_CASE` for one that the service would refuse, with the field. */
export function evaluationJobPayload(input: EvaluationJobInput): EvaluationJobPayload {
  const { app, version, roleArn, dataset, outputS3Uri, judgeModel } = input;
  const payload: EvaluationJobPayload = {
    jobName: `${app}-${version}`.toLowerCase().replace(/[^a-z0-9-]/g, "-"),
    roleArn,
    applicationType: "ModelEvaluation",
    evaluationConfig: {
      automated: {
        datasetMetricConfigs: [
          {
            taskType: "QuestionAndAnswer",
            dataset: { name: dataset.name, datasetLocation: { s3Uri: dataset.s3Uri } },
            metricNames: JUDGE_METRICS,
          },
        ],
        evaluatorModelConfig: { bedrockEvaluatorModels: [{ modelIdentifier: judgeModel }] },
      },
    },
    inferenceConfig: { models: [{ precomputedInferenceSource: { inferenceSourceIdentifier: app } }] },
    outputDataConfig: { s3Uri: outputS3Uri },
  };
  const problem = evaluationJobProblem(payload as unknown as JsonValue);
  if (problem !== undefined) {
    throw new BelayError("BELAY_EVAL_CASE", `the evaluation job cannot be submitted: ${problem}`);
  }
  return payload;
}

/** The first thing that the service would refuse in a request, or nothing. */
export function evaluationJobProblem(payload: JsonValue): string | undefined {
  const problem = EVALUATION_JOB.check(payload, "");
  return problem === undefined ? undefined : `${problem.path || "it"} ${problem.problem}`;
}

/**
 * The prompts of a job as JSONL: each case's message, the answer that the app gave and the reference answer.
 *
 * Cases without an answer or a reference have nothing to be judged by and are left out. Throws `BELAY_EVAL_CASE` for
 * more than 1,000 prompts, and for none.
 */
export function judgeDataset(app: string, cases: readonly EvalCase[], results: readonly CaseResult[]): string {
  const answers = new Map(results.flatMap(({ id, answer }) => (answer === undefined ? [] : [[id, answer] as const])));
  const lines = cases.flatMap((evalCase) => {
    const { id, message, class: category, referenceAnswer } = evalCase;
    const response = answers.get(id);
    return response === undefined || referenceAnswer === undefined
      ? []
      : [
          JSON.stringify({
            prompt: message,
            referenceResponse: referenceAnswer,
            category,
            modelResponses: [{ response, modelIdentifier: app }],
          }),
        ];
  });
  if (lines.length === 0 || lines.length > PROMPTS_MAX) {
    throw new BelayError("BELAY_EVAL_CASE", `a job takes 1 to ${PROMPTS_MAX} prompts, and there are ${lines.length}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}
