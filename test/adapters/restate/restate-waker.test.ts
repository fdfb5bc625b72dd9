import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRestateWaker } from "../../../src/adapters/restate/index.ts";
import { wakerConformance } from "../../../src/testing/index.ts";
import { freePort, type PrivateRestate, restateProgram, startRestate } from "./restate-server.ts";

const found = await restateProgram();
const title = "missing" in found ? `the waker on Restate (skipped: ${found.missing})` : "the waker on Restate";

describe.skipIf("missing" in found)(title, () => {
  let restate: PrivateRestate;
  let names = 0;

  beforeAll(async () => {
    restate = await startRestate("program" in found ? found.program : "");
  }, 120_000);
  afterAll(() => restate[Symbol.asyncDispose]());

  const open = async () => {
    names += 1;
    const { ingressUrl, adminUrl } = restate;
    const listen = { port: await freePort() };
    const make = () => createRestateWaker({ ingressUrl, adminUrl, listen, name: `case${names}`, redeliveryMs: 300 });
    const waker = make();
    await waker.register();
    return { waker, another: async () => make(), close: async () => undefined };
  };

  for (const { name, run } of wakerConformance(open)) {
    it(name, run, 60_000);
  }

  it("refuses a wake while Restate knows no worker, and a worker that Restate cannot reach", async () => {
    const { ingressUrl, adminUrl } = restate;
    const place = { ingressUrl, adminUrl, listen: { port: await freePort() }, name: "unknown" };
    await expect(createRestateWaker(place).wake(WAKE)).rejects.toMatchObject({
      code: "BELAY_WAKER_FAILED",
      message: expect.stringContaining("register()"),
    });
    const deploymentUrl = `http://127.0.0.1:${await freePort()}`;
    const lost = createRestateWaker({ ...place, deploymentUrl });
    await expect(lost.serve(async () => undefined)).rejects.toMatchObject({
      code: "BELAY_WAKER_FAILED",
      message: expect.stringContaining("deploymentUrl"),
    });
  }, 60_000);
});

const WAKE = { run: { tenant: "t", runId: "r" }, why: "start", key: "k" } as const;

it("says what is wrong with its options and with a server that is away, and shows no secret", async () => {
  const apiKey = "s3cr3t-key";
  const urls = { ingressUrl: "http://u:s3cr3t-key@127.0.0.1:1", adminUrl: "http://127.0.0.1:1" };
  const away = createRestateWaker({ ...urls, apiKey, listen: { port: await freePort() } });
  for (const attempt of [away.wake(WAKE), away.register()]) {
    await expect(attempt).rejects.toMatchObject({
      code: "BELAY_WAKER_FAILED",
      message: expect.not.stringContaining(apiKey),
    });
  }
  for (const change of [{ ingressUrl: "no address s3cr3t-key" }, { name: "a b" }, { listen: { port: 0 } }]) {
    expect(() => createRestateWaker({ ...urls, ...change })).toThrow(
      expect.objectContaining({ code: "BELAY_WAKER_INVALID", message: expect.not.stringContaining(apiKey) }),
    );
  }
});
