/** Median of several timings of `run`, in microseconds per unit; the first rounds warm the code up. */
export async function medianMicroseconds(
  units: number,
  run: () => Promise<void> | void,
  { rounds = 9, warmUp = 3 }: { readonly rounds?: number; readonly warmUp?: number } = {},
): Promise<number> {
  const timings: number[] = [];
  for (let round = -warmUp; round < rounds; round += 1) {
    const start = performance.now();
    await run();
    if (round >= 0) timings.push(((performance.now() - start) * 1000) / units);
  }
  timings.sort((a, b) => a - b);
  return timings[Math.floor(timings.length / 2)] ?? Number.NaN;
}

export function line(name: string, value: string, bound = ""): void {
  process.stdout.write(`${name.padEnd(58)} ${value.padStart(14)}  ${bound}\n`);
}

export function microseconds(value: number): string {
  return `${value.toFixed(1)} µs`;
}
