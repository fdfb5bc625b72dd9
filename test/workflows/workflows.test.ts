import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findCommand } from "../../src/cli/commands.ts";
import { toolsMode } from "../../src/cli/mcp-tools.ts";
import { parseArguments } from "../../src/cli/parse-arguments.ts";
import { MARKDOWN_MARK } from "../../src/evals/index.ts";
import { parseYaml, type Yaml } from "./yaml-subset.ts";

const project = join(import.meta.dirname, "../..");
const folder = join(project, ".github/workflows");
const files = globSync("*.{yml,yaml}", { cwd: folder }).sort();
const text = new Map(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
const map = (value: Yaml | undefined): Readonly<Record<string, Yaml>> =>
  typeof value === "object" && !Array.isArray(value) ? (value as Readonly<Record<string, Yaml>>) : {};
const list = (value: Yaml | undefined): readonly Yaml[] => (Array.isArray(value) ? value : []);
const workflow = (file: string) => map(parseYaml(text.get(file) ?? ""));
const jobsOf = (file: string) => Object.values(map(workflow(file)["jobs"])).map(map);
const stepsOf = (file: string) => jobsOf(file).flatMap((job) => list(job["steps"]).map(map));
const scriptsOf = (file: string) => stepsOf(file).flatMap(({ run }) => (typeof run === "string" ? [run] : []));

/** Commands of belay in a script, as lists of words. */
function belayCommands(script: string): readonly (readonly string[])[] {
  return script
    .split("\n")
    .map((line) => /(?:^|\s)node dist\/cli\/main\.js (.*?)(?: > .*)?(?: \|\| .*)?$/.exec(line)?.[1])
    .filter((found) => found !== undefined)
    .map((found) => (found.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"|"$/g, "")));
}

describe("parseYaml", () => {
  it("reads maps, lists, quoted texts and literal blocks", () => {
    const yaml = 'a: 1\n# note\nb:\n  - c: "x: y"\n    d: |\n      one\n        two\n  - plain text\ne:\n  f: g\nh:\n';
    expect(parseYaml(yaml)).toEqual({
      ...{ a: "1", b: [{ c: "x: y", d: "one\n  two\n" }, "plain text"], e: { f: "g" }, h: "" },
    });
  });

  it.each(["a: [1]", "a: b: c", "a: 1\na: 2", "\ta: 1", "a: &x 1", "a: 'x'", "a: 1\n  b: 2", "a: >\n  x", "just text"])(
    "refuses %j",
    (yaml) => {
      expect(() => parseYaml(yaml)).toThrow();
    },
  );
});

describe("the workflows", () => {
  it("are the gate and the live run", () => {
    expect(files).toEqual(expect.arrayContaining(["gate.yml", "live.yml"]));
  });

  it.each(files)("%s has a bound on time, few rights, and no text of outsiders in a script", (file) => {
    const { permissions } = workflow(file);
    expect(permissions).toEqual({ contents: "read" });
    expect(jobsOf(file).length).toBeGreaterThan(0);
    for (const job of jobsOf(file)) {
      expect(Number(job["timeout-minutes"])).toBeGreaterThan(0);
      expect(Object.values(map(job["permissions"])).filter((right) => right === "write").length).toBeLessThan(2);
    }
    // An expression is pasted into the script before the shell reads it; the environment is not.
    expect(scriptsOf(file).filter((script) => script.includes("${{"))).toEqual([]);
    expect(text.get(file)).not.toContain("pull_request_target");
    expect(text.get(file)).not.toMatch(/secrets\./);
  });

  it.each(files)("%s checks out without leaving its token behind, and uses actions of known versions", (file) => {
    const uses = stepsOf(file).flatMap(({ uses: action, ...step }) =>
      typeof action === "string" ? [{ action, step }] : [],
    );
    expect(
      uses.map(({ action }) => action).filter((action) => !/^[\w-]+\/[\w-]+@(?:v\d+|[0-9a-f]{40})$/.test(action)),
    ).toEqual([]);
    const checkouts = uses.filter(({ action }) => action.startsWith("actions/checkout@"));
    expect(checkouts.map(({ step }) => map(step["with"])["persist-credentials"])).toEqual(checkouts.map(() => "false"));
  });

  it.each(files)("%s has scripts that a shell can read", (file) => {
    for (const script of scriptsOf(file)) {
      expect(() => execFileSync("bash", ["-n"], { input: script })).not.toThrow();
    }
  });

  it.each(files)("%s calls commands of belay that are there, with options that they have", (file) => {
    const commands = scriptsOf(file).flatMap(belayCommands);
    expect(commands.length).toBeGreaterThan(0);
    for (const words of commands) {
      const { command, rest } = findCommand(words);
      expect(() => parseArguments(command, rest)).not.toThrow();
      const tools = rest.indexOf("--tools");
      expect(() => toolsMode(tools === -1 ? undefined : rest[tools + 1])).not.toThrow();
    }
  });
});

describe("the gate of pull requests", () => {
  const steps = stepsOf("gate.yml");

  it("runs on pull requests, fails with the gate, and goes over streamable HTTP", () => {
    expect(Object.keys(map(workflow("gate.yml")["on"]))).toEqual(["pull_request"]);
    const gates = scriptsOf("gate.yml").filter((script) => script.includes("main.js gate "));
    expect(gates).toHaveLength(2);
    // The command's own exit code is that of the step: nothing follows it, and nothing swallows it.
    expect(gates.every((script) => !/\|\||;|\n./.test(script.trimEnd()))).toBe(true);
    expect(gates.every((script) => /--markdown results\/\w+\.md .*--junit results\/\w+\.xml/.test(script))).toBe(true);
    expect(gates.some((script) => script.includes("gate stockroom --tools mcp-http "))).toBe(true);
    const baselines = gates.flatMap((script) => /--baseline (\S+)/.exec(script)?.[1] ?? []);
    expect(baselines.map((file) => existsSync(join(project, file)))).toEqual([true]);
    expect(jobsOf("gate.yml").some((job) => "continue-on-error" in job)).toBe(false);
  });

  it("writes one comment and finds it again by its mark; a fork cannot fail on it", () => {
    const comment = steps.find(({ name }) => name === "Comment") ?? {};
    expect(comment["continue-on-error"]).toBe("true");
    expect(comment["if"]).toContain("head.repo.full_name == github.repository");
    expect(comment["run"]).toContain(`startswith("${MARKDOWN_MARK}")`);
  });
});

describe("the live run", () => {
  const [job = {}] = jobsOf("live.yml");

  it("is started by hand alone, skipped without its role, and never blocks", () => {
    expect(Object.keys(map(workflow("live.yml")["on"]))).toEqual(["workflow_dispatch"]);
    expect(job["if"]).toBe("vars.AWS_OIDC_ROLE_ARN != ''");
    expect(job["continue-on-error"]).toBe("true");
    expect(map(job["permissions"])).toEqual({ contents: "read", "id-token": "write" });
  });

  it("takes its repeats from STOCKROOM_EVAL_REPEATS", () => {
    expect(map(job["env"])["STOCKROOM_EVAL_REPEATS"]).toMatch(/^\$\{\{ vars\.STOCKROOM_EVAL_REPEATS/);
    expect(scriptsOf("live.yml").join("\n")).toContain('--repeats "$STOCKROOM_EVAL_REPEATS"');
  });
});
