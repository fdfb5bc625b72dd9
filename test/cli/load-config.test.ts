import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { explainLoadFailure } from "../../src/cli/load-failure.ts";
import { BANK_CONFIG, belay, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 60_000;
const APPS = "apps: { bank: () => Promise.resolve({}) }";

describe("belay.config", () => {
  it.each<[string, Readonly<Record<string, string>>, string, string]>([
    ["is missing", {}, "BELAY_CONFIG_NOT_FOUND", "no belay.config.mts, .ts or .mjs"],
    [
      "is read as CommonJS",
      { "package.json": '{"type":"commonjs"}', "belay.config.ts": 'import "node:fs";\nexport default {};\n' },
      "BELAY_CONFIG_COMMONJS",
      "Name it belay.config.mts",
    ],
    [
      "is read as CommonJS and imports nothing",
      { "package.json": '{"type":"commonjs"}', "belay.config.ts": "export default {};\n" },
      "BELAY_CONFIG_COMMONJS",
      "Name it belay.config.mts",
    ],
    [
      "has an enum",
      { "belay.config.mts": "enum A { B }\nexport default A;\n" },
      "BELAY_CONFIG_SYNTAX",
      "Replace enums by constant objects",
    ],
    ["is no TypeScript", { "belay.config.mts": "export default {;\n" }, "BELAY_CONFIG_SYNTAX", "not valid TypeScript"],
    [
      "imports without the extension",
      { "belay.config.mts": 'import "./other";\n', "other.ts": "" },
      "BELAY_CONFIG_IMPORT",
      "extension included",
    ],
    [
      "imports a .tsx file",
      { "belay.config.mts": 'import "./page.tsx";\n', "page.tsx": "" },
      "BELAY_CONFIG_IMPORT",
      "a file that Node cannot load (.tsx)",
    ],
    [
      "imports a name that is not there",
      { "belay.config.mts": 'import { nope } from "node:fs";\nexport default nope;\n' },
      "BELAY_CONFIG_IMPORT",
      "imports what is not there",
    ],
    [
      "needs a package",
      { "belay.config.mts": 'import "a-package-that-nobody-has";\n' },
      "BELAY_CONFIG_PEER_MISSING",
      "npm install a-package-that-nobody-has",
    ],
    [
      "has no default export",
      { "belay.config.mjs": "export const a = 1;\n" },
      "BELAY_CONFIG_INVALID",
      "no default export",
    ],
    [
      "names no apps",
      { "belay.config.mjs": "export default { apps: {} };\n" },
      "BELAY_CONFIG_INVALID",
      "names no apps",
    ],
    [
      "has an app that is a path out of the folder",
      { "belay.config.mjs": 'export default { apps: { "../x": () => 1 } };\n' },
      "BELAY_CONFIG_INVALID",
      '"../x"',
    ],
    [
      "has a person with an unknown role",
      { "belay.config.mjs": `export default { ${APPS}, people: [{ id: "a", name: "A", roles: ["boss"] }] };\n` },
      "BELAY_CONFIG_INVALID",
      "a person (number 1)",
    ],
    [
      "has two people of one id",
      {
        "belay.config.mjs": `const one = { id: "a", name: "A", roles: [] };\nexport default { ${APPS}, people: [one, one] };\n`,
      },
      "BELAY_CONFIG_INVALID",
      'two people with the id "a"',
    ],
    [
      "has an app that is none",
      { "belay.config.mjs": `export default { ${APPS} };\n` },
      "BELAY_CONFIG_INVALID",
      "is not an app",
    ],
    [
      "throws, and what it throws is not shown",
      { "belay.config.mjs": 'throw new Error("hunter2");\n' },
      "BELAY_CONFIG_INVALID",
      "threw Error while it was loaded",
    ],
  ])(
    "%s",
    async (_, files, code, remedy) => {
      const { code: exitCode, stdout, stderr } = await belay(makeFolder(files), ["eval", "bank"]);
      expect(stderr).toContain(remedy);
      expect(stderr).toMatch(new RegExp(`^belay: [^\\n]* \\(${code}\\)\\n$`));
      expect(stderr).not.toContain("hunter2");
      expect([exitCode, stdout]).toEqual([2, ""]);
    },
    TIMEOUT_MS,
  );

  it(
    "may lie elsewhere, and the first of the three names counts",
    async () => {
      const folder = makeFolder({ "belay.config.mjs": "export default {};\n" });
      writeFileSync(join(folder, "mine.mjs"), BANK_CONFIG);
      expect((await belay(folder, ["eval", "bank", "--case", "H1", "--config", "mine.mjs"])).code).toBe(0);
      writeFileSync(join(folder, "belay.config.mts"), BANK_CONFIG);
      expect((await belay(folder, ["eval", "bank", "--case", "H1"])).code).toBe(0);
      const missing = await belay(folder, ["eval", "bank", "--config", "nope.mjs"]);
      expect(missing.stderr).toContain("nope.mjs does not exist. Correct --config. (BELAY_CONFIG_NOT_FOUND)");
    },
    TIMEOUT_MS,
  );

  it("asks for a newer Node when this one does not load TypeScript", () => {
    const error = Object.assign(new TypeError('Unknown file extension ".ts" for /x.ts'), {
      code: "ERR_UNKNOWN_FILE_EXTENSION",
    });
    expect(explainLoadFailure(error, "The configuration /x.ts", false)).toMatchObject({
      code: "BELAY_CONFIG_NODE_OLD",
    });
  });
});
