import { describe, expect, it } from "vitest";
import type { Command } from "../../src/cli/command.ts";
import { COMMANDS, findCommand } from "../../src/cli/commands.ts";
import { commandHelp, programHelp } from "../../src/cli/help.ts";
import { parseArguments } from "../../src/cli/parse-arguments.ts";
import { belay, makeFolder } from "./belay.ts";

const commandOf = (name: string) => COMMANDS.find((command) => command.name === name) as Command;
const usage = (message: string) =>
  expect.objectContaining({ code: "BELAY_USAGE", message: expect.stringContaining(message) });

describe("arguments", () => {
  it("are read in any order, with = or a space, and -- ends the options", () => {
    const parsed = parseArguments(commandOf("run"), ["bank", "--as=C-1", "--json", "--db", "x.db", "--", "-5 please"]);
    expect(parsed).toEqual({
      positionals: ["bank", "-5 please"],
      options: { as: "C-1", json: true, db: "x.db" },
      isHelp: false,
    });
  });

  it.each([
    ["an unknown option", ["bank", "hi", "--ass", "x"], 'Unknown option "--ass"'],
    ["an option of another command", ["bank", "hi", "--by", "x"], 'Unknown option "--by"'],
    ["an option of every object", ["bank", "hi", "--constructor"], 'Unknown option "--constructor"'],
    ["a short option", ["bank", "hi", "-j"], 'Unknown option "-j"'],
    ["a short option that begins like help", ["bank", "hi", "-json"], "Unknown option"],
    ["an option without its value", ["bank", "hi", "--as"], "--as needs a value"],
    ["an option instead of a value", ["bank", "hi", "--as", "--json"], "--as needs a value"],
    ["an empty value", ["bank", "hi", "--as="], "--as needs a value"],
    ["a value for a flag", ["bank", "hi", "--json=no"], "--json takes no value"],
    ["an option given twice", ["bank", "hi", "--as", "a", "--as", "b"], "--as is given twice"],
    ["a missing argument", ["bank"], "belay run needs <message>"],
    ["an argument too many", ["bank", "two", "words"], 'does not take "words"'],
  ])("refuse %s", (_, args, message) => {
    expect(() => parseArguments(commandOf("run"), args)).toThrow(usage(message));
  });

  it.each([
    [[], "No command."],
    [["frob"], 'There is no command "frob"'],
    [["audit"], "belay audit needs one of verify, show, checkpoint, export."],
    [["audit", "frob"], 'export, not "frob"'],
    [["audit verify"], "There is no command"],
  ])("refuse the command %j", (args, message) => {
    expect(() => findCommand(args)).toThrow(usage(message));
  });
});

describe("help", () => {
  it("exists for every command, with its options and an example that its own parser takes", () => {
    for (const command of COMMANDS) {
      const help = commandHelp(command);
      expect(help).toContain(`Usage: belay ${command.name}`);
      for (const name of Object.keys(command.options)) {
        expect(help).toContain(`--${name}`);
      }
      expect(command.examples.length).toBeGreaterThan(0);
      for (const example of command.examples) {
        const words = [...(example.split(" > ")[0] ?? "").matchAll(/"([^"]*)"|(\S+)/g)].map(
          ([, quoted, word]) => quoted ?? word ?? "",
        );
        const found = findCommand(words);
        expect(found.command).toBe(command);
        expect(() => parseArguments(command, found.rest)).not.toThrow();
      }
      expect(programHelp(COMMANDS)).toContain(command.summary);
    }
  });
});

describe("the program", () => {
  it("tells misuse in one line and exits 2, and helps with 0", async () => {
    const folder = makeFolder();
    const [none, unknown, missing, help, group, one] = await Promise.all([
      belay(folder, []),
      belay(folder, ["run", "bank", "hi", "--bogus"]),
      belay(folder, ["runs"]),
      belay(folder, ["--help"]),
      belay(folder, ["audit", "--help"]),
      belay(folder, ["approve", "-h"]),
    ]);
    expect(none).toEqual({ code: 2, stdout: "", stderr: "belay: No command. See belay --help. (BELAY_USAGE)\n" });
    expect(unknown).toEqual({
      code: 2,
      stdout: "",
      stderr: 'belay: Unknown option "--bogus". See belay run --help. (BELAY_USAGE)\n',
    });
    expect(missing.code).toBe(2);
    expect(missing.stderr).toMatch(/^belay: There is no database .*belay\.db\. .* \(BELAY_STORE_MISSING\)\n$/);
    expect([help.code, help.stderr, group.code, one.code]).toEqual([0, "", 0, 0]);
    expect(help.stdout).toContain("Usage: belay <command>");
    expect(group.stdout).not.toContain("approvals ");
    expect(one.stdout).toContain("--by <person>");
  }, 30_000);
});
