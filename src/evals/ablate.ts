import type { AnyApp } from "../config.ts";
import { BelayError } from "../errors.ts";
import { type AgentControl, controlsOfApp } from "./applicable-controls.ts";
import { caseHolds } from "./document.ts";
import { runCase } from "./run-case.ts";
import type { EvalCase, EvalSuite } from "./suite.ts";

/** Which cases fail without a control. */
export interface KillRow {
  readonly control: string;
  /** Why it cannot act in this agent; such a row needs no case. */
  readonly idle?: string;
  readonly killedBy: readonly string[];
  /** Only cases kill it for which the suite adds a rule to the agent. */
  readonly isByProbeAlone: boolean;
}

/** Two controls of which each stands in for the other: cases that hold without one of them and fail without both. */
export interface KillPair {
  readonly controls: readonly [string, string];
  readonly killedBy: readonly string[];
}

export interface KillMatrix {
  readonly app: string;
  readonly cases: readonly string[];
  /** Cases that fail with every control in place; with any, the matrix proves nothing. */
  readonly failing: readonly string[];
  readonly rows: readonly KillRow[];
  /** Those with at least one case; absent when they were not asked for. */
  readonly pairs?: readonly KillPair[];
}

export interface AblateOptions {
  /** Default 4. */
  readonly parallel?: number;
  readonly withPairs?: boolean;
  /** Only these controls, and only pairs with one of them. Default all. */
  readonly only?: readonly string[];
  readonly onProgress?: (done: number, total: number, what: string) => void;
}

interface NamedCase {
  readonly name: string;
  readonly suite: EvalSuite;
  readonly evalCase: EvalCase;
}

const PARALLEL = 4;

/**
 * Leaves out every control of an app's agent, one at a time, and runs all cases of the suites.
 *
 * Throws `BELAY_ABLATION` for a control in `only` that the agent does not have.
 */
export async function ablate(
  app: AnyApp,
  suites: readonly EvalSuite[],
  options: AblateOptions = {},
): Promise<KillMatrix> {
  const cases = suites.flatMap((suite) =>
    suite.cases.map((evalCase) => ({ name: `${suite.name} ${evalCase.id}`, suite, evalCase })),
  );
  const { parallel = PARALLEL, only, withPairs = false, onProgress } = options;
  const controls = chosen(controlsOfApp(app), only, withPairs);
  const pairs = withPairs ? pairsOf(controls, only) : [];
  const total = 1 + controls.filter(({ idle }) => idle === undefined).length + pairs.length;
  let done = 0;
  const failingWithout = async (without: readonly string[], among: readonly NamedCase[]) => {
    const failing = await failingCases(app, among, without, parallel);
    done += 1;
    onProgress?.(done, total, without.join(" + ") || "every control in place");
    return failing;
  };
  const failing = await failingWithout([], cases);
  // A case that fails anyway says nothing about any control.
  const sound = cases.filter(({ name }) => !failing.includes(name));
  const rows: KillRow[] = [];
  for (const control of controls) {
    const killedBy = control.idle === undefined ? await failingWithout([control.id], sound) : [];
    rows.push(rowOf(control, killedBy, cases));
  }
  const found: KillPair[] = [];
  for (const [one, other] of pairs) {
    const known = new Set([one, other].flatMap((id) => rows.find(({ control }) => control === id)?.killedBy ?? []));
    const open = sound.filter(({ name }) => !known.has(name));
    found.push({ controls: [one, other], killedBy: await failingWithout([one, other], open) });
  }
  return {
    app: app.name,
    cases: cases.map(({ name }) => name),
    failing,
    rows: only === undefined ? rows : rows.filter(({ control }) => only.includes(control)),
    ...(withPairs && { pairs: found.filter(({ killedBy }) => killedBy.length > 0) }),
  };
}

/** Whether every control that can act is needed by a case, and every case holds with all of them. */
export function isWholeMatrix({ failing, rows }: KillMatrix): boolean {
  return failing.length === 0 && rows.every(({ idle, killedBy }) => idle !== undefined || killedBy.length > 0);
}

/** Pairs need to know what each control of theirs does alone, so with them every control is left out once. */
function chosen(
  controls: readonly AgentControl[],
  only: readonly string[] | undefined,
  withPairs: boolean,
): readonly AgentControl[] {
  const unknown = only?.find((id) => !controls.some((control) => control.id === id));
  if (unknown !== undefined) {
    throw new BelayError(
      "BELAY_ABLATION",
      `there is no control '${unknown}'; the agent has ${controls.map(({ id }) => id).join(", ")}`,
    );
  }
  return only === undefined || withPairs ? controls : controls.filter(({ id }) => only.includes(id));
}

function pairsOf(
  controls: readonly AgentControl[],
  only: readonly string[] | undefined,
): readonly (readonly [string, string])[] {
  const ids = controls.filter(({ idle }) => idle === undefined).map(({ id }) => id);
  return ids.flatMap((one, at) =>
    ids
      .slice(at + 1)
      .filter((other) => only === undefined || only.includes(one) || only.includes(other))
      .map((other) => [one, other] as const),
  );
}

function rowOf({ id, idle }: AgentControl, killedBy: readonly string[], cases: readonly NamedCase[]): KillRow {
  const probes = new Set(cases.filter(({ evalCase }) => evalCase.probe !== undefined).map(({ name }) => name));
  return {
    control: id,
    ...(idle !== undefined && { idle }),
    killedBy,
    isByProbeAlone: killedBy.length > 0 && killedBy.every((name) => probes.has(name)),
  };
}

async function failingCases(
  app: AnyApp,
  cases: readonly NamedCase[],
  without: readonly string[],
  parallel: number,
): Promise<readonly string[]> {
  const failing = new Set<string>();
  const queue = cases.values();
  const work = async (): Promise<void> => {
    for (const { name, suite, evalCase } of queue) {
      if (!(await holdsWithout(app, suite, evalCase, without))) {
        failing.add(name);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, parallel) }, work));
  return cases.map(({ name }) => name).filter((name) => failing.has(name));
}

async function holdsWithout(
  app: AnyApp,
  suite: EvalSuite,
  evalCase: EvalCase,
  without: readonly string[],
): Promise<boolean> {
  try {
    return caseHolds(await runCase({ app, suite, case: evalCase, without }));
  } catch (error) {
    // Without a control a case may break in a way of its own; a case that cannot be set up breaks with all of them.
    if (without.length === 0) {
      throw error;
    }
    return false;
  }
}
