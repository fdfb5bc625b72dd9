import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildProgram, type Program } from "./build.ts";
import { type EnumerateOptions, enumeratePairs, enumerateSingles } from "./enumerate.ts";

let program: Program;

beforeAll(async () => {
  program = await buildProgram();
});

afterAll(() => program[Symbol.dispose]());

/** What is durable is the same before a commit, in the middle of it and behind the one before: one of them is enough. */
const short = (): EnumerateOptions => ({ program: program.path, kinds: ["after", "effect"], lanes: 3 });

/** A part of the last deaths of all; `npm run test:crash` dies each of them. */
const every =
  (step: number, first: number) =>
  (deaths: readonly number[]): boolean =>
    deaths.reduce((sum, at) => sum + at, 0) % step === first;

describe("a process that is killed behind any commit and around any effect", () => {
  it("loses nothing and does nothing twice", async () => {
    const { problems, points, plays, deaths } = await enumerateSingles({ ...short(), isWanted: every(2, 1) });
    expect(problems).toEqual([]);
    expect(points).toBeGreaterThan(35);
    expect(plays).toBeGreaterThan(points / 2);
    for (const kind of ["after", "effect before", "effect middle of", "effect after"]) {
      expect([...deaths.keys()].some((name) => name.startsWith(kind))).toBe(true);
    }
  }, 240_000);

  it("and killed again while it recovers, does nothing twice", async () => {
    const isFirstWanted = (first: number): boolean => first % 8 === 4;
    const { problems, plays, deaths } = await enumeratePairs({ ...short(), isFirstWanted, isWanted: every(13, 1) });
    expect(problems).toEqual([]);
    expect(plays).toBeGreaterThan(8);
    expect(deaths.size).toBeGreaterThan(8);
  }, 240_000);

  it("and restarted as the next revision of the program, does nothing twice", async () => {
    const { problems, plays } = await enumerateSingles({ ...short(), isRedeployed: true, isWanted: every(6, 2) });
    expect(problems).toEqual([]);
    expect(plays).toBeGreaterThan(6);
  }, 240_000);
});
