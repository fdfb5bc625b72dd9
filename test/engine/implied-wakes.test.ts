import { expect, it } from "vitest";
import { createHarness, type Wake, type Waker } from "../../src/index.ts";
import { calls, world } from "./support.ts";

function recordingWaker(): { readonly waker: Waker; readonly sent: Wake[] } {
  const sent: Wake[] = [];
  const waker: Waker = {
    promises: { serialPerRun: true, redeliveryMs: 1000, survives: "machine" },
    wake: async (wake) => {
      sent.push(wake);
    },
    serve: async () => ({ close: async () => undefined }),
  };
  return { waker, sent };
}

it("whoever looks at a run that waits sends the wake that a dead process could not send", async () => {
  // Without a waker: as if the process had died between its last commit and the wake.
  const setup = world([calls(["refund", { order: "A", cents: 5000 }])]);
  const waiting = await setup.harness.run("go").result;
  const { waker, sent } = recordingWaker();
  const next = createHarness({ ...setup.options, waker });
  expect(await next.advance(waiting)).toMatchObject({ status: "waiting" });
  const [approval] = waiting.approvals;
  expect(sent).toEqual([
    {
      run: { tenant: "default", runId: waiting.runId },
      why: "expiry",
      key: `default/${approval?.approvalId}:expiry`,
      notBefore: approval?.expiresAt,
    },
  ]);
});

it("recovery sends nothing for runs that a worker has left to wait", async () => {
  const setup = world([calls(["refund", { order: "A", cents: 5000 }])]);
  await setup.harness.run("go").result;
  const { waker, sent } = recordingWaker();
  let reads = 0;
  const store: typeof setup.options.store = {
    ...setup.options.store,
    read: (...args) => {
      reads += 1;
      return setup.options.store.read(...args);
    },
  };
  expect(await createHarness({ ...setup.options, store, waker }).recover()).toBe(0);
  expect([sent, reads]).toEqual([[], 0]);
});
