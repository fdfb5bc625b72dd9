import { hash } from "node:crypto";
import { systemClock } from "../clock.ts";
import { checkFilters, formatToolError } from "../context/index.ts";
import type { AgentStamp } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { newId } from "../ids.ts";
import { checkPrices, type ToolSpec } from "../model/index.ts";
import { checkRules, policyHash } from "../policy/index.ts";
import { createToolExecutor, type ToolContract, undoName } from "../tool/index.ts";
import type { Agent } from "./agent.ts";
import { CAPACITY } from "./capacity.ts";
import type { EngineContext } from "./context.ts";
import { buildControls, type Controls } from "./controls.ts";
import type { HarnessOptions } from "./harness.ts";
import { KIT } from "./kit.ts";
import { checkPoints } from "./points.ts";

const TTL_MS_MAX = 10 * 365 * 24 * 60 * 60 * 1000;
const LEASE_MS_DEFAULT = 15_000;
const MODEL_TIMEOUT_MS_DEFAULT = 120_000;

type Wiring = Pick<EngineContext, "waker" | "publish" | "follow">;

/** Makes an agent ready to run. Throws a BelayError for everything about it that could only fail later. */
export function buildContext(
  options: HarnessOptions,
  adjust: (controls: Controls) => Controls,
  wiring: Wiring,
): EngineContext {
  const { agent } = options;
  const inner = createToolExecutor(agent.tools, {
    onError: (tool, cause) =>
      options.onAlarm?.({ code: "TOOL_FAILED", run: { tenant: "", runId: "" }, detail: `tool ${tool} threw`, cause }),
  });
  const executor = agent.executor?.(inner) ?? inner;
  const contracts = new Map(executor.listTools().map((contract) => [contract.name, contract]));
  const controls = adjust(buildControls(agent, [...contracts.values()]));
  checkRules(agent.rules, ruledNames(contracts));
  checkFilters(controls.filters);
  checkAgent(agent, contracts);
  checkPoints(agent, contracts);
  checkLimits(controls);
  checkNumbers(options);
  if (options.prices !== undefined) checkPrices(options.prices);
  const clock = options.clock ?? systemClock;
  const stamp: AgentStamp = {
    name: agent.name,
    revision: agent.revision,
    policyHash: policyHash(controls.rules),
    toolsHash: toolsHash(contracts),
  };
  const toolSpecs: readonly ToolSpec[] = [...contracts.values()].map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  return {
    ...wiring,
    kit: KIT,
    agent,
    stamp,
    controls,
    executor,
    contracts,
    toolSpecs,
    model: options.model,
    store: options.store,
    clock,
    prices: options.prices ?? {},
    budgets: options.budgets ?? {},
    // Two workers of one name would share their leases, and a lease is what keeps them apart.
    worker: `${options.worker ?? "worker"}-${newId("wrk", clock.now())}`,
    leaseMs: options.leaseMs ?? LEASE_MS_DEFAULT,
    runsMax: options.runsMax ?? CAPACITY.runsMax,
    queueMax: options.queueMax ?? CAPACITY.queueMax,
    modelTimeoutMs: options.modelTimeoutMs ?? MODEL_TIMEOUT_MS_DEFAULT,
    allowOtherModel: options.allowOtherModel === true,
    modelRetry: options.modelRetry,
    mayDecide: options.mayDecide,
    onDelta: options.onDelta,
    render: {
      formatToolError: agent.formatToolError ?? formatToolError,
      untrustedTools: controls.guards.has("untrusted_wrapper") ? untrustedTools(contracts) : new Set(),
      modelId: options.model.id,
    },
    newId: options.newId ?? ((prefix) => newId(prefix, clock.now())),
    alarm: (alarm) => {
      try {
        options.onAlarm?.(alarm);
      } catch {
        // A hook that fails must not lose the outcome that it was told of.
      }
    },
  };
}

/** What rules may speak about: each tool, and the taking back of what it did. */
function ruledNames(contracts: ReadonlyMap<string, ToolContract>): readonly string[] {
  return [...contracts.values()].flatMap(({ name, compensable }) => (compensable ? [name, undoName(name)] : [name]));
}

function untrustedTools(contracts: ReadonlyMap<string, ToolContract>): ReadonlySet<string> {
  return new Set([...contracts.values()].filter((contract) => contract.untrusted).map((contract) => contract.name));
}

function checkAgent(agent: Agent, contracts: ReadonlyMap<string, ToolContract>): void {
  for (const contract of contracts.values()) {
    if (contract.inTransaction && agent.transaction === undefined) {
      throw new BelayError(
        "BELAY_AGENT_INVALID",
        `tool ${contract.name} runs in a transaction and the agent ${agent.name} has none; give it 'transaction'`,
      );
    }
  }
  if (!/^[\w.-]{1,64}$/.test(agent.name) || agent.revision === "") {
    throw new BelayError(
      "BELAY_AGENT_INVALID",
      `agent '${agent.name}' needs a name of A-Z a-z 0-9 _ . - and a revision`,
    );
  }
}

function checkLimits({ limits }: Controls): void {
  const { identicalCalls, cycles, ...numbers } = limits;
  const all: Record<string, number | undefined> = {
    ...numbers,
    "identicalCalls.max": identicalCalls?.max,
    "cycles.lengthMax": cycles?.lengthMax,
    "cycles.repeats": cycles?.repeats,
  };
  for (const [name, value] of Object.entries(all)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    // A cap of zero dollars is a legal way to forbid every model call, and so is zero invalid calls.
    if (value === 0 && (name === "costNanoUsdMax" || name === "invalidCallsMax")) continue;
    throw new BelayError("BELAY_LIMIT_INVALID", `limit ${name} is ${value}; it must be a whole number of at least 1`);
  }
  const { tokensMax, replyTokensMax } = limits;
  if (tokensMax !== undefined && tokensMax <= replyTokensMax) {
    throw new BelayError(
      "BELAY_LIMIT_INVALID",
      `tokensMax ${tokensMax} must be larger than replyTokensMax ${replyTokensMax}, or no model call would ever fit`,
    );
  }
}

/** Numbers that would otherwise fail in the middle of a run. */
function checkNumbers({ agent, budgets = {}, runsMax, queueMax }: HarnessOptions): void {
  for (const [name, value] of Object.entries({ runsMax, queueMax })) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new BelayError("BELAY_LIMIT_INVALID", `${name} is ${value}; it must be a whole number of at least 1`);
  }
  const ttlMs = agent.approval?.ttlMs;
  if (ttlMs !== undefined && !(Number.isSafeInteger(ttlMs) && ttlMs >= 1 && ttlMs <= TTL_MS_MAX)) {
    throw new BelayError(
      "BELAY_LIMIT_INVALID",
      `approval.ttlMs is ${ttlMs}; it must be whole milliseconds, at most ten years`,
    );
  }
  for (const [name, limit] of Object.entries(budgets)) {
    if (Number.isSafeInteger(limit) && limit >= 0) continue;
    throw new BelayError(
      "BELAY_LIMIT_INVALID",
      `budget ${name} is ${limit}; it must be a whole number of nano-dollars`,
    );
  }
}

function toolsHash(contracts: ReadonlyMap<string, ToolContract>): string {
  const lines = [...contracts.keys()].sort().map((name) => `${contracts.get(name)?.contractHash}\n`);
  return hash("sha256", lines.join("")).slice(0, 16);
}
