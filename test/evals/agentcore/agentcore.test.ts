import { describe, expect, it } from "vitest";
import { createStockroomApp } from "../../../apps/stockroom/create-app.ts";
import { referenceSuite } from "../../../apps/stockroom/golden/index.ts";
import {
  agentCorePayload,
  type EvaluationJobInput,
  evaluationJobPayload,
  evaluationJobProblem,
  judgeDataset,
  pollQuery,
  type SubmitGates,
  submitAgentCoreEvaluation,
  submitEvaluationJob,
} from "../../../src/evals/agentcore/index.ts";
import { runSuite } from "../../../src/evals/index.ts";

const ROLE = "arn:aws:iam::123456789012:role/evaluations";
const input: EvaluationJobInput = {
  app: "stockroom",
  version: "1.0.0",
  roleArn: ROLE,
  dataset: { name: "golden", s3Uri: "s3://my-bucket/sets/golden.jsonl" },
  outputS3Uri: "s3://my-bucket/results/",
  judgeModel: "us.amazon.nova-pro-v1:0",
};
const payload = evaluationJobPayload(input);
const live: SubmitGates = { mode: "live", confirmed: true, env: { EVAL_ROLE_ARN: ROLE, AGENTCORE_SESSION_ID: "s-1" } };

describe("evaluationJobPayload", () => {
  it("asks for the four metrics of questions and answers, under a name without dots", () => {
    expect(payload).toEqual({
      jobName: "stockroom-1-0-0",
      roleArn: ROLE,
      applicationType: "ModelEvaluation",
      evaluationConfig: {
        automated: {
          datasetMetricConfigs: [
            {
              taskType: "QuestionAndAnswer",
              dataset: { name: "golden", datasetLocation: { s3Uri: "s3://my-bucket/sets/golden.jsonl" } },
              metricNames: [
                ...["Builtin.Correctness", "Builtin.Completeness", "Builtin.Faithfulness", "Builtin.Helpfulness"],
              ],
            },
          ],
          evaluatorModelConfig: { bedrockEvaluatorModels: [{ modelIdentifier: "us.amazon.nova-pro-v1:0" }] },
        },
      },
      inferenceConfig: { models: [{ precomputedInferenceSource: { inferenceSourceIdentifier: "stockroom" } }] },
      outputDataConfig: { s3Uri: "s3://my-bucket/results/" },
    });
  });

  it.each<[string, Partial<EvaluationJobInput>, string]>([
    ["a role that is none", { roleArn: "admin" }, "roleArn"],
    ["a bucket that is none", { outputS3Uri: "https://my-bucket/x" }, "outputDataConfig.s3Uri"],
    ["a set with a space in its name", { dataset: { ...input.dataset, name: "my set" } }, "dataset.name"],
    ["a name that is too long", { version: "1".repeat(64) }, "jobName"],
    ["a name that ends with a dash", { version: "1." }, "jobName"],
    ["no judge", { judgeModel: "" }, "modelIdentifier"],
  ])("refuses %s", (_, change, field) => {
    expect(() => evaluationJobPayload({ ...input, ...change })).toThrow(field);
    expect(() => evaluationJobPayload({ ...input, ...change })).toThrow(
      expect.objectContaining({ code: "BELAY_EVAL_CASE" }),
    );
  });

  it("finds what the service does not know", () => {
    const json = JSON.parse(JSON.stringify(payload)) as Record<string, never>;
    expect(evaluationJobProblem(json)).toBeUndefined();
    expect(evaluationJobProblem({ ...json, jobName: "stockroom-1.0.0" })).toContain("jobName");
    expect(evaluationJobProblem({ ...json, color: "red" })).toContain("color is not a field");
    expect(evaluationJobProblem(JSON.parse(JSON.stringify(payload).replace("Helpfulness", "Charm")))).toContain(
      "metricNames[3]",
    );
    expect(
      evaluationJobProblem(JSON.parse(JSON.stringify(payload).replace(/"metricNames":\[[^\]]*\]/, '"metricNames":[]'))),
    ).toContain("1 to 4 items");
  });
});

describe("judgeDataset", () => {
  it("has a line for each case with an answer and a reference", { timeout: 60_000 }, async () => {
    const { cases } = referenceSuite();
    const withReference = cases.filter(({ referenceAnswer }) => referenceAnswer !== undefined);
    const result = await runSuite(createStockroomApp(), "reference", { only: withReference.map(({ id }) => id) });
    const lines = judgeDataset("stockroom", cases, result.cases).trimEnd().split("\n");
    expect(lines).toHaveLength(withReference.length);
    expect(withReference.length).toBeGreaterThan(0);
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      prompt: "Do you stock any ear defenders?",
      referenceResponse: withReference[0]?.referenceAnswer,
      category: "product_search",
      modelResponses: [{ response: result.cases[0]?.answer, modelIdentifier: "stockroom" }],
    });
  });

  it("refuses an empty set", () => {
    expect(() => judgeDataset("stockroom", referenceSuite().cases, [])).toThrow("there are 0");
  });
});

describe("submitEvaluationJob", () => {
  it("sends only when all three gates are open", async () => {
    const sent: unknown[] = [];
    const send = async (each: unknown) => sent.push(each);
    const closed: readonly [SubmitGates, string][] = [
      [{ ...live, mode: "mock" }, "live mode"],
      [{ ...live, confirmed: false }, "confirmation"],
      [{ ...live, env: {} }, "EVAL_ROLE_ARN"],
      [{ ...live, env: { EVAL_ROLE_ARN: " " } }, "EVAL_ROLE_ARN"],
      [
        { mode: "mock", confirmed: false, env: {} },
        "live mode and a confirmation that money may be spent and the variable",
      ],
    ];
    for (const [gates, missing] of closed) {
      await expect(submitEvaluationJob(payload, gates, send)).rejects.toMatchObject({
        code: "BELAY_LIVE_NOT_CONFIRMED",
      });
      await expect(submitEvaluationJob(payload, gates, send)).rejects.toThrow(missing);
    }
    await expect(
      submitEvaluationJob(payload, { ...live, env: { EVAL_ROLE_ARN: `${ROLE}-2` } }, send),
    ).rejects.toMatchObject({ code: "BELAY_EVAL_CASE" });
    await expect(submitEvaluationJob({ ...payload, jobName: "1.0" }, live, send)).rejects.toThrow("jobName");
    expect(sent).toEqual([]);
    await submitEvaluationJob(payload, live, send);
    expect(sent).toEqual([payload]);
  });
});

describe("the AgentCore evaluation", () => {
  const evaluation = {
    evaluatorId: "Builtin.Helpfulness",
    evaluationInput: { sessionSpans: [{ traceId: "a".repeat(32) }] },
    evaluationTarget: { traceIds: ["a".repeat(32)] },
  };

  it("needs a session", async () => {
    const sent: unknown[] = [];
    const send = async (each: unknown) => sent.push(each);
    const { AGENTCORE_SESSION_ID: _, ...env } = live.env;
    await expect(submitAgentCoreEvaluation(evaluation, { ...live, env }, send)).rejects.toThrow("AGENTCORE_SESSION_ID");
    expect(sent).toEqual([]);
    await submitAgentCoreEvaluation(evaluation, live, send);
    expect(sent).toEqual([evaluation]);
  });

  it.each([
    ["an evaluator that is none", { ...evaluation, evaluatorId: "Helpfulness" }, "evaluatorId"],
    ["no span", { ...evaluation, evaluationInput: { sessionSpans: [] } }, "1 to 1000 items"],
    ["a trace id that is none", { ...evaluation, evaluationTarget: { traceIds: ["xyz"] } }, "traceIds[0]"],
    ["a span id that is none", { ...evaluation, evaluationTarget: { spanIds: ["xyz"] } }, "spanIds[0]"],
    ["traces and spans", { ...evaluation, evaluationTarget: { traceIds: ["a".repeat(32)], spanIds: [] } }, "spanIds"],
  ])("refuses %s", (_, wrong, message) => {
    expect(() => agentCorePayload(wrong)).toThrow(message);
  });
});

describe("pollQuery", () => {
  const clock = () => {
    let time = 0;
    const sleep = async (ms: number): Promise<void> => {
      time += ms;
    };
    return { now: () => time, sleep };
  };

  it.each(["Complete", "Failed", "Cancelled", "Timeout", "Unknown"])("stops at %s", async (last) => {
    const statuses = ["Scheduled", "Running", last, "Running"];
    let asked = 0;
    expect(await pollQuery(async () => statuses[asked++] ?? "", clock())).toBe(last);
    expect(asked).toBe(3);
  });

  it("takes a status that nobody knows for Unknown", async () => {
    expect(await pollQuery(async () => "Paused", clock())).toBe("Unknown");
  });

  it("gives up at the deadline, not later and not much earlier", async () => {
    const time = clock();
    let asked = 0;
    const end = await pollQuery(
      async () => {
        asked += 1;
        return "Running";
      },
      { ...time, deadlineMs: 2500, intervalMs: 1000 },
    );
    expect([end, asked, time.now()]).toEqual(["deadline", 4, 2500]);
  });
});
