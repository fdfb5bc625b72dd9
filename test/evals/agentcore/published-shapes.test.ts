import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import {
  ApplicationType,
  BedrockClient,
  CreateEvaluationJobCommand,
  CreateEvaluationJobRequest$,
  EvaluationTaskType,
} from "@aws-sdk/client-bedrock";
import { BedrockAgentCoreClient, EvaluateCommand, EvaluateRequest$ } from "@aws-sdk/client-bedrock-agentcore";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type AgentCorePayload,
  agentCorePayload,
  evaluationJobPayload,
  submitAgentCoreEvaluation,
  submitEvaluationJob,
} from "../../../src/evals/agentcore/index.ts";
import { AGENTCORE_EVALUATION, EVALUATION_JOB } from "../../../src/evals/agentcore/shapes.ts";
import { itemOf, memberOf, membersOf, problemsOf } from "./published-shape.ts";

const ROLE = "arn:aws:iam::123456789012:role/evaluations";
const job = evaluationJobPayload({
  ...{ app: "stockroom", version: "1.0.0", roleArn: ROLE, judgeModel: "us.amazon.nova-pro-v1:0" },
  dataset: { name: "golden", s3Uri: "s3://my-bucket/sets/golden.jsonl" },
  outputS3Uri: "s3://my-bucket/results/",
});
const evaluation = agentCorePayload({
  evaluatorId: "Builtin.Helpfulness",
  evaluationInput: { sessionSpans: [{ traceId: "a".repeat(32), name: "invoke_agent stockroom" }] },
  evaluationTarget: { traceIds: ["a".repeat(32)] },
});
const live = { mode: "live", confirmed: true, env: { EVAL_ROLE_ARN: ROLE, AGENTCORE_SESSION_ID: "s-1" } } as const;

/** Each place of a value that an object's member holds, such as `.evaluationConfig.automated`. */
function memberPaths(
  value: unknown,
  path: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([name, each]) => {
    const own = [...path, Array.isArray(value) ? Number(name) : name];
    return [...(Array.isArray(value) ? [] : [own]), ...memberPaths(each, own)];
  });
}

function without(value: unknown, path: readonly (string | number)[]): unknown {
  const copy = structuredClone(value);
  type Holder = Record<string | number, unknown>;
  const holder = path.slice(0, -1).reduce<Holder>((at, name) => at[name] as Holder, copy as Holder);
  delete holder[path.at(-1) ?? ""];
  return copy;
}

describe.each<[string, unknown, unknown]>([
  ["the evaluation job", CreateEvaluationJobRequest$, job],
  ["the AgentCore evaluation", EvaluateRequest$, evaluation],
])("%s against the published service model", (_, shape, payload) => {
  it("fits", () => {
    expect(problemsOf(shape, payload)).toEqual([]);
  });

  it("would not fit without what the service requires, nor with what it does not know", () => {
    const required = memberPaths(payload).filter((path) => problemsOf(shape, without(payload, path)).length > 0);
    expect(required.length).toBeGreaterThanOrEqual(membersOf(shape).required.length);
    for (const name of membersOf(shape).required) {
      expect(problemsOf(shape, without(payload, [name]))).toEqual([`.${name} is missing`]);
    }
    expect(problemsOf(shape, { ...(payload as object), color: "red" })).toEqual([".color is not known"]);
  });
});

describe("what Belay checks before it sends", () => {
  it.each([
    ["the evaluation job", EVALUATION_JOB.schema, CreateEvaluationJobRequest$],
    ["the AgentCore evaluation", AGENTCORE_EVALUATION.schema, EvaluateRequest$],
  ])("knows no member of %s that the service does not, and requires all that it does", (_, schema, shape) => {
    const seen: string[] = [];
    const compare = (own: Record<string, unknown>, published: unknown, path: string): void => {
      for (const branch of (own["anyOf"] as readonly Record<string, unknown>[] | undefined) ?? []) {
        compare(branch, published, path);
      }
      const properties = (own["properties"] as Record<string, Record<string, unknown>> | undefined) ?? {};
      const { names, required } = membersOf(published);
      for (const [name, each] of Object.entries(properties)) {
        expect(names, `${path}.${name}`).toContain(name);
        seen.push(`${path}.${name}`);
        compare(each, memberOf(published, name), `${path}.${name}`);
      }
      if (Object.keys(properties).length > 0 && required.length > 0) {
        expect(own["required"], path).toEqual(expect.arrayContaining([...required]));
      }
      if (own["items"] !== undefined) {
        expect(itemOf(published), path).toBeDefined();
        compare(own["items"] as Record<string, unknown>, itemOf(published), `${path}[]`);
      }
    };
    compare(schema as Record<string, unknown>, shape, "");
    expect(seen.length).toBeGreaterThan(3);
  });

  it("uses values that the service has", () => {
    expect(Object.values(EvaluationTaskType)).toContain("QuestionAndAnswer");
    expect(Object.values(ApplicationType)).toContain(job.applicationType);
  });
});

/** A server on this machine that answers everything, and what it was sent. */
async function loopback(answer: unknown) {
  const sent: { readonly method: string; readonly url: string; readonly body: unknown }[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const text = (await request.toArray()).join("");
    sent.push({ method: request.method ?? "", url: request.url ?? "", body: JSON.parse(text) });
    response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const config = {
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    credentials: { accessKeyId: "nobody", secretAccessKey: "nothing" },
    maxAttempts: 1,
  };
  return { sent, config };
}

describe("what the SDK makes of it", () => {
  it("is the whole evaluation job, on the wire", async () => {
    const { sent, config } = await loopback({ jobArn: "arn:aws:bedrock:us-east-1:123456789012:evaluation-job/abc" });
    const client = new BedrockClient(config);
    onTestFinished(() => client.destroy());
    const { jobArn } = await submitEvaluationJob(job, live, (payload) =>
      client.send(new CreateEvaluationJobCommand(structuredClone(payload) as never)),
    );
    expect(jobArn).toContain("evaluation-job/abc");
    const [request] = sent;
    expect([request?.method, request?.url]).toEqual(["POST", "/evaluation-jobs"]);
    const { clientRequestToken, ...body } = (request?.body ?? {}) as Record<string, unknown>;
    expect(body).toEqual(job);
    expect(clientRequestToken).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("is the whole AgentCore evaluation, with the evaluator in the path", async () => {
    const { sent, config } = await loopback({ evaluationResults: [] });
    const client = new BedrockAgentCoreClient(config);
    onTestFinished(() => client.destroy());
    await submitAgentCoreEvaluation(evaluation, live, (payload: AgentCorePayload) =>
      client.send(new EvaluateCommand(structuredClone(payload) as never)),
    );
    const { evaluatorId, ...body } = evaluation;
    expect(sent).toEqual([{ method: "POST", url: `/evaluations/evaluate/${evaluatorId}`, body }]);
  });

  it.each([
    ["mock mode", { ...live, mode: "mock" as const }],
    ["no confirmation", { ...live, confirmed: false }],
    ["no variable", { ...live, env: {} }],
  ])("is nothing at all with %s: any one gate keeps both shut", async (_, gates) => {
    const { sent, config } = await loopback({});
    const [bedrock, agentCore] = [new BedrockClient(config), new BedrockAgentCoreClient(config)];
    await expect(
      submitEvaluationJob(job, gates, (payload) => bedrock.send(new CreateEvaluationJobCommand(payload as never))),
    ).rejects.toMatchObject({ code: "BELAY_LIVE_NOT_CONFIRMED" });
    await expect(
      submitAgentCoreEvaluation(evaluation, gates, (payload) => agentCore.send(new EvaluateCommand(payload as never))),
    ).rejects.toMatchObject({ code: "BELAY_LIVE_NOT_CONFIRMED" });
    expect(sent).toEqual([]);
  });
});
