import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { belay, makeFolder } from "../../cli/belay.ts";

const TIMEOUT_MS = 60_000;
const CONFIG = ["--config", join(import.meta.dirname, "../../../belay.config.ts")];

describe("the shop on the command line", () => {
  it.each(["deleted", "emptied"])(
    "pays nothing from a shop that is made anew: the file was %s between question and answer",
    async (how) => {
      const folder = makeFolder({});
      const world = join(folder, ".belay", "shop.db");
      const asked = await belay(folder, ["run", "shop", "Please refund O-1005.", "--json", ...CONFIG]);
      const { approvals } = JSON.parse(asked.stdout);
      for (const file of [world, `${world}-wal`, `${world}-shm`]) {
        rmSync(file, { force: true });
      }
      if (how === "emptied") {
        writeFileSync(world, "");
      }
      for (const command of [
        ["approve", approvals[0].approvalId, "--by", "dana"],
        ["run", "shop", "Please refund O-1001."],
      ]) {
        const { code, stdout, stderr } = await belay(folder, [...command, ...CONFIG]);
        expect([code === 0, stdout]).toEqual([false, ""]);
        expect(stderr).toContain("(BELAY_WORLD_INVALID)");
        expect(stderr).toContain(world);
      }
      await belay(folder, ["recover", ...CONFIG]);
      expect(existsSync(world)).toBe(how === "emptied");
    },
    TIMEOUT_MS,
  );

  it(
    "lets the desk speak for every customer, and a customer only for themselves",
    async () => {
      const folder = makeFolder({});
      const desk = await belay(folder, ["run", "shop", "Where is O-1001?", ...CONFIG]);
      expect(desk.stdout).toContain("Ceramic table lamp");
      for (const customer of ["alice@example.com", "front-desk", "C-02"]) {
        const other = await belay(folder, ["run", "shop", "Where is O-1001?", "--as", customer, ...CONFIG]);
        expect(other.stdout).toContain("I can't find order O-1001");
      }
    },
    TIMEOUT_MS,
  );
});
