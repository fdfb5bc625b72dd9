import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BadImage, chooseCuts, cutPower, seededRandom } from "./cut-power.ts";
import type { Mutant } from "./protocol.ts";
import { compileRecorder, recordWorkload, type Workload, whyNot } from "./record-workload.ts";

// `npm run test:powercut` takes many more.
const IMAGES = Number(process.env["POWERCUT_IMAGES"] ?? 300);
const MUTANT_IMAGES = 30;
const SEED = Number(process.env["POWERCUT_SEED"] ?? 20_261_130);
const TEST_MS_MAX = 120_000 + IMAGES * 1000;

const reason = whyNot();

describe.skipIf(reason !== undefined)(`power cuts${reason === undefined ? "" : ` (skipped: ${reason})`}`, () => {
  let folder = "";
  let images = "";
  let library = "";
  const recorded = new Map<Mutant, Promise<Workload>>();
  const workload = (mutant: Mutant): Promise<Workload> => {
    const running = recorded.get(mutant) ?? recordWorkload(folder, library, mutant);
    recorded.set(mutant, running);
    return running;
  };
  const badImages = async (mutant: Mutant, count: number): Promise<readonly BadImage[]> => {
    const work = await workload(mutant);
    const random = seededRandom(SEED);
    return cutPower(work, chooseCuts(work.ops, count, random), images, random);
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "belay-powercut-"));
    // An image is opened once and thrown away: it need not reach a disk.
    images = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : folder, "belay-powercut-images-"));
    library = compileRecorder(folder);
  });
  afterAll(() => {
    for (const made of [folder, images]) rmSync(made, { recursive: true, force: true });
  });

  it("the record covers what matters: commits, checkpoints of the file, new and removed files", async () => {
    const { ops, acknowledgements } = await workload("none");
    const count = (kind: string, name: RegExp) =>
      ops.filter(({ op }) => op.kind === kind && "name" in op && name.test(op.name)).length;
    expect(acknowledgements.filter(({ kind }) => kind === "commit").length).toBeGreaterThan(200);
    expect(acknowledgements.filter(({ kind }) => kind === "effect").length).toBeGreaterThan(40);
    expect(count("write", /-wal$/)).toBeGreaterThan(1000);
    expect(count("sync", /-wal$/)).toBeGreaterThan(200);
    expect(count("sync", /db$/)).toBeGreaterThan(2);
    expect(count("unlink", /-wal$/)).toBe(2);
    expect(ops.filter(({ op }) => op.kind === "sync_folder").length).toBeGreaterThan(1);
    expect(ops.some(({ op }) => "name" in op && op.name.endsWith("-shm"))).toBe(false);
  });

  it(
    `of ${IMAGES} disks after a power cut (seed ${SEED}) each opens, is whole, verifies, and has all that was acknowledged`,
    async () => {
      expect(await badImages("none", IMAGES)).toEqual([]);
    },
    TEST_MS_MAX,
  );

  it.each(["normal", "early", "lie"] as const)(
    "bites: with the fault %s, acknowledged events are lost",
    async (mutant) => {
      const bad = await badImages(mutant, MUTANT_IMAGES);
      const lost = bad.filter(({ faults }) => faults.some(({ kind }) => kind === "events_lost"));
      expect(lost.length).toBeGreaterThan(0);
      // A disk that only lost the end of its log is still whole; one that lies about order need not be.
      if (mutant !== "lie")
        expect(bad.flatMap(({ faults }) => faults.map(({ kind }) => kind))).not.toContain("damaged");
    },
    TEST_MS_MAX,
  );
});
