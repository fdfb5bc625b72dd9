/** Child process: serves with a wake far in the future and has nothing else to do. */
import { createInProcessWaker } from "../../../src/engine/in-process-waker.ts";

const waker = createInProcessWaker();
await waker.serve(async () => undefined);
await waker.wake({ run: { tenant: "t", runId: "r" }, why: "expiry", key: "k", notBefore: Date.now() + 60_000 });
