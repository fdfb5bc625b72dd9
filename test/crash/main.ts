import { parseArgs } from "node:util";
import { mainOf } from "../program-main.ts";
import { buildProgram } from "./build.ts";
import { CASES } from "./cases.ts";
import { type Enumerated, enumeratePairs, enumerateSingles } from "./enumerate.ts";
import { MUTANTS } from "./mutants.ts";
import { POINT_KINDS } from "./protocol.ts";

const USAGE = `usage: npm run test:crash -- [options]

  --singles    dies at every point of a run, once as the same program and once as the next revision
  --pairs      dies at every point, and again at every point of what comes after
  --cases      tells every story by name
  --mutants    tells every story to every mutant, and prints which story catches which
  --part <k/n> of the pairs only every n-th, beginning with the k-th
  --lanes <n>  plays beside each other (default 3)

Without any of the first four: all of them.
`;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

type What = "singles" | "pairs" | "cases" | "mutants";

interface Wanted {
  readonly what: readonly What[];
  readonly lanes: number;
  readonly part: readonly [index: number, of: number];
}

function readWanted(): Wanted | undefined {
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    options: {
      ...{ singles: flag, pairs: flag, cases: flag, mutants: flag, help: flag },
      part: { type: "string", default: "1/1" },
      lanes: { type: "string", default: "3" },
    },
  });
  if (values.help) return undefined;
  const all = ["cases", "mutants", "singles", "pairs"] as const;
  const chosen = all.filter((name) => values[name]);
  const lanes = Number(values.lanes);
  if (!Number.isSafeInteger(lanes) || lanes < 1) throw new TypeError(`--lanes is ${values.lanes}; give a whole number`);
  const [index = 0, of = 0] = values.part.split("/").map(Number);
  if (!(index >= 1 && index <= of)) throw new TypeError(`--part is ${values.part}; give one of 1/1, 1/4, 2/4 …`);
  return { what: chosen.length === 0 ? all : chosen, lanes, part: [index, of] };
}

/** `before` and `acknowledged` stand beside a point inside of a commit and leave the same file; pairs go without them. */
const PAIR_KINDS = ["inside", "after", "effect"] as const;

function tell(what: string, { points, plays, deaths, problems }: Enumerated, startedAt: number): boolean {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const died = [...deaths.values()].reduce((sum, count) => sum + count, 0);
  say(`${what}: ${points} points, ${plays} plays, ${died} deaths, ${seconds} s, ${problems.length} problems`);
  for (const problem of problems.slice(0, 20)) say(`  ${problem}`);
  return problems.length === 0;
}

async function doAll({ what, lanes, part: [index, of] }: Wanted): Promise<boolean> {
  using program = await buildProgram();
  const results: boolean[] = [];
  const options = { program: program.path, lanes };
  if (what.includes("cases")) {
    for (const { name, tell: tellCase } of CASES) {
      const problems = await tellCase(program.path);
      say(
        `${problems.length === 0 ? "holds" : "BROKEN"}: ${name}${problems.map((problem) => `\n  ${problem}`).join("")}`,
      );
      results.push(problems.length === 0);
    }
  }
  if (what.includes("mutants")) results.push(await tellMutants());
  for (const isRedeployed of what.includes("singles") ? [false, true] : []) {
    const startedAt = performance.now();
    const done = await enumerateSingles({ ...options, kinds: POINT_KINDS, isRedeployed });
    results.push(tell(isRedeployed ? "one death, then the next revision" : "one death", done, startedAt));
  }
  if (what.includes("pairs")) {
    const startedAt = performance.now();
    let place = 0;
    const isWanted = (): boolean => place++ % of === index - 1;
    results.push(tell("two deaths", await enumeratePairs({ ...options, kinds: PAIR_KINDS, isWanted }), startedAt));
  }
  return results.every(Boolean);
}

/** Prints the table of mutants and the stories that catch them; `false` when one is caught by none. */
async function tellMutants(): Promise<boolean> {
  let isCaught = true;
  for (const { name, patches } of MUTANTS) {
    using mutant = await buildProgram(patches);
    const catchers: string[] = [];
    for (const each of CASES) if ((await each.tell(mutant.path)).length > 0) catchers.push(each.name);
    say(`mutant "${name}": ${catchers.length === 0 ? "CAUGHT BY NOTHING" : catchers.join("; ")}`);
    isCaught &&= catchers.length > 0;
  }
  return isCaught;
}

/** Does all that is wanted; the exit code is that of `mainOf`. */
export function main(): Promise<number> {
  return mainOf(USAGE, readWanted, doAll);
}
