import { createHash } from "node:crypto";
import { connect, SendOpts } from "@restatedev/restate-sdk-clients";
import type { Wake, Waker } from "../../engine/index.ts";
import { BelayError } from "../../errors.ts";
import { checkRunKey, type RunKey } from "../../journal/index.ts";
import { registerDeployment } from "./restate-admin.ts";
import { type RestateWakerOptions, settingsOf } from "./restate-options.ts";
import { serviceNames, type WakeMessage } from "./restate-services.ts";
import { openWorker } from "./restate-worker.ts";

export interface RestateWaker extends Waker {
  /** Makes Restate know the services without serving them; `wake` needs that once in the life of a Restate server. */
  register(): Promise<void>;
}

/**
 * Creates a waker on a Restate server: it keeps the wakes and pushes each to one of the workers.
 *
 * Serial for each run on all machines, by an object of Restate per run. A worker that dies is seen by its connection,
 * and its wakes come again within `redeliveryMs`. Throws `BELAY_WAKER_INVALID` for options that cannot work; `wake`,
 * `register` and `serve` throw `BELAY_WAKER_FAILED` when Restate does not answer or refuses.
 */
export function createRestateWaker(options: RestateWakerOptions): RestateWaker {
  const settings = settingsOf(options);
  const { ingressUrl: url, headers, timeoutMs, clock, redeliveryMs } = settings;
  const ingress = connect({ url, headers: { ...headers } });
  const names = serviceNames(settings);
  return {
    promises: { serialPerRun: true, redeliveryMs, survives: "machine" },
    async wake(wake) {
      const run = checkRunKey(wake.run);
      const name = wakeName(run, wake.key);
      const delay = wake.notBefore === undefined ? 0 : Math.max(0, Math.ceil(wake.notBefore - clock.now()));
      const opts = SendOpts.from<WakeMessage>({
        // A second one with this key is dropped until the first has been taken.
        idempotencyKey: name,
        timeout: timeoutMs,
        ...(delay === 0 ? {} : { delay }),
      });
      const { why, key, notBefore } = wake;
      const parameter = { ...run, why, key, ...(notBefore === undefined ? {} : { notBefore }) };
      try {
        await ingress.send<WakeMessage>({ service: names.wake, handler: "fire", key: name, parameter, opts });
      } catch (cause) {
        throw failure(wake, cause);
      }
    },
    async register() {
      const worker = await openWorker(settings, () => Promise.reject(new Error("this worker does not serve")));
      try {
        await registerDeployment(settings);
      } finally {
        await worker.close();
      }
    },
    async serve(advance) {
      const worker = await openWorker(settings, advance);
      try {
        await registerDeployment(settings);
      } catch (error) {
        await worker.close();
        throw error;
      }
      return worker;
    },
  };
}

/** A name of fixed length without a character that an address would have to escape. */
function wakeName({ tenant, runId }: RunKey, key: string): string {
  return createHash("sha256")
    .update(JSON.stringify([tenant, runId, key]))
    .digest("hex");
}

/** The text of an exception may hold addresses, so only its status is shown. */
function failure({ key }: Wake, cause: unknown): BelayError {
  const status = typeof cause === "object" && cause !== null && "status" in cause ? cause.status : undefined;
  const what = `Restate did not store the wake ${key}`;
  if (status === 404) {
    const remedy = "it knows no worker yet: start one, or call register() once";
    return new BelayError("BELAY_WAKER_FAILED", `${what}; ${remedy}`, { cause });
  }
  const detail = typeof status === "number" ? ` (status ${status})` : "";
  return new BelayError("BELAY_WAKER_FAILED", `${what}${detail}; check that the server runs and may be reached`, {
    cause,
  });
}
