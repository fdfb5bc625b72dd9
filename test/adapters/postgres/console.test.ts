import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { verifyInclusion } from "../../../src/audit/index.ts";
import { BANK_CONFIG, belay, jsonOf, makeFolder } from "../../cli/belay.ts";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

const PROJECT = join(import.meta.dirname, "../../..");
// The pages are compiled, so the program is the compiled one.
const MAIN = join(PROJECT, "dist/cli/main.js");
const TIMEOUT_MS = 120_000;
const CONFIG = BANK_CONFIG.replace("people: [", `people: [{ id: "olga", name: "Olga", roles: ["operator"] },`);

interface Program {
  said(what: RegExp): Promise<RegExpExecArray>;
  stop(): Promise<number | null>;
}

/** Starts the program in a folder of its own; its children are ended with the test. */
function start(cwd: string, args: readonly string[], postgres: string): Program {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...process.env, BELAY_POSTGRES: postgres },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    said: async (what) => {
      await expect.poll(() => text, { timeout: 30_000, interval: 20 }).toMatch(what);
      const found = what.exec(text);
      if (found === null) throw new Error(text);
      return found;
    },
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

interface Question {
  readonly approvalId: string;
  readonly runId: string;
  readonly argsHash: string;
}

interface Proof {
  readonly index: number;
  readonly size: number;
  readonly leaf: string;
  readonly root: string;
  readonly proof: readonly string[];
}

describeWithPostgres("the console over PostgreSQL, with a worker beside it", () => {
  const used = useServer();
  beforeAll(() => {
    execFileSync(process.execPath, ["node_modules/.bin/tsc", "-b", "tsconfig.build.json"], { cwd: PROJECT });
  }, TIMEOUT_MS);

  it(
    "one person starts a run, a worker drives it, another person says yes, and the money moves once",
    async () => {
      const folder = makeFolder({ "belay.config.mjs": CONFIG });
      const postgres = used.server.url;
      const worker = start(folder, ["worker"], postgres);
      const console_ = start(folder, ["serve", "--port", "0", "--no-worker"], postgres);
      const [, origin = ""] = await console_.said(/^(http:\/\/127\.0\.0\.1:\d+)$/m);
      await worker.said(/Working/);
      const as = async (person: string) => {
        const token = (await belay(folder, ["people", "token", person])).stdout.trim();
        return async <Answer>(path: string, body?: unknown): Promise<readonly [status: number, answer: Answer]> => {
          const response = await fetch(`${origin}${path}`, {
            method: body === undefined ? "GET" : "POST",
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=20" },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
          return [response.status, (await response.json()) as Answer];
        };
      };
      const [olga, dana] = [await as("olga"), await as("dana")];
      const [begun, run] = await olga<{ readonly runId: string }>("/v1/runs", { app: "bank", input: "pay 500 to ann" });
      expect([200, 202]).toContain(begun);
      const inbox = async (): Promise<readonly Question[]> =>
        (await dana<{ readonly approvals: readonly Question[] }>("/v1/approvals?status=pending"))[1].approvals;
      await expect.poll(inbox, { timeout: 30_000 }).toHaveLength(1);
      const [question] = await inbox();
      expect(question?.runId).toBe(run.runId);
      const decide = `/v1/approvals/${question?.approvalId}:decide`;
      const answer = { answer: "approve", argsHash: question?.argsHash };
      expect((await olga(decide, answer))[0]).toBe(403);
      expect((await dana(decide, answer))[0]).toBe(200);
      const status = async () => (await olga<{ readonly status: string }>(`/v1/runs/${run.runId}`))[1].status;
      await expect.poll(status, { timeout: 30_000 }).toBe("done");
      expect(JSON.parse(readFileSync(join(folder, ".belay/bank.db"), "utf8"))).toMatchObject([
        { account: "ann", amount: 500 },
      ]);
      const [, head] = await dana<{ readonly size: number; readonly root: string }>("/v1/audit/checkpoint");
      for (let seq = 0; seq < head.size; seq += 1) {
        const [, { index, size, leaf, root, proof }] = await dana<Proof>(`/v1/audit/${seq}/proof?size=${head.size}`);
        expect(root).toBe(head.root);
        expect(verifyInclusion({ index, size, leaf, root, proof })).toBe(true);
      }
      expect(await Promise.all([worker.stop(), console_.stop()])).toEqual([0, 0]);
      const verified = await belay(folder, ["audit", "verify", "--json"], { BELAY_POSTGRES: postgres });
      expect([verified.code, jsonOf<{ readonly size: number }>(verified).size]).toEqual([0, head.size]);
    },
    TIMEOUT_MS,
  );
});
