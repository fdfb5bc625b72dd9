import { CUT_MODES, type CutMode, createDisk, type Random } from "./disk.ts";
import { type Fault, judgeImage, nothingPromised, promise } from "./judge-image.ts";
import type { RecordedOp } from "./read-record.ts";
import { STORE_NAME, type Workload } from "./record-workload.ts";

/** A power cut after so many entries of the record. */
export interface Cut {
  readonly after: number;
  readonly mode: CutMode;
}

export interface BadImage extends Cut {
  readonly faults: readonly Fault[];
}

/** xorshift32: the same seed gives the same cuts on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Cuts anywhere, and every third one close to where the database file itself, a size or a name is changed. */
export function chooseCuts(ops: readonly RecordedOp[], count: number, random: Random): readonly Cut[] {
  const rare = ops.flatMap(({ op }, index) => (isRare(op) ? index : []));
  const cuts = Array.from({ length: count }, (_, index): Cut => {
    const near = (rare[Math.floor(random() * rare.length)] ?? 0) + Math.floor(random() * 5);
    const anywhere = Math.floor(random() * (ops.length + 1));
    const after = Math.min(index % 3 === 0 && rare.length > 0 ? near : anywhere, ops.length);
    return { after, mode: CUT_MODES[index % CUT_MODES.length] ?? "lost" };
  });
  return cuts.sort((one, other) => one.after - other.after);
}

function isRare(op: RecordedOp["op"]): boolean {
  return op.kind === "write" ? op.name === STORE_NAME : op.kind !== "sync" || op.name === STORE_NAME;
}

/** Builds the image of each cut and judges it; returns those that break a promise. */
export async function cutPower(
  { ops, acknowledgements }: Workload,
  cuts: readonly Cut[],
  folder: string,
  random: Random,
): Promise<readonly BadImage[]> {
  const disk = createDisk();
  const promised = nothingPromised();
  const bad: BadImage[] = [];
  let [applied, given] = [0, 0];
  for (const cut of cuts) {
    for (; applied < cut.after; applied += 1) {
      const next = ops[applied];
      if (next !== undefined) disk.apply(next.op);
    }
    const reached = ops[cut.after - 1]?.end ?? 0;
    for (let next = acknowledgements[given]; next !== undefined && next.position <= reached; ) {
      promise(promised, next);
      given += 1;
      next = acknowledgements[given];
    }
    const faults = await judgeImage(folder, disk.image(cut.mode, random), promised);
    if (faults.length > 0) bad.push({ ...cut, faults });
  }
  return bad;
}
