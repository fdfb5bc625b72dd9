import { calculate, createSandbox } from "belay-harness/sandbox";
import { line, medianMicroseconds, microseconds } from "./support.ts";

/** One evaluation with a runtime of its own, sent to the interpreter's thread and back, beside an empty program. */
export async function benchSandbox(): Promise<void> {
  await using sandbox = createSandbox();
  const input = { prices: Array.from({ length: 20 }, (_, n) => n) };
  const code = "input.prices.filter((price) => price > 3).reduce((sum, price) => sum + price, 0)";
  const evaluate = async (program: string): Promise<void> => {
    const result = await sandbox.evaluate(program, { input });
    if (!result.ok) throw new Error(`the bench program ended with ${result.code}`);
  };
  const times = (program: string) => async (): Promise<void> => {
    for (let i = 0; i < 50; i += 1) await evaluate(program);
  };
  line(
    "sandbox: small program, fresh runtime",
    microseconds(await medianMicroseconds(50, times(code))),
    "under 2,000 µs",
  );
  line("  an empty program, fresh runtime", microseconds(await medianMicroseconds(50, times("0"))));
  const calculations = await medianMicroseconds(1000, () => {
    for (let i = 0; i < 1000; i += 1) calculate("round(1250.50 * 18% / 3, 2, half_even)");
  });
  line("calculate: an exact rounding", microseconds(calculations));
}
