import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { belay, makeFolder } from "../../cli/belay.ts";

const TIMEOUT_MS = 60_000;
const PROJECT = join(import.meta.dirname, "../../..");
const CONFIG = ["--config", join(PROJECT, "belay.config.ts")];
const G033 = "Is SKU-1008 at or below its reorder point? If so, raise an urgent restock request for 20 units.";

describe("the stockroom on the command line", () => {
  it(
    "answers G033 and prints its eight transitions",
    async () => {
      const folder = makeFolder({});
      const { code, stdout } = await belay(folder, ["run", "stockroom", G033, "--transitions", ...CONFIG]);
      expect(code).toBe(0);
      expect(stdout).toContain("Created restock request RSR-0001 for 20 units of SKU-1008 (Cordless Drill Driver 18V)");
      expect(stdout.split("\n").filter((line) => line.includes(" -> "))).toEqual([
        "  0  PLAN -> CALL_MODEL  start",
        "  1  CALL_MODEL -> EXECUTE_TOOLS  1 tool call(s)",
        "  1  EXECUTE_TOOLS -> OBSERVE  tool results appended",
        "  1  OBSERVE -> CALL_MODEL  observe → call model",
        "  2  CALL_MODEL -> EXECUTE_TOOLS  1 tool call(s)",
        "  2  EXECUTE_TOOLS -> OBSERVE  tool results appended",
        "  2  OBSERVE -> CALL_MODEL  observe → call model",
        "  3  CALL_MODEL -> DONE  stop_reason:end_turn",
      ]);
      const again = await belay(folder, ["run", "stockroom", G033, ...CONFIG]);
      expect(again.stdout).toContain("RSR-0001");
    },
    TIMEOUT_MS,
  );

  it(
    "evaluates the golden cases, and fails with a weakness",
    async () => {
      const folder = makeFolder({});
      const sound = await belay(folder, ["eval", "stockroom", ...CONFIG]);
      expect([sound.code, sound.stderr]).toEqual([0, expect.stringMatching(/^wrote \.belay\/results\/\S+\n$/)]);
      expect(sound.stdout).toMatch(/^cases +50\ntool_selection_accuracy +1\.00\nanswer_correctness +1\.00\n/);
      expect(sound.stdout).toContain("\nGATE: PASS\n");
      const weaknesses = ["--weaknesses", "ambiguous_tool_desc,oversized_payload,naive_retry,injection_unguarded"];
      const weak = await belay(folder, ["eval", "stockroom", ...weaknesses, ...CONFIG]);
      expect(weak.code).toBe(1);
      expect(weak.stdout).toMatch(/tool_selection_accuracy +0\.56\nanswer_correctness +0\.62\n/);
      const fromEnvironment = await belay(folder, ["eval", "stockroom", ...CONFIG], {
        STOCKROOM_WEAKNESSES: "injection_unguarded",
      });
      expect(fromEnvironment.stdout).toMatch(/must_not_call_ok_rate +0\.94\n/);
    },
    TIMEOUT_MS,
  );

  it(
    "refuses a weakness that there is not, and one for an app that has none",
    async () => {
      const folder = makeFolder({});
      const unknown = await belay(folder, ["eval", "stockroom", "--weaknesses", "lazy", ...CONFIG]);
      expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("(BELAY_WEAKNESS_UNKNOWN)")]);
      const shop = await belay(folder, ["eval", "shop", "--weaknesses", "naive_retry", ...CONFIG]);
      expect([shop.code, shop.stderr]).toEqual([2, expect.stringContaining("has no weaknesses to switch on")]);
    },
    TIMEOUT_MS,
  );
});
