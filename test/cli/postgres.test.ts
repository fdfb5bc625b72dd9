import { afterAll, beforeAll, expect, it } from "vitest";
import { createPostgresStore } from "../../src/adapters/postgres/index.ts";
import { postgresAddress } from "../../src/cli/postgres-place.ts";
import * as sample from "../../src/testing/index.ts";
import { describeWithPostgres, type PrivatePostgres, startPostgres } from "../adapters/postgres/private-postgres.ts";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 120_000;

interface RunJson {
  readonly runId: string;
  readonly status: string;
  readonly approvals: readonly { readonly approvalId: string }[];
}

describeWithPostgres("the commands over a store in PostgreSQL", () => {
  let server: PrivatePostgres;
  let address = "";
  beforeAll(async () => {
    server = await startPostgres();
    const url = new URL(server.url);
    url.password = "s3cret";
    address = url.href;
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  it(
    "run, list, show, ask, answer, verify and check, and never print the password",
    async () => {
      const folder = makeFolder();
      const env = { BELAY_POSTGRES: address };
      const printed: string[] = [];
      const call = async (args: readonly string[], more: Readonly<Record<string, string>> = env) => {
        const outcome = await belay(folder, args, more);
        printed.push(outcome.stdout, outcome.stderr);
        return outcome;
      };
      const missing = await call(["runs"]);
      expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("(BELAY_STORE_MISSING)")]);
      const run = jsonOf<RunJson>(await call(["run", "bank", "pay 500 to alice", "--json", "--postgres", address], {}));
      const approvalId = run.approvals[0]?.approvalId ?? "none";
      expect((await call(["runs"])).stdout).toContain(run.runId);
      expect((await call(["show", run.runId])).stdout).toContain("ABOVE_AUTO");
      expect((await call(["approvals"])).stdout).toContain(approvalId);
      const approved = await call(["approve", approvalId, "--by", "dana"]);
      expect([approved.code, approved.stdout]).toEqual([0, expect.stringContaining("Done.")]);
      expect((await call(["recover", "--json"])).stdout.trim()).toBe("[]");
      const key = ["--key-file", `${folder}/key.pem`];
      expect((await call(["audit", "checkpoint", ...key])).code).toBe(0);
      expect((await call(["audit", "verify", ...key])).code).toBe(0);
      expect((await call(["audit", "show", "0"])).stdout).toContain("run.started");
      const doctor = await call(["doctor", ...key]);
      expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining("is PostgreSQL 1")]);
      expect((await call(["doctor", "--rebuild", ...key])).stdout).toContain("are what the journal says");
      // Nothing of this went into a file.
      expect((await call(["runs"], {})).stderr).toContain("(BELAY_STORE_MISSING)");
      expect((await call(["work"])).stderr).toContain("belay worker");
      await server.stop();
      expect((await call(["runs"])).stderr).toContain("(BELAY_STORE_UNAVAILABLE)");
      await server.restart();
      expect(printed.join("\n")).not.toContain("s3cret");
    },
    TIMEOUT_MS,
  );

  it(
    "gc removes what is old there, and audit verify agrees with what is left",
    async () => {
      const env = { BELAY_POSTGRES: address };
      {
        await using store = await createPostgresStore({ connectionString: address });
        const events = [
          sample.runStarted("default", "old"),
          { type: "model.requested", reserved: { inputTokens: 1, outputTokens: 1, costNanoUsd: 1 } } as const,
          sample.repliedFinal("done"),
          sample.runEnded(),
        ];
        const entries = events.map((event) => ({ at: sample.SAMPLE_AT, event }));
        await store.commit({ run: { tenant: "default", runId: "old" }, head: 0, entries });
      }
      const gc = async (...args: readonly string[]) => {
        const printed = await belay(makeFolder(), ["gc", "--older-than", "30d", "--json", ...args], env);
        return jsonOf<{ readonly runs: number; readonly events: number }>(printed);
      };
      expect(await gc("--dry-run")).toMatchObject({ runs: 1, events: 4 });
      expect(await gc()).toMatchObject({ runs: 1, events: 4 });
      expect(await gc()).toMatchObject({ runs: 0, events: 0, kept: { "it is retired already": 1 } });
      const folder = makeFolder();
      expect((await belay(folder, ["audit", "verify"], env)).code).toBe(0);
      const doctor = jsonOf<{ readonly checks: readonly { readonly name: string; readonly status: string }[] }>(
        await belay(folder, ["doctor", "--json"], env),
      );
      expect(doctor.checks.find(({ name }) => name === "derived tables")?.status).toBe("ok");
    },
    TIMEOUT_MS,
  );
});

it("an address that is not one of PostgreSQL is refused and not shown", async () => {
  for (const address of ["s3cret", "mysql://me:s3cret@host/db", ""]) {
    const outcome = await belay(makeFolder(), ["runs", `--postgres=${address}`]);
    expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining("(BELAY_USAGE)")]);
    expect(outcome.stderr).not.toContain("s3cret");
  }
});

it("without an option or the variable the runs are in the file", () => {
  const input = { options: {} } as Parameters<typeof postgresAddress>[0];
  expect(postgresAddress(input, {})).toBeUndefined();
  expect(postgresAddress(input, { BELAY_POSTGRES: "" })).toBeUndefined();
  expect(postgresAddress(input, { BELAY_POSTGRES: "postgresql://host/db" })).toBe("postgresql://host/db");
});
