import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { comparabilityProblems, parseDocument } from "../../src/evals/index.ts";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const CONFIG = ["--config", join(import.meta.dirname, "../../belay.config.ts")];
const TIMEOUT_MS = 180_000;
const G033 = "Is SKU-1008 at or below its reorder point? If so, raise an urgent restock request for 20 units.";

function evaluate(folder: string, args: readonly string[]): ReturnType<typeof belay> {
  return belay(folder, ["eval", "stockroom", ...args, ...CONFIG]);
}

describe("belay eval --tools", () => {
  it("reaches the same metrics through each boundary, and says which one it was", { timeout: TIMEOUT_MS }, async () => {
    const folder = makeFolder({});
    const local = await evaluate(folder, ["--out", "local.json"]);
    expect([local.code, local.stderr]).toEqual([0, "wrote local.json\n"]);
    expect(local.stdout).toMatch(/^cases +50\n/);
    const documentOf = (mode: string) => parseDocument(readFileSync(join(folder, `${mode}.json`), "utf8"), mode);
    const here = documentOf("local");
    expect(here.subject.transport).toBe("local");
    for (const mode of ["mcp", "mcp-http", "mcp-stdio"]) {
      const through = await evaluate(folder, ["--tools", mode, "--out", `${mode}.json`]);
      expect(through, mode).toEqual({ ...local, stderr: `wrote ${mode}.json\n` });
      const there = documentOf(mode);
      const unseen = mode === "mcp-stdio" ? { effect_match: null, untrue_claims: null } : {};
      expect(there.metrics).toEqual({ reference: { ...here.metrics["reference"], ...unseen } });
      expect(there.cases).toEqual(here.cases);
      expect(comparabilityProblems(there.subject, here.subject)).toEqual([
        `not comparable: transport is ${mode}, and the baseline has local`,
      ]);
    }
  });

  it("gives the other side the weaknesses of this one", { timeout: TIMEOUT_MS }, async () => {
    const folder = makeFolder({});
    const args = ["--case", "G014", "--weaknesses", "ambiguous_tool_desc"];
    const outcome = await evaluate(folder, [...args, "--tools", "mcp-stdio"]);
    expect(outcome.code).toBe(1);
    expect(outcome.stdout).toContain("search_products");
    expect(outcome).toEqual(await evaluate(folder, args));
  });

  it("does not believe that a world in this process shows what another one did", { timeout: TIMEOUT_MS }, async () => {
    const folder = makeFolder({});
    const far = { BELAY_MCP_URL: "http://127.0.0.1:9/mcp" };
    const refused = await Promise.all([
      belay(folder, ["eval", "shop", "--tools", "mcp-stdio", ...CONFIG]),
      belay(folder, ["eval", "shop", "--tools", "mcp-http", ...CONFIG], far),
      belay(folder, ["eval", "stockroom", "--suite", "guards", "--tools", "mcp-stdio", ...CONFIG]),
      belay(folder, ["eval", "stockroom", "--tools", "nope", ...CONFIG]),
      belay(folder, ["gate", "stockroom", "--tools", "mcp-stdio", ...CONFIG]),
    ]);
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2]);
    expect(refused[0]?.stderr).toContain("40 of 40 case(s) of the suite reference of shop look at the app's data");
    expect(refused[1]?.stderr).toContain("with --tools mcp-http the tools work on data of another process");
    expect(refused[2]?.stderr).toContain("of the suite guards of stockroom look at the app's data");
    expect(refused[3]?.stderr).toContain("local, mcp, mcp-stdio, mcp-http");
    expect(refused[4]?.stderr).toContain("A gate holds what agents say against the app's data");
  });
});

describe("belay run --tools", () => {
  it("gives the same answer and the same log of transitions", { timeout: TIMEOUT_MS }, async () => {
    const told = async (mode: string): Promise<string> => {
      const run = await belay(makeFolder({}), ["run", "stockroom", G033, "--transitions", "--tools", mode, ...CONFIG]);
      expect([run.code, run.stderr], mode).toEqual([0, ""]);
      return run.stdout.replaceAll(/\brun_\w+/g, "run_X");
    };
    const local = await told("local");
    expect(local).toContain("Created restock request RSR-0001 for 20 units of SKU-1008");
    expect(local.match(/^ {2}\d {2}[A-Z_]+ -> [A-Z_]+ /gm)).toHaveLength(8);
    expect(await told("mcp")).toBe(local);
    expect(await told("mcp-stdio")).toBe(local);
  });

  it("works on the project's own data in a child too", { timeout: TIMEOUT_MS }, async () => {
    const folder = makeFolder({});
    const refund = async (mode: string): Promise<{ answer?: string }> => {
      const message = "My lamp from order O-1001 arrived broken. Please refund Rs 1,500.";
      const args = ["run", "shop", message, "--as", "C-01", "--tools", mode, "--json", ...CONFIG];
      return jsonOf(await belay(folder, args));
    };
    const [first, second] = [await refund("mcp-stdio"), await refund("local")];
    expect(first.answer).toContain("I refunded Rs 1,500 on order O-1001");
    expect(second.answer).not.toContain("I refunded");
  });
});
