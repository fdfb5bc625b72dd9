import { cohenKappa, type Kappa } from "../inference/index.ts";
import { BIASES, type Bias, type CalibrationItem } from "./calibration-set.ts";
import type { Grade, Judge } from "./judge.ts";

export interface Calibration {
  readonly judge: string;
  readonly graded: number;
  /** Cohen's kappa with people's labels, its 95 % interval, and the plain agreement. */
  readonly kappa: Kappa;
  /** Passed by the judge and failed by people, and the other way round; ids in the order of the set. */
  readonly falsePasses: readonly string[];
  readonly falseFails: readonly string[];
  readonly unreadable: readonly string[];
  /** Groups of probes that the judge graded differently although nothing that counts differs. */
  readonly biased: readonly { readonly bias: Bias; readonly group: string }[];
  readonly probes: Readonly<Record<Bias, { readonly groups: number; readonly biased: number }>>;
}

/**
 * Holds a judge against a calibration set. Throws `BELAY_STATISTICS_INVALID` for a set without a graded item; rejects
 * when the judge does.
 */
export async function calibrate(
  judge: Judge,
  items: readonly CalibrationItem[],
  { signal = NEVER_ABORTED }: { readonly signal?: AbortSignal } = {},
): Promise<Calibration> {
  const grades = new Map<string, Grade>();
  for (const item of items) {
    grades.set(item.id, await judge.grade(item, { signal }));
  }
  const verdict = ({ id }: CalibrationItem): Grade["verdict"] => grades.get(id)?.verdict ?? "unreadable";
  const graded = items.filter((item) => item.kind === "graded");
  const idsWhere = (label: "pass" | "fail", given: Grade["verdict"]): readonly string[] =>
    graded.filter((item) => item.label === label && verdict(item) === given).map(({ id }) => id);
  const groups = groupsOf(items, verdict);
  return {
    judge: judge.id,
    graded: graded.length,
    kappa: cohenKappa(
      graded.map(({ label }) => label),
      graded.map(verdict),
    ),
    falsePasses: idsWhere("fail", "pass"),
    falseFails: idsWhere("pass", "fail"),
    unreadable: items.filter((item) => verdict(item) === "unreadable").map(({ id }) => id),
    biased: groups.filter(({ isBiased }) => isBiased).map(({ bias, group }) => ({ bias, group })),
    probes: Object.fromEntries(
      BIASES.map((bias) => {
        const of = groups.filter((group) => group.bias === bias);
        return [bias, { groups: of.length, biased: of.filter(({ isBiased }) => isBiased).length }];
      }),
    ) as Calibration["probes"],
  };
}

const NEVER_ABORTED: AbortSignal = new AbortController().signal;

function groupsOf(
  items: readonly CalibrationItem[],
  verdict: (item: CalibrationItem) => Grade["verdict"],
): readonly { readonly bias: Bias; readonly group: string; readonly isBiased: boolean }[] {
  const probes = items.filter((item) => item.kind === "probe");
  return [...Map.groupBy(probes, ({ group }) => group)].flatMap(([group, members]) => {
    const [first] = members;
    return first === undefined ? [] : [{ bias: first.bias, group, isBiased: new Set(members.map(verdict)).size > 1 }];
  });
}

/** Writes how far a judge can be trusted. */
export function formatCalibration({ judge, graded, kappa, ...rest }: Calibration): string {
  const { falsePasses, falseFails, unreadable, probes } = rest;
  const agreed = Math.round(kappa.agreement * graded);
  const disagreements = [...falsePasses, ...falseFails].sort();
  return [
    `judge: ${judge}`,
    `  agreement ${agreed} of ${graded} (${kappa.agreement.toFixed(4)}), kappa ${kappa.kappa.toFixed(4)} ` +
      `(large-sample 95% ${kappa.low.toFixed(2)} to ${kappa.high.toFixed(2)})`,
    `  disagreements: ${disagreements.join(", ") || "none"} (false passes ${falsePasses.length}, false fails ${falseFails.length})`,
    ...(unreadable.length > 0 ? [`  unreadable: ${unreadable.join(", ")}`] : []),
    `  bias probes: ${BIASES.map((bias) => `${bias} ${probes[bias].biased} of ${probes[bias].groups} biased`).join(", ")}`,
  ]
    .map((line) => `${line}\n`)
    .join("");
}
