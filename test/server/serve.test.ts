import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";

const project = join(import.meta.dirname, "../..");
const TIMEOUT_MS = 120_000;

interface Program {
  readonly child: ChildProcess;
  readonly text: () => string;
  /** Waits for a line on stdout or stderr. */
  said(what: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<number | null>;
}

/** Starts the compiled program, as `npm start` and the containers do. */
function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
  const { NODE_OPTIONS: _1, BELAY_DEBUG: _2, ...inherited } = process.env;
  const child = spawn(process.execPath, ["dist/cli/main.js", ...args], { cwd: project, env: { ...inherited, ...env } });
  let text = "";
  const listeners = new Set<() => void>();
  const take = (chunk: Buffer): void => {
    text += chunk.toString("utf8");
    for (const listener of [...listeners]) listener();
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    child,
    text: () => text,
    ended,
    said: (what) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = what.exec(text);
          if (found === null) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
        void ended.then((code) => reject(new Error(`it ended with ${code} before it said ${what}:\n${text}`)));
      }),
  };
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "belay-serve-"));
  mkdirSync(join(made, "results"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function run(args: readonly string[]): string {
  return execFileSync(process.execPath, ["dist/cli/main.js", ...args], { cwd: project, encoding: "utf8" });
}

beforeAll(() => {
  execFileSync(process.execPath, ["node_modules/.bin/tsc", "-b", "tsconfig.build.json"], { cwd: project });
}, TIMEOUT_MS);

const ADDRESS = /^(http:\/\/127\.0\.0\.1:\d+)$/m;

describe("belay serve", () => {
  it(
    "tells a finished conversation, prints its address and a link for each person, and ends in order",
    async () => {
      const db = join(folder(), "belay.db");
      const server = start(["serve", "--port", "0", "--db", db]);
      const [, origin = ""] = await server.said(ADDRESS);
      await server.said(/Each link works once/);
      expect(server.text()).toMatch(/done {6}issue_refund/);
      expect(server.text()).toMatch(/I refunded Rs 1,500 on order O-1001\./);
      const links = [...server.text().matchAll(/^(\w+) \(([\w, ]+)\): (\S+\/sign-in\?token=\S+)$/gm)];
      expect(links.map(([, name]) => name)).toEqual(["Olga", "Dana", "Lee", "Vik"]);
      expect((await fetch(`${origin}/readyz`)).status).toBe(200);
      const results = () => readdirSync(join(dirname(db), "results")).filter((name) => name.endsWith(".json"));
      await expect.poll(results, { timeout: 60_000 }).toHaveLength(2);
      expect((await fetch(`${origin}/v1/runs`)).status).toBe(401);

      const page = await fetch(links[1]?.[3] ?? "");
      const html = await page.text();
      const cookie = page.headers
        .getSetCookie()
        .map((each) => each.split(";")[0])
        .join("; ");
      const csrf = /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? "";
      const token = new URL(links[1]?.[3] ?? origin).searchParams.get("token") ?? "";
      const signedIn = await fetch(`${origin}/sign-in`, {
        method: "POST",
        redirect: "manual",
        headers: { cookie, "sec-fetch-site": "same-origin" },
        body: new URLSearchParams({ csrf, token, next: "/" }),
      });
      expect(signedIn.status).toBe(303);
      const session = signedIn.headers
        .getSetCookie()
        .map((each) => each.split(";")[0])
        .join("; ");
      const evaluations = await (await fetch(`${origin}/evaluations`, { headers: { cookie: session } })).text();
      expect(evaluations).toContain("shop, suite reference");
      expect(evaluations).toContain("40 of 40");
      expect(evaluations).toContain("belay ablate shop");
      const inbox = await fetch(`${origin}/v1/approvals?status=pending`, { headers: { cookie: session } });
      const { approvals } = (await inbox.json()) as {
        approvals: { args: unknown; approvalId: string; argsHash: string }[];
      };
      expect(approvals.length).toBeGreaterThan(0);

      const dana = run(["people", "token", "dana", "--db", db]).trim();
      const [question] = approvals;
      const decided = await fetch(`${origin}/v1/approvals/${question?.approvalId}:decide`, {
        method: "POST",
        headers: { authorization: `Bearer ${dana}`, "content-type": "application/json" },
        body: JSON.stringify({ answer: "approve", argsHash: question?.argsHash }),
      });
      expect([decided.status, await decided.json()]).toEqual([200, expect.objectContaining({ isLookedAt: true })]);
      run(["people", "revoke", "dana", "--db", db]);
      const after = await fetch(`${origin}/v1/approvals`, { headers: { authorization: `Bearer ${dana}` } });
      expect(after.status).toBe(401);

      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(run(["audit", "verify", "--db", db])).toMatch(/intact|ok/i);
      const again = start(["serve", "--port", "0", "--db", db]);
      await again.said(/Each link works once/);
      expect(again.text()).not.toContain("I refunded");
      expect(again.text()).not.toContain("Dana (");
      again.child.kill("SIGINT");
      expect(await again.ended).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    "works with a worker in another process, as the containers do, and survives either being killed",
    async () => {
      const db = join(folder(), "belay.db");
      const server = start(["serve", "--port", "0", "--db", db, "--no-worker"]);
      const [, origin = ""] = await server.said(ADDRESS);
      const olga = run(["people", "token", "olga", "--db", db]).trim();
      const post = (text: string) =>
        fetch(`${origin}/v1/runs`, {
          method: "POST",
          headers: { authorization: `Bearer ${olga}`, "content-type": "application/json", prefer: "wait=20" },
          body: JSON.stringify({ app: "shop", input: text, customer: "C-02" }),
        });
      const early = post("Hi, where is my order O-1002?");
      const worker = start(["work", "--db", db]);
      await worker.said(/Working/);
      expect(await (await early).json()).toMatchObject({ status: "done" });
      worker.child.kill("SIGKILL");
      await worker.ended;
      const late = post("Where is order O-1002 now?");
      const next = start(["work", "--db", db]);
      expect(await (await late).json()).toMatchObject({ status: "done" });
      for (const { child, ended } of [next, server]) {
        child.kill("SIGTERM");
        expect(await ended).toBe(0);
      }
    },
    TIMEOUT_MS,
  );

  it(
    "exits 2 with a code when it cannot serve: a taken port, and a host that others reach without people",
    async () => {
      const db = join(folder(), "belay.db");
      const first = start(["serve", "--port", "0", "--db", db]);
      const [, origin = ""] = await first.said(ADDRESS);
      const taken = start(["serve", "--port", new URL(origin).port, "--db", join(folder(), "other.db")]);
      expect(await taken.ended).toBe(2);
      expect(taken.text()).toContain("(BELAY_SERVER_ADDRESS)");
      const named = start([
        "serve",
        "--port",
        "0",
        "--model",
        "http://127.0.0.1:9/v1#m",
        "--db",
        join(folder(), "m.db"),
      ]);
      expect(await named.ended).toBe(2);
      expect(named.text()).toContain("(BELAY_PRICE_UNKNOWN)");
      const config = join(project, "test/server/fixtures/no-people.config.mjs");
      const open = start([
        "serve",
        "--port",
        "0",
        "--host",
        "0.0.0.0",
        "--config",
        config,
        "--db",
        join(folder(), "c.db"),
      ]);
      expect(await open.ended).toBe(2);
      expect(open.text()).toContain("(BELAY_PEOPLE_MISSING)");
      first.child.kill("SIGTERM");
      expect(await first.ended).toBe(0);
    },
    TIMEOUT_MS,
  );
});
