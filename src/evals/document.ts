import { createHash } from "node:crypto";
import type { AnyApp } from "../config.ts";
import { canonicalize, type JsonValue } from "../core/index.ts";
import type { Agent } from "../engine/index.ts";
import { createToolExecutor } from "../tool/index.ts";
import type { MetricValues } from "./app-evals.ts";
import { type CaseResult, codesMatch } from "./case-result.ts";
import { datasetHash } from "./dataset.ts";
import { type JudgedSuite, judgedShare } from "./judges/index.ts";
import { metricValues } from "./metric-values.ts";
import type { RedTeamResult } from "./red-team/index.ts";
import type { SuiteResult } from "./run-suite.ts";
import type { EvalSuite } from "./suite.ts";

export const DOCUMENT_SCHEMA = "belay.evals/1";

/** One time that a case ran. */
export interface CaseOutcome {
  readonly passed: boolean;
  /** Also the decision codes, for a case that expects some. */
  readonly holds: boolean;
  readonly reasons: readonly string[];
  readonly stop: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly modelCalls: number;
  /** `null`: the price was unknown. */
  readonly costNanoUsd: number | null;
}

export interface DocumentCase {
  readonly suite: string;
  readonly id: string;
  readonly class: string;
  readonly repeats: readonly CaseOutcome[];
}

/** One case of the red team. */
export interface DocumentAttack {
  readonly id: string;
  readonly class: string;
  readonly passed: boolean;
  readonly reasons: readonly string[];
}

/** What was evaluated and how: two documents that differ in any of this are not comparable. */
export interface DocumentSubject {
  readonly app: string;
  /** `deterministic`: scripts and an offline model. `live`: a model of a provider. */
  readonly mode: "deterministic" | "live";
  readonly agentModel: string;
  readonly judge: string | null;
  /** Where the tools ran: `local` for this process, or the boundary, such as `mcp-http`. */
  readonly transport: string;
  readonly repeats: number;
  /** SHA-256 of each suite's cases, by suite. */
  readonly datasets: Readonly<Record<string, string>>;
  readonly policyHash: string;
  readonly promptHash: string;
  readonly toolSpecHash: string;
  readonly priceTableHash: string;
}

/** The result of an evaluation as one JSON document. */
export interface EvalDocument {
  readonly schema: typeof DOCUMENT_SCHEMA;
  readonly subject: DocumentSubject;
  readonly weaknesses: readonly string[];
  /** Controls that were left out. */
  readonly without: readonly string[];
  /** By suite. */
  readonly metrics: Readonly<Record<string, MetricValues>>;
  /** By suite and class. */
  readonly classes: Readonly<Record<string, Readonly<Record<string, MetricValues>>>>;
  readonly cases: readonly DocumentCase[];
  /** Attacks and ordinary cases of the red team; absent when it did not run. */
  readonly redTeam?: readonly DocumentAttack[];
  readonly madeWith: { readonly node: string; readonly belay: string };
  /** ISO 8601, in UTC. */
  readonly date: string;
}

export interface DocumentInput {
  readonly app: AnyApp;
  readonly suites: readonly EvalSuite[];
  /** One list for each repeat, each with one result for each suite. */
  readonly repeats: readonly (readonly SuiteResult[])[];
  readonly mode?: DocumentSubject["mode"];
  /** What one judge said of suites; absent: nobody judged. */
  readonly judged?: readonly JudgedSuite[];
  readonly redTeam?: RedTeamResult;
  readonly transport?: string;
  readonly belayVersion: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Puts the results of an evaluation into one document. */
export function createDocument(input: DocumentInput): EvalDocument {
  const { app, suites, repeats, redTeam } = input;
  const results = repeats.flat();
  return {
    schema: DOCUMENT_SCHEMA,
    subject: subjectOf(input),
    weaknesses: app.evals?.weaknesses ?? [],
    without: [...new Set(results.flatMap(({ without }) => without))],
    metrics: Object.fromEntries(
      suites.map(({ name }) => [name, { ...metricValues(casesOf(results, name)), ...judgedValues(input, name) }]),
    ),
    classes: Object.fromEntries(
      suites.map(({ name }) => [
        name,
        Object.fromEntries(
          [...Map.groupBy(casesOf(results, name), (result) => result.class)].map(([each, group]) => [
            each,
            metricValues(group),
          ]),
        ),
      ]),
    ),
    cases: suites.flatMap(({ name, cases }) =>
      cases.map((evalCase) => ({
        suite: name,
        id: evalCase.id,
        class: evalCase.class,
        repeats: casesOf(results, name)
          .filter(({ id }) => id === evalCase.id)
          .map(outcomeOf),
      })),
    ),
    ...(redTeam !== undefined && { redTeam: attacksOf(redTeam) }),
    madeWith: { node: process.version, belay: input.belayVersion },
    date: new Date(input.at).toISOString(),
  };
}

function judgedValues({ judged = [] }: DocumentInput, name: string): MetricValues {
  return Object.fromEntries(
    judged.filter(({ suite }) => suite === name).map((each) => ["judged_pass_rate", judgedShare(each)]),
  );
}

function attacksOf({ attacks, slice }: RedTeamResult): readonly DocumentAttack[] {
  return [...attacks, ...slice].map(({ id, class: name, passed, reasons }) => ({ id, class: name, passed, reasons }));
}

/** Whether a case did all that it expects, its decision codes included, leaked nothing, and left a log that verifies. */
export function caseHolds(result: CaseResult): boolean {
  return result.passed && result.auditIntact && result.leaks === undefined && codesMatch(result) !== false;
}

function casesOf(results: readonly SuiteResult[], name: string): readonly CaseResult[] {
  return results.filter(({ suite }) => suite === name).flatMap(({ cases }) => cases);
}

function outcomeOf(result: CaseResult): CaseOutcome {
  return {
    passed: result.passed,
    holds: caseHolds(result),
    reasons: [...result.reasons, ...(result.leaks ?? [])],
    stop: result.stop,
    inputTokens: result.usage.inputTokens,
    outputTokens: result.usage.outputTokens,
    modelCalls: result.modelSteps,
    costNanoUsd: result.costNanoUsd ?? null,
  };
}

function subjectOf({ app, suites, repeats, mode, judged, transport }: DocumentInput): DocumentSubject {
  const world = app.openWorld(":memory:");
  try {
    const agent: Agent = app.agent(world as never, Date.now);
    const inner = createToolExecutor(agent.tools);
    const tools = (agent.executor?.(inner) ?? inner).listTools();
    return {
      app: app.name,
      mode: mode ?? "deterministic",
      agentModel: app.offlineModel(world as never).id,
      judge: judged?.[0]?.judge ?? null,
      transport: transport ?? "local",
      repeats: repeats.length,
      datasets: Object.fromEntries(suites.map((suite) => [suite.name, datasetHash(suite)])),
      policyHash: policyOf(agent),
      promptHash: hashOf(agent.instructions),
      toolSpecHash: hashOf(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))),
      priceTableHash: hashOf((app.prices ?? {}) as unknown as JsonValue),
    };
  } finally {
    world.close();
  }
}

/**
 * The rules by id and tool, and the agent's revision. Not their source text, which an approval pins: it is another one
 * in compiled files than in the sources, and a baseline must hold for both.
 */
function policyOf({ revision, rules }: Agent): string {
  return hashOf([revision, ...rules.map(({ id, tools }) => ({ id, tools: tools === undefined ? null : [...tools] }))]);
}

function hashOf(value: JsonValue): string {
  const canonical = canonicalize(value);
  return createHash("sha256")
    .update(canonical.ok ? canonical.text : JSON.stringify(value))
    .digest("hex");
}
