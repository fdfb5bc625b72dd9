import type { AnyApp } from "../../config.ts";
import { BelayError } from "../../errors.ts";
import type { CaseResult } from "../case-result.ts";
import { runCase, type Through } from "../run-case.ts";
import { openSuite } from "../run-suite.ts";
import type { EvalCase, EvalSuite } from "../suite.ts";

/** What attacks try; each attack is of one of these classes. */
export const ATTACK_CATEGORIES = [
  "jailbreak_resistance",
  "indirect_injection",
  "system_prompt_leakage",
  "unsafe_tool_use",
] as const;

export type AttackCategory = (typeof ATTACK_CATEGORIES)[number];

/** An app's attacks, and the ordinary cases that must still work, so that refusing everything is no defence. */
export interface RedTeam {
  readonly attacks: () => Promise<EvalSuite>;
  readonly slice: { readonly suite: string; readonly cases: readonly string[] };
}

export interface RedTeamResult {
  readonly app: string;
  readonly attacks: readonly CaseResult[];
  readonly slice: readonly CaseResult[];
  readonly passed: number;
  readonly total: number;
  readonly categories: Readonly<Record<AttackCategory, { readonly passed: number; readonly total: number }>>;
}

/**
 * Attacks an app, and runs its slice of ordinary cases, each in a fresh world.
 *
 * Throws `BELAY_EVAL_CASE` for an attack of no category, a category without an attack and a case of the slice that is
 * not there: a red team that quietly tried less would look like a good defence. Throws `BELAY_EVAL_SUITE_UNKNOWN`.
 */
export async function runRedTeam(
  app: AnyApp,
  redTeam: RedTeam,
  onProgress?: (done: number, total: number) => void,
  through?: Through,
): Promise<RedTeamResult> {
  const attacks = await redTeam.attacks();
  checkAttacks(attacks.cases);
  const suite = await openSuite(app, redTeam.slice.suite);
  const slice = redTeam.slice.cases.map((id) => caseOf(suite, id));
  const total = attacks.cases.length + slice.length;
  const results: CaseResult[] = [];
  const runAll = async (of: EvalSuite, cases: readonly EvalCase[]): Promise<readonly CaseResult[]> => {
    const own: CaseResult[] = [];
    for (const evalCase of cases) {
      const result = await runCase({ app, suite: of, case: evalCase, ...(through && { through }) });
      own.push(result);
      results.push(result);
      onProgress?.(results.length, total);
    }
    return own;
  };
  const attacked = await runAll(attacks, attacks.cases);
  const ordinary = await runAll(suite, slice);
  return {
    app: app.name,
    attacks: attacked,
    slice: ordinary,
    passed: results.filter(({ passed }) => passed).length,
    total,
    categories: Object.fromEntries(
      ATTACK_CATEGORIES.map((category) => {
        const of = attacked.filter((result) => result.class === category);
        return [category, { passed: of.filter(({ passed }) => passed).length, total: of.length }];
      }),
    ) as RedTeamResult["categories"],
  };
}

/** Ids of an app's attacks and of its ordinary cases: what a gate expects to have run. */
export async function redTeamIds({ attacks, slice }: RedTeam): Promise<readonly string[]> {
  return [...(await attacks()).cases.map(({ id }) => id), ...slice.cases];
}

function checkAttacks(cases: readonly EvalCase[]): void {
  const known: readonly string[] = ATTACK_CATEGORIES;
  const odd = cases.find((evalCase) => !known.includes(evalCase.class));
  if (odd !== undefined) {
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `the attack ${odd.id} is of class ${JSON.stringify(odd.class)}; use one of ${known.join(", ")}`,
    );
  }
  const missing = known.find((category) => !cases.some((evalCase) => evalCase.class === category));
  if (missing !== undefined) {
    throw new BelayError("BELAY_EVAL_CASE", `there is no attack of the category ${missing}; add at least one`);
  }
}

function caseOf(suite: EvalSuite, id: string): EvalCase {
  const found = suite.cases.find((evalCase) => evalCase.id === id);
  if (found === undefined) {
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `the slice names the case ${id}, which the suite ${suite.name} does not have; correct the slice`,
    );
  }
  return found;
}

/** Writes how an app stood its attacks, and why it did not where it did not. */
export function formatRedTeam({ app, attacks, slice, passed, total, categories }: RedTeamResult): string {
  const held = slice.filter((result) => result.passed).length;
  return [
    `red team of ${app}: ${passed} of ${total} passed`,
    ...ATTACK_CATEGORIES.map(
      (category) => `  ${category} ${categories[category].passed}/${categories[category].total}`,
    ),
    `  golden slice ${held}/${slice.length}`,
    ...[...attacks, ...slice].flatMap(({ id, class: name, reasons }) =>
      reasons.map((reason) => `  ${id} (${name}): ${reason}`),
    ),
    total > 0 && passed === total ? "RED TEAM: PASS" : "RED TEAM: FAIL",
  ]
    .map((line) => `${line}\n`)
    .join("");
}
