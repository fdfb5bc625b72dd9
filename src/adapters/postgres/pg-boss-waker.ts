import type { Waker } from "../../engine/index.ts";
import { checkRunKey } from "../../journal/index.ts";
import { createBoss } from "./waker-boss.ts";
import { sendWake } from "./waker-jobs.ts";
import { type PgBossWakerOptions, settingsOf } from "./waker-options.ts";
import { createWakerServer, type WakerServer } from "./waker-server.ts";

/** A waker that holds connections; close what `serve` returned before it. */
export interface PgBossWaker extends Waker, AsyncDisposable {
  close(): Promise<void>;
}

/**
 * Creates a waker on PostgreSQL by pg-boss 12: any number of processes on any number of machines send and serve.
 *
 * A worker shows a sign of life every 3 s while it has a wake; after 10 s of silence another gets it. A wake whose
 * handler throws comes again for ever, with pauses that grow to `redeliveryMs`; every tenth time is an alarm. Connects
 * at the first use. Throws `BELAY_WAKER_INVALID` for options that cannot work; `wake` throws `BELAY_WAKER_FAILED` when
 * PostgreSQL did not store the wake, `BELAY_PEER_MISSING` without the package `pg-boss`, and `BELAY_WAKER_CLOSED` after
 * `close`.
 */
export function createPgBossWaker(options: PgBossWakerOptions): PgBossWaker {
  const settings = settingsOf(options);
  const boss = createBoss(settings);
  const servers = new Set<WakerServer>();
  const close = async (): Promise<void> => {
    await Promise.all([...servers].map((server) => server.close()));
    servers.clear();
    await boss.close();
  };
  return {
    promises: { serialPerRun: true, redeliveryMs: settings.redeliveryMs, survives: "machine" },
    wake: async (wake) => {
      const run = checkRunKey(wake.run);
      const now = settings.clock.now();
      await boss.use(`sending the wake ${wake.key}`, (opened) => sendWake(opened, { ...wake, run }, now));
      if (wake.notBefore === undefined || wake.notBefore <= now) {
        for (const server of servers) server.nudge();
      }
    },
    serve: async (advance) => {
      await boss.load();
      const server = createWakerServer(boss, settings, advance);
      servers.add(server);
      server.nudge();
      return {
        close: async () => {
          servers.delete(server);
          await server.close();
        },
      };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
