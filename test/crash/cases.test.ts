import { afterAll, beforeAll, expect, it } from "vitest";
import { buildProgram, type Program } from "./build.ts";
import { CASES } from "./cases.ts";

let program: Program;

beforeAll(async () => {
  program = await buildProgram();
});

afterAll(() => program[Symbol.dispose]());

it.concurrent.each(CASES)(
  "$name",
  async ({ tell }) => {
    expect(await tell(program.path)).toEqual([]);
  },
  120_000,
);
