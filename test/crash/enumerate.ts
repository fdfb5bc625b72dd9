import { AFTER_REDEPLOY, problemsOf } from "./check.ts";
import { openStage, type Played, play } from "./play.ts";
import { LATER_REVISION, type PointKind } from "./protocol.ts";

export interface Enumerated {
  /** Points that a run passes when nobody dies. */
  readonly points: number;
  readonly plays: number;
  /** Deaths that really happened, by the point. */
  readonly deaths: ReadonlyMap<string, number>;
  /** What went wrong, each with the deaths before it. */
  readonly problems: readonly string[];
}

export interface EnumerateOptions {
  readonly program: string;
  readonly kinds: readonly PointKind[];
  /** Processes beside each other. */
  readonly lanes: number;
  /** Whether the deaths of a play are among those to try; default all. */
  readonly isWanted?: (deaths: readonly number[]) => boolean;
  /** Of pairs: the first deaths to try; default all. */
  readonly isFirstWanted?: (first: number) => boolean;
  /** Whoever comes after the first death runs the program's next revision. */
  readonly isRedeployed?: boolean;
  readonly onProgress?: (plays: number) => void;
}

/** One play and what it broke. */
async function playOnce(
  options: EnumerateOptions,
  deaths: readonly number[],
): Promise<Played & { problems: readonly string[] }> {
  await using stage = await openStage(options.program);
  const { kinds, isRedeployed = false } = options;
  const revisionOf = (died: number): string => (isRedeployed && died > 0 ? LATER_REVISION : "1");
  const played = await play(stage, { deaths, kinds, revisionOf });
  if (played.broken.length > 0) return { ...played, problems: played.broken };
  const problems = await problemsOf(stage, isRedeployed ? AFTER_REDEPLOY : {});
  return { ...played, problems };
}

/** Dies at every point of a run, one play for each. */
export async function enumerateSingles(options: EnumerateOptions): Promise<Enumerated> {
  const untouched = await playOnce(options, []);
  const wanted = numbers(untouched.points).map((at) => [at]);
  return gather(options, untouched, wanted);
}

/** Dies at every point of a run and again at every point that the next processes come to. */
export async function enumeratePairs(options: EnumerateOptions): Promise<Enumerated> {
  const { isFirstWanted = () => true } = options;
  const untouched = await playOnce(options, []);
  const firsts = numbers(untouched.points).filter(isFirstWanted);
  const after = new Map<number, number>();
  await inLanes(options.lanes, firsts, async (first) => {
    after.set(first, (await playOnce(options, [first])).points);
  });
  const pairs = firsts.flatMap((first) => numbers(after.get(first) ?? 0).map((second) => [first, second]));
  return gather(options, untouched, pairs);
}

async function gather(
  options: EnumerateOptions,
  untouched: Played & { problems: readonly string[] },
  all: readonly (readonly number[])[],
): Promise<Enumerated> {
  const { isWanted = () => true, lanes, onProgress } = options;
  const problems = untouched.problems.map((problem) => `without a death: ${problem}`);
  const deaths = new Map<string, number>();
  let plays = 1;
  await inLanes(lanes, all.filter(isWanted), async (wanted) => {
    let played = await playOnce(options, wanted);
    // A recovery that was quicker passes fewer points: without its deaths a sound play shows nothing, so it is repeated.
    if (played.diedAt.length < wanted.length && played.problems.length === 0) played = await playOnce(options, wanted);
    plays += 1;
    onProgress?.(plays);
    for (const name of played.diedAt) deaths.set(name, (deaths.get(name) ?? 0) + 1);
    const where = `deaths at ${wanted.join(", ")} (${played.diedAt.join("; ")})`;
    if (played.diedAt.length !== wanted.length) problems.push(`${where}: ${wanted.length} deaths were wanted`);
    problems.push(...played.problems.map((problem) => `${where}: ${problem}`));
  });
  return { points: untouched.points, plays, deaths, problems };
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

async function inLanes<Item>(
  lanes: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
