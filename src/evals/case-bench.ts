import type { AnyApp, World } from "../config.ts";
import type { Entry } from "../core/index.ts";
import { createAblatedHarness } from "../engine/ablation.ts";
import { type Agent, createHarness, type Harness, type HarnessOptions, type RunResult } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import { createMemoryStore, type RunKey } from "../journal/index.ts";
import { withFaults } from "./agent-faults.ts";
import type { CaseClock } from "./case-clock.ts";
import { type CaseModel, createCaseModel } from "./case-model.ts";
import type { PersonSetup } from "./person-acts.ts";
import { faultyStore, ProcessDied } from "./store-faults.ts";
import type { EvalCase, EvalSuite, Fault } from "./suite.ts";

/** An agent whose tools run behind a boundary. */
export interface ThroughBoundary extends AsyncDisposable {
  readonly agent: Agent;
  /** The tools work on data that the case's own world does not show, so nothing is told from that. Default false. */
  readonly isWorldElsewhere?: boolean;
}

/** Puts the tools of one case's agent behind a boundary, which is disposed of when the case is over. */
export type Through = (agent: Agent) => Promise<ThroughBoundary>;

export interface RunCaseOptions {
  readonly app: AnyApp;
  readonly suite: EvalSuite;
  readonly case: EvalCase;
  /** Ids of controls to leave out, such as `rule:named_order`. */
  readonly without?: readonly string[];
  /** Absent: the tools run where the app put them. */
  readonly through?: Through;
  /** Told of the journal of the last turn when the case is over. */
  readonly onJournal?: (run: RunKey, entries: readonly Entry[]) => void;
}

/** Everything of one case: its own world, store, time, model and faults. */
export interface CaseBench extends PersonSetup {
  readonly agent: Agent;
  readonly model: CaseModel;
  start(message: string, offeredTools?: readonly string[]): Promise<RunResult>;
  /** Ends the faults of the store, so that its log is judged as it was written. */
  restoreStore(): void;
}

const TENANT = "default";
const CONVERSATION = "cnv_case";

/** What a case is put together from, each made for this case alone. */
export interface CaseParts {
  readonly world: World;
  readonly clock: CaseClock;
  /** The app's agent, over this world and this time. */
  readonly agent: Agent;
}

/** Puts a case together on a fresh world. Throws `BELAY_EVAL_CASE` and `BELAY_ABLATION`. */
export function createCaseBench(
  { app, suite, case: evalCase, without }: RunCaseOptions,
  { world, clock, agent: declared }: CaseParts,
): CaseBench {
  // The world came from this very app, whose type of world is lost in a list of apps.
  const model = createCaseModel(evalCase, app.offlineModel(world as never));
  const probed = { ...declared, rules: [...probeRules(suite, evalCase, world), ...declared.rules] };
  const { agent, apply: applyToAgent } = withFaults(
    { ...probed, limits: { ...declared.limits, ...evalCase.limits } },
    clock.pass,
    () => evalCase.faults?.filter((fault) => fault.when === "effect").forEach(applyFault),
  );
  const harness = createCaseHarness({ app, agent, clock, model }, without);
  const store = faultyStore(harness.store);
  function applyFault(fault: Fault): void {
    if (fault.kind === "model_down") {
      model.fail();
    } else if (!clock.applyFault(fault) && !applyToAgent(fault) && !store.apply(fault)) {
      suite.applyFault(world as never, fault);
    }
  }
  /** What a process would do that takes a run over from one that died. */
  async function survive(work: () => Promise<RunResult>, { tenant, runId }: RunKey): Promise<RunResult> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ProcessDied)) {
        throw error;
      }
      store.revive();
      return await harness.advance({ tenant, runId });
    }
  }
  checkEffectFaults(evalCase, agent);
  return {
    agent,
    clock,
    model,
    harness,
    applyFault,
    restoreStore: store.restore,
    goOn: (run) => survive(() => harness.advance(run), run),
    start: (message, offeredTools) => {
      const run = harness.run(message, {
        tenant: TENANT,
        conversationId: CONVERSATION,
        principal:
          evalCase.principal === undefined
            ? (app.defaultPrincipal ?? { kind: "customer", id: "customer" })
            : { kind: "customer", id: evalCase.principal },
        ...(offeredTools && { offeredTools }),
      });
      return survive(() => run.result, run);
    },
  };
}

function createCaseHarness(
  parts: { readonly app: AnyApp; readonly agent: Agent; readonly clock: CaseClock; readonly model: CaseModel },
  without: readonly string[] = [],
): Harness {
  const { app, agent, clock, model } = parts;
  let made = 0;
  const options: Omit<HarnessOptions, "store"> = {
    agent,
    model,
    clock,
    // A case is the same each time and waits for nothing, so a model that fails has failed.
    modelRetry: { attemptsMax: 1 },
    ...(app.prices && { prices: app.prices }),
    newId: (prefix: string) => {
      made += 1;
      return `${prefix}_${made}`;
    },
  };
  return without.length > 0
    ? createAblatedHarness(options, without)
    : createHarness({ ...options, store: createMemoryStore() });
}

function probeRules(suite: EvalSuite, { id, probe }: EvalCase, world: World): Agent["rules"] {
  if (probe === undefined) {
    return [];
  }
  const { probes = {} } = suite;
  const make = Object.hasOwn(probes, probe) ? probes[probe] : undefined;
  if (make === undefined) {
    const names = Object.keys(probes).join(", ") || "none";
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `case ${id} names the probe ${JSON.stringify(probe)}, which the suite ${suite.name} does not have. It has: ${names}.`,
    );
  }
  return make(world as never);
}

function checkEffectFaults({ id, faults = [] }: EvalCase, { transaction }: Agent): void {
  if (transaction === undefined && faults.some(({ when }) => when === "effect")) {
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `case ${id} has a fault between decision and effect, and no tool of this agent runs in a transaction. ` +
        "Use the times start and pause.",
    );
  }
}
