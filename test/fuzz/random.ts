/** A small seeded generator (mulberry32): fast, and the same on every machine. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** From 0 to below `count`. */
  below(count: number): number;
  chance(probability: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (values) => {
      if (values.length === 0) throw new RangeError("nothing to pick from");
      return values[below(values.length)] as (typeof values)[number];
    },
  };
}
