import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { belay } from "./belay.ts";
import { begun, courierFolder, itStopsInOrder, runOf, start, told } from "./courier.ts";

const TIMEOUT_MS = 60_000;

it(
  "belay run, told to end in the middle of a call, records what the call came to and leaves the run to go on with",
  async () => {
    const folder = courierFolder();
    const program = start(folder, ["run", "courier", "ship 1500"]);
    await begun(folder);
    program.child.kill("SIGTERM");
    expect([await program.ended, program.text()]).toEqual([
      0,
      expect.stringContaining("belay recover goes on with it"),
    ]);
    const { runId, status } = await runOf(folder);
    expect(status).toBe("running");
    expect(program.text()).toContain(runId);
    expect(told(folder).filter((line) => line.startsWith("shipped"))).toHaveLength(1);
    expect((await belay(folder, ["recover"])).stdout).toContain(`${runId}  done`);
    expect(told(folder)).toEqual(["begin 1", expect.stringContaining("shipped")]);
  },
  TIMEOUT_MS,
);

it(
  "a second signal does not wait, and the run goes on by the recovery class of its call",
  async () => {
    for (const [signal, code] of [
      ["SIGTERM", 143],
      ["SIGINT", 130],
    ] as const) {
      const folder = courierFolder();
      const program = start(folder, ["run", "courier", "ship 50000"]);
      await begun(folder);
      program.child.kill("SIGTERM");
      // The first one has to have been taken before the second one counts.
      await sleep(200);
      program.child.kill(signal);
      expect(await program.ended).toBe(code);
      expect((await runOf(folder)).status).toBe("running");
      expect(told(folder)).toEqual(["begin 1"]);
    }
  },
  TIMEOUT_MS,
);

itStopsInOrder(["work"]);
