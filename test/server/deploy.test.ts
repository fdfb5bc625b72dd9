import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { findCommand } from "../../src/cli/commands.ts";
import { parseArguments } from "../../src/cli/parse-arguments.ts";

const project = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(project, file), "utf8");
const manifestOf = (name: string) =>
  JSON.parse(read(`node_modules/${name}/package.json`)) as { readonly dependencies?: Readonly<Record<string, string>> };

interface Service {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly user: string;
  readonly [key: string]: unknown;
}

const SECRET_NAMES = /secret|token|password|api_?key/i;

/** Instructions of a container file, continued lines joined. */
function instructions(): readonly { readonly name: string; readonly rest: string }[] {
  return read("Containerfile")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => ({ name: line.split(" ")[0] ?? "", rest: line.slice(line.indexOf(" ") + 1) }));
}

/** What starts a process: `node dist/cli/main.js` and a command that the program knows with these options. */
function checkStart(words: readonly string[]): void {
  const [node, main, ...args] = words;
  expect([node, main]).toEqual(["node", "dist/cli/main.js"]);
  const { command, rest } = findCommand(args.map((word) => word.replaceAll(/\$\{\w+:-?([^}]*)\}/g, "x")));
  parseArguments(command, rest);
}

describe("Containerfile", () => {
  const all = instructions();
  const last = all.slice(all.findLastIndex(({ name }) => name === "FROM"));

  it("pins its base to the version that is tested, and runs as somebody who is not root", () => {
    const { devDependencies } = JSON.parse(read("package.json")) as { devDependencies: { node: string } };
    for (const { rest } of all.filter(({ name }) => name === "FROM")) {
      expect(rest).toMatch(new RegExp(`^docker\\.io/library/node:${devDependencies.node}-\\S+`));
    }
    const user = last.findIndex(({ name }) => name === "USER");
    expect(last[user]?.rest).toBe("node");
    expect(last.slice(user).filter(({ name }) => ["RUN", "COPY", "ADD"].includes(name))).toEqual([]);
  });

  it("holds no secret, fetches nothing by itself, and keeps data on a volume", () => {
    for (const { name, rest } of all) {
      expect(["FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"]).toContain(
        name,
      );
      expect(rest).not.toMatch(SECRET_NAMES);
      if (name === "RUN") expect(rest).not.toMatch(/curl|wget|npm install|sudo/);
    }
    const ignored = read(".dockerignore").split("\n");
    expect(ignored).toEqual(expect.arrayContaining([".git", ".env*", "*.pem", "*.db", ".belay", "node_modules"]));
    expect(last.find(({ name }) => name === "VOLUME")?.rest).toBe("/data");
    expect(last.find(({ name }) => name === "HEALTHCHECK")?.rest).toContain("/healthz");
  });

  it("brings every package that serving needs", () => {
    const copied = last.flatMap(({ rest }) =>
      [...rest.matchAll(/^--from=build \/build\/node_modules\/(\S+) /g)].map(([, name]) => name),
    );
    const needed = new Set(["hono", "@hono/node-server", "@hono/zod-openapi", "zod"]);
    for (const name of needed) for (const more of Object.keys(manifestOf(name).dependencies ?? {})) needed.add(more);
    const missing = [...needed].filter((name) => !copied.includes(name) && !copied.includes(name.split("/")[0]));
    expect(missing).toEqual([]);
  });

  it("starts by commands that the program knows", () => {
    checkStart(JSON.parse(last.find(({ name }) => name === "CMD")?.rest ?? "[]") as string[]);
  });
});

describe("compose.yaml", () => {
  const { services, volumes } = parse(read("compose.yaml")) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: object;
  };

  it("has a server and a worker over one volume, each with no rights that it does not need", () => {
    expect(Object.keys(services)).toEqual(["server", "worker"]);
    expect(Object.keys(volumes)).toEqual(["data"]);
    for (const service of Object.values(services)) {
      expect(service.volumes).toEqual(["data:/data"]);
      expect(service).toMatchObject({
        user: "node",
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        restart: "unless-stopped",
      });
      expect(service["privileged"]).toBeUndefined();
      checkStart(service.command);
    }
  });

  it("takes secrets from the environment alone, and shows the server to this machine alone", () => {
    for (const { environment = {} } of Object.values(services)) {
      for (const value of Object.values(environment)) expect(value).toMatch(/^\$\{\w+:[-?][^}]*\}$/);
    }
    expect(services["server"]?.ports).toEqual(["127.0.0.1:4180:4180"]);
    expect(JSON.stringify(services["server"]?.["healthcheck"])).toContain("/readyz");
    expect(services["worker"]?.ports).toBeUndefined();
  });
});
