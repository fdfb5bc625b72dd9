import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { parseSync } from "vite";
import { describe, expect, it } from "vitest";

/** Read it from the top: a folder of `src/` may use the lines above its own, and nothing beside or below it. */
const LINES: readonly (readonly string[])[] = [
  ["core"],
  ["audit", "model", "tool", "retry"],
  ["journal"],
  ["policy", "context", "rollback", "sandbox"],
  ["approval"],
  ["engine"],
  ["gate", "telemetry", "evals", "testing", "adapters"],
  ["server"],
  ["cli"],
];

/** Files of `src/` itself that every folder but `core` may use. */
const SHARED = ["src/errors.ts", "src/clock.ts", "src/ids.ts", "src/config.ts"];

/** Where a package may be imported; `node:` modules are free but in `core` and in what the root entry reaches. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@ai-sdk/anthropic": ["cli"],
  "@ai-sdk/google": ["cli"],
  "@ai-sdk/openai": ["cli"],
  "@ai-sdk/openai-compatible": ["cli"],
  "@standard-schema/spec": ["tool"],
  "@opentelemetry/api": ["telemetry"],
  "@opentelemetry/exporter-trace-otlp-proto": ["telemetry"],
  "@opentelemetry/sdk-trace": ["telemetry"],
  hono: ["server"],
  "@hono/node-server": ["server", "cli"],
  "@hono/zod-openapi": ["server"],
  jstat: ["evals"],
  "quickjs-emscripten": ["sandbox"],
};

const APP_PACKAGES = ["zod"];
/** What an example shows Belay together with. */
const EXAMPLE_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "examples/langgraph-graph.ts": [
    "@langchain/core/messages",
    "@langchain/core/tools",
    "@langchain/langgraph",
    "@langchain/langgraph/prebuilt",
  ],
  "examples/real-model.ts": ["@ai-sdk/openai-compatible"],
};
const ABLATION = "src/engine/ablation.ts";

interface Import {
  readonly from: string;
  /** A path from the project's folder, or the name of a package or `node:` module. */
  readonly to: string;
  readonly isType: boolean;
}

const project = join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(join(project, file), "utf8");
const filesIn = (...patterns: readonly string[]) =>
  globSync([...patterns], { cwd: project })
    .map((file) => file.split(sep).join("/"))
    .sort();
const sources = filesIn("src/**/*.{ts,tsx}");
const imports = sources.flatMap(importsOf);
const folders = [...new Set(sources.map(folderOf).filter((folder) => folder !== ""))];

describe("src", () => {
  it("has no folder without a place in the table", () => {
    expect(folders.filter((folder) => lineOf(folder) === -1)).toEqual([]);
    expect(folders.length).toBeGreaterThan(5);
  });

  it("has an index in each folder, which is the folder's only door", () => {
    expect(
      [...new Set(sources.map(unitOf))].filter((unit) => unit !== "src" && !sources.includes(`${unit}/index.ts`)),
    ).toEqual(
      // The program is run and not imported.
      sources.includes("src/cli/index.ts") ? [] : ["src/cli"],
    );
    const throughWindows = imports.filter(
      ({ from, to }) =>
        to.startsWith("src/") &&
        unitOf(from) !== unitOf(to) &&
        unitOf(to) !== "src" &&
        to !== `${unitOf(to)}/index.ts` &&
        !isAblationForEvals(from, to),
    );
    expect(shown(throughWindows)).toEqual([]);
  });

  it("imports only upwards in the table", () => {
    const wrong = imports.filter(({ from, to }) => {
      const [own, other] = [folderOf(from), folderOf(to)];
      return own !== "" && other !== "" && unitOf(from) !== unitOf(to) && lineOf(other) >= lineOf(own);
    });
    expect(shown(wrong)).toEqual([]);
  });

  it("shares only what is meant for all, and nothing of it with the core", () => {
    const shared = imports.filter(
      ({ from, to }) => folderOf(from) !== "" && to.startsWith("src/") && folderOf(to) === "",
    );
    expect(shown(shared.filter(({ from, to }) => !SHARED.includes(to) || folderOf(from) === "core"))).toEqual([]);
  });

  it("has a core that imports nothing", () => {
    expect(shown(imports.filter(({ from, to }) => folderOf(from) === "core" && folderOf(to) !== "core"))).toEqual([]);
  });

  it("has shared files that reach no folder at run time", () => {
    expect(
      shown(imports.filter(({ from, to, isType }) => SHARED.includes(from) && folderOf(to) !== "" && !isType)),
    ).toEqual([]);
  });

  it("imports packages only where they are expected", () => {
    const packages = imports.filter(({ to }) => !to.startsWith("src/") && !to.startsWith("node:"));
    const wrong = packages.filter(({ from, to }) => {
      const folder = folderOf(from);
      return folder !== "adapters" && folder !== "server" && PACKAGES[to]?.includes(folder) !== true;
    });
    expect(shown(wrong)).toEqual([]);
  });

  it("lets no adapter import another", () => {
    const adapters = imports.filter(({ from, to }) => folderOf(from) === "adapters" && folderOf(to) === "adapters");
    expect(shown(adapters.filter(({ from, to }) => unitOf(from) !== unitOf(to)))).toEqual([]);
  });

  it("shows the harness without controls to evaluations alone", () => {
    const seen = imports.filter(({ to }) => to === ABLATION);
    expect(seen.length).toBeGreaterThan(0);
    expect(shown(seen.filter(({ from, to }) => !isAblationForEvals(from, to)))).toEqual([]);
    const outside = filesIn("apps/**/*.ts", "examples/**/*.ts", "scripts/*.mjs", "belay.config.ts");
    expect(outside.filter((file) => read(file).includes("createAblatedHarness"))).toEqual([]);
  });

  it("has a root entry that needs no dependency and of Node only node:crypto", () => {
    const reached = new Set(["src/index.ts"]);
    const foreign: Import[] = [];
    for (const file of reached) {
      for (const found of imports.filter(({ from, isType }) => from === file && !isType)) {
        if (found.to.startsWith("src/")) {
          reached.add(found.to);
        } else if (found.to !== "node:crypto") {
          foreign.push(found);
        }
      }
    }
    expect(reached.size).toBeGreaterThan(20);
    expect(shown(foreign)).toEqual([]);
  });
});

describe("apps and examples", () => {
  const { exports } = JSON.parse(read("package.json")) as { exports: Readonly<Record<string, unknown>> };
  const entries = Object.keys(exports).map((path) => posix.join("belay-harness", path));

  it("import only public entries, and each app nothing of another", () => {
    const found = filesIn("apps/**/*.{ts,tsx}", "examples/**/*.{ts,tsx}").flatMap(importsOf);
    const wrong = found.filter(({ from, to }) => {
      const isOwn = to.startsWith(`${from.split("/").slice(0, 2).join("/")}/`) || dirname(to) === dirname(from);
      const packages = [...APP_PACKAGES, ...(EXAMPLE_PACKAGES[from] ?? [])];
      return !isOwn && !to.startsWith("node:") && !entries.includes(to) && !packages.includes(to);
    });
    expect(found.length).toBeGreaterThan(0);
    expect(shown(wrong)).toEqual([]);
  });
});

describe("ARCHITECTURE.md", () => {
  it("names only files and folders that exist", () => {
    const named = [
      ...read("ARCHITECTURE.md").matchAll(/\b(?:src|apps|test|examples|bench|docs|scripts)\/[\w./-]*[\w/]/g),
    ];
    const paths = [...new Set(named.map(([path]) => path))];
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !existsSync(join(project, path)))).toEqual([]);
  });
});

/** Every import and re-export of a file, dynamic ones included; the parser keeps comments and texts out. */
function importsOf(file: string): Import[] {
  const text = read(file);
  const { program, module, errors } = parseSync(file, text);
  if (errors.length > 0) {
    throw new Error(`${file} cannot be parsed`);
  }
  const found: { readonly specifier: string; readonly isType: boolean }[] = [];
  for (const statement of program.body) {
    if (statement.type === "ImportDeclaration") {
      found.push({ specifier: statement.source.value, isType: statement.importKind === "type" });
    } else if (statement.type === "ExportAllDeclaration" || statement.type === "ExportNamedDeclaration") {
      if (statement.source) {
        found.push({ specifier: statement.source.value, isType: statement.exportKind === "type" });
      }
    }
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const [, specifier] = /^["']([^"']+)["']$/.exec(text.slice(moduleRequest.start, moduleRequest.end)) ?? [];
    if (specifier !== undefined) {
      found.push({ specifier, isType: false });
    }
  }
  return found.map(({ specifier, isType }) => ({ from: file, to: targetOf(file, specifier), isType }));
}

function targetOf(file: string, specifier: string): string {
  return specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier) : specifier;
}

/** `core` for `src/core/index.ts`; nothing for a file of `src/` itself and for what is not in `src/`. */
function folderOf(file: string): string {
  return /^src\/([^/]+)\//.exec(file)?.[1] ?? "";
}

/** What has one door: a folder of `src/`, and in `adapters/` each folder of it. */
function unitOf(file: string): string {
  return /^src\/(?:adapters\/[^/]+|[^/]+)(?=\/)/.exec(file)?.[0] ?? "src";
}

function lineOf(folder: string): number {
  return LINES.findIndex((line) => line.includes(folder));
}

function isAblationForEvals(from: string, to: string): boolean {
  return to === ABLATION && folderOf(from) === "evals";
}

function shown(found: readonly Import[]): string[] {
  return found.map(({ from, to }) => `${from} imports ${to}`);
}
