import { parseArgs } from "node:util";
import fc from "fast-check";
import { mainOf } from "../program-main.ts";
import { problemsOf } from "./engine/check.ts";
import { type Plan, plans, TOOLS, type ToolName } from "./engine/plan.ts";
import { play } from "./engine/play.ts";
import { fuzzDirectly, type Tally } from "./shop/direct.ts";
import { explore, SETTINGS } from "./shop/exhaustive.ts";
import { fuzzThroughEngine } from "./shop/through-engine.ts";

const USAGE = `usage: npm run fuzz -- [options]

  --plays <n>      random plays of the engine, 0 for none (default 5000)
  --proposals <n>  calls that a hostile planner proposes to the shop, 0 for none (default 1000000)
  --through <n>    calls that it proposes to the whole engine, 0 for none (default 50000)
  --depth <n>      depth of the walk over every sequence of actions, 0 for none (default 3)
  --tool <name>    every call of the plays is of this tool: keyed, queryable, opaque, world, risky or read
  --seed <n>       begins there instead of at a random place
  --path <text>    with --seed: repeats one failing play, as fast-check printed it

examples:
  npm run fuzz
  npm run fuzz -- --plays 100000 --proposals 0 --through 0 --depth 0
  npm run fuzz -- --plays 20000 --tool queryable --proposals 0 --through 0 --depth 0
  npm run fuzz -- --seed 42 --path 218:3:3 --proposals 0 --through 0 --depth 0
`;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

interface Wanted {
  readonly plays: number;
  readonly proposals: number;
  readonly through: number;
  readonly depth: number;
  readonly seed: number;
  readonly path?: string;
  readonly tool?: ToolName;
}

function readWanted(): Wanted | undefined {
  const { values } = parseArgs({
    options: {
      plays: { type: "string", default: "5000" },
      proposals: { type: "string", default: "1000000" },
      through: { type: "string", default: "50000" },
      depth: { type: "string", default: "3" },
      seed: { type: "string", default: String(Date.now() % 2 ** 31) },
      path: { type: "string" },
      tool: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const number = (name: "plays" | "proposals" | "through" | "depth" | "seed"): number => {
    const value = Number(values[name]);
    if (!Number.isSafeInteger(value) || value < 0)
      throw new TypeError(`--${name} is ${values[name]}; give a whole number`);
    return value;
  };
  const { path } = values;
  const tool = TOOLS.find((name) => name === values.tool);
  if (values.tool !== undefined && tool === undefined)
    throw new TypeError(`--tool is ${values.tool}; give one of ${TOOLS.join(", ")}`);
  return {
    plays: number("plays"),
    proposals: number("proposals"),
    through: number("through"),
    depth: number("depth"),
    seed: number("seed"),
    ...(path === undefined ? {} : { path }),
    ...(tool === undefined ? {} : { tool }),
  };
}

/** The same play with one tool in the place of every other. */
function withTool(plan: Plan, tool: ToolName | undefined): Plan {
  if (tool === undefined) return plan;
  const turns = plan.turns.map((turn) =>
    turn.kind === "calls" ? { ...turn, calls: turn.calls.map((call) => ({ ...call, tool })) } : turn,
  );
  return { ...plan, turns };
}

async function playAll({ plays, seed, path, tool }: Wanted): Promise<boolean> {
  const property = fc.asyncProperty(plans, async (plan) => {
    const played = await play(withTool(plan, tool));
    const problems = await problemsOf(played);
    await played.store.close();
    if (problems.length > 0) throw new Error(problems.join("\n"));
  });
  const checked = await fc.check(property, { numRuns: plays, seed, ...(path === undefined ? {} : { path }) });
  if (!checked.failed) say(`engine: ${checked.numRuns} plays, nothing broken`);
  else say(`${fc.defaultReportMessage(checked) ?? "failed"}\n${String(checked.errorInstance)}`);
  return !checked.failed;
}

function tell(what: string, tally: Tally): boolean {
  const { proposals, effects, forbidden } = tally;
  say(`${what}: ${proposals} proposals, ${JSON.stringify(effects)}, ${forbidden.length} forbidden`);
  for (const each of forbidden.slice(0, 20)) say(`  ${each}`);
  return forbidden.length === 0;
}

function exploreAll(depth: number): boolean {
  const wrong = SETTINGS.flatMap((setting) => {
    const explored = explore(setting, depth);
    say(
      `every sequence up to depth ${depth}, ${setting.name}: ${explored.sequences} sequences, ${explored.states} states`,
    );
    return explored.wrong;
  });
  for (const each of wrong.slice(0, 20)) say(`  ${each}`);
  return wrong.length === 0;
}

/** Runs all that is wanted; the exit code is that of `mainOf`. */
export function main(): Promise<number> {
  return mainOf(USAGE, readWanted, runAll);
}

async function runAll(wanted: Wanted): Promise<boolean> {
  const { plays, proposals, through, depth, seed } = wanted;
  say(`seed ${seed}`);
  const results = [
    plays === 0 || (await playAll(wanted)),
    proposals === 0 || tell("shop, rules and tools", fuzzDirectly(seed, proposals)),
    through === 0 || tell("shop, whole engine", await fuzzThroughEngine(seed, through)),
    depth === 0 || exploreAll(depth),
  ];
  return results.every(Boolean);
}
