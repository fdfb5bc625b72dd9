import { expect, it } from "vitest";
import { buildProgram } from "./build.ts";
import { CASES } from "./cases.ts";
import { MUTANTS } from "./mutants.ts";

it.concurrent.each(MUTANTS)(
  "$name is caught: $caughtBy",
  async ({ patches, caughtBy, saying }) => {
    using program = await buildProgram(patches);
    const found = CASES.find(({ name }) => name === caughtBy);
    expect(found).toBeDefined();
    const problems = (await found?.tell(program.path)) ?? [];
    expect(problems.filter((problem) => saying.test(problem))).not.toEqual([]);
  },
  120_000,
);

it("a mutant whose place is gone is an error, and not one that lives", async () => {
  const patch = { file: "engine/drive.ts", from: "this text is nowhere", to: "" };
  await expect(buildProgram([patch])).rejects.toThrow("0 times");
});
