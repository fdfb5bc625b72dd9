import { type ClaimChecker, claimsOf } from "./claims.ts";

interface Options {
  readonly signal?: AbortSignal;
}

const NEVER_ABORTED: AbortSignal = new AbortController().signal;

/** Share of an answer's claims that the texts bear out, as in RAGAS; `null` for an answer that claims nothing. */
export async function faithfulness(
  answer: string,
  texts: readonly string[],
  checker: ClaimChecker,
  { signal = NEVER_ABORTED }: Options = {},
): Promise<number | null> {
  return await supportedShare(claimsOf(answer), texts, checker, signal);
}

/** Share of a reference answer's claims that the found texts bear out, as in RAGAS; `null` for an empty reference. */
export async function contextRecall(
  reference: string,
  texts: readonly string[],
  checker: ClaimChecker,
  { signal = NEVER_ABORTED }: Options = {},
): Promise<number | null> {
  return await supportedShare(claimsOf(reference), texts, checker, signal);
}

/**
 * Whether the useful texts come first, as in RAGAS: the mean of the precision at each place that holds a useful one. A
 * text is useful when it bears out a claim of the reference answer. 0 when none is, `null` when nothing was found.
 */
export async function contextPrecision(
  reference: string,
  texts: readonly string[],
  checker: ClaimChecker,
  { signal = NEVER_ABORTED }: Options = {},
): Promise<number | null> {
  const claims = claimsOf(reference);
  const useful: boolean[] = [];
  for (const text of texts) {
    useful.push(((await supportedShare(claims, [text], checker, signal)) ?? 0) > 0);
  }
  return averagePrecision(useful);
}

/** The same for texts of which is known whether they are useful, such as by the ids that a case names. */
export function averagePrecision(useful: readonly boolean[]): number | null {
  if (useful.length === 0) {
    return null;
  }
  const precisions = useful.flatMap((isUseful, at) =>
    isUseful ? [useful.slice(0, at + 1).filter(Boolean).length / (at + 1)] : [],
  );
  return precisions.length === 0 ? 0 : precisions.reduce((sum, value) => sum + value, 0) / precisions.length;
}

async function supportedShare(
  claims: readonly string[],
  texts: readonly string[],
  checker: ClaimChecker,
  signal: AbortSignal,
): Promise<number | null> {
  let supported = 0;
  for (const claim of claims) {
    supported += (await checker.isSupported(claim, texts, { signal })) ? 1 : 0;
  }
  return claims.length === 0 ? null : supported / claims.length;
}
