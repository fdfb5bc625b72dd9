import type { Wake } from "../../engine/index.ts";
import { finishTogether } from "./finish-together.ts";
import { type Boss, LATER_QUEUE, WAKE_QUEUE } from "./waker-boss.ts";
import { finishWakes, keepWakes, moveDueWakes, returnWake, type TakenWake, takeWakes } from "./waker-jobs.ts";
import type { PgBossSettings } from "./waker-options.ts";

export type Advance = (wake: Wake, signal: AbortSignal) => Promise<void>;

export interface WakerServer {
  /** Looks for due wakes now. */
  nudge(): void;
  close(): Promise<void>;
}

// A third of what pg-boss waits for a sign of life, so that one lost statement costs no wake.
const KEEP_MS = 3000;
const SUPERVISE_MS = 1000;
const MOVE_MS = 1000;
const SUPERVISE_LATER_MS = 60_000;
const FIRST_PAUSE_MS = 20;
/** A wake that has come so often is shown to a person; it goes on coming. */
const STUCK_ATTEMPTS = 10;

export function createWakerServer(boss: Boss, settings: PgBossSettings, advance: Advance): WakerServer {
  const { concurrency, pollMs, onAlarm } = settings;
  const stop = new AbortController();
  const finish = finishTogether((done: readonly TakenWake[]) =>
    boss.use("ending wakes", (opened) => finishWakes(opened, done)),
  );
  const held = new Map<TakenWake, Promise<void>>();
  let looking: Promise<void> | undefined;
  let isNudged = false;
  let isDown = false;

  /** One alarm for each time that the database goes away, not one for each look. */
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      isDown = false;
    } catch (cause) {
      if (!isDown && !stop.signal.aborted) onAlarm({ code: "WAKER_UNREACHABLE", cause });
      isDown = true;
    }
  };
  const look = async (): Promise<void> => {
    do {
      isNudged = false;
      const count = concurrency - held.size;
      if (stop.signal.aborted || count <= 0) return;
      const taken = await boss.use("taking wakes", (opened) => takeWakes(opened, count));
      for (const item of taken) start(item);
      // A full batch means that more are waiting.
      isNudged ||= taken.length === count;
    } while (isNudged);
  };
  const start = (item: TakenWake): void => {
    const delivery = deliver({ boss, settings, advance, finish }, item, stop.signal).finally(() => {
      held.delete(item);
      nudge();
    });
    held.set(item, delivery);
  };
  const nudge = (): void => {
    isNudged = true;
    looking ??= attempt(look).finally(() => {
      looking = undefined;
    });
  };
  const move = async (): Promise<void> => {
    if ((await boss.use("moving wakes", moveDueWakes)) > 0) nudge();
  };
  const supervise = (queue: string) => () =>
    attempt(() => boss.use("supervising", (opened) => opened.supervise(queue)));
  const keeping = setInterval(() => {
    if (held.size > 0) void attempt(() => boss.use("keeping wakes", (opened) => keepWakes(opened, [...held.keys()])));
  }, KEEP_MS);
  const timers = [
    setInterval(nudge, pollMs),
    everyAfter(MOVE_MS, () => attempt(move)),
    // Gives the wakes of a worker that is silent to the others.
    everyAfter(SUPERVISE_MS, supervise(WAKE_QUEUE)),
    everyAfter(SUPERVISE_LATER_MS, supervise(LATER_QUEUE)),
  ];
  return {
    nudge,
    close: async () => {
      stop.abort();
      for (const timer of timers) clearInterval(timer);
      await looking;
      // The sign of life goes on until the last handler has ended.
      await Promise.all(held.values());
      clearInterval(keeping);
    },
  };
}

/** As `setInterval`, but a round that takes longer than the interval is not joined by another. */
function everyAfter(intervalMs: number, work: () => Promise<void>): NodeJS.Timeout {
  let isRunning = false;
  return setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    void work().finally(() => {
      isRunning = false;
    });
  }, intervalMs);
}

interface Delivering {
  readonly boss: Boss;
  readonly settings: PgBossSettings;
  readonly advance: Advance;
  readonly finish: (item: TakenWake) => Promise<void>;
}

async function deliver(
  { boss, settings, advance, finish }: Delivering,
  item: TakenWake,
  signal: AbortSignal,
): Promise<void> {
  const { wake, attempts } = item;
  const pauseMs = await outcomeOf(settings, advance, item, signal);
  const work =
    pauseMs === undefined
      ? finish(item)
      : boss.use("giving a wake back", (opened) => returnWake(opened, item, pauseMs));
  await work.catch((cause: unknown) => {
    // Nothing is lost: it stays with this worker in name, gives no sign of life, and goes to another.
    settings.onAlarm({ code: "WAKER_UNREACHABLE", cause });
  });
  if (pauseMs === undefined || signal.aborted || attempts % STUCK_ATTEMPTS !== 0) return;
  settings.onAlarm({ code: "WAKE_STUCK", wake, attempts });
}

/** Undefined when the handler has done it; else after how long it shall come again. */
async function outcomeOf(
  { clock, redeliveryMs }: PgBossSettings,
  advance: Advance,
  { wake, attempts }: TakenWake,
  signal: AbortSignal,
): Promise<number | undefined> {
  // PostgreSQL's clock said that it is due. A handler that reads an earlier time would find nothing to do.
  const early = wake.notBefore === undefined ? 0 : wake.notBefore - clock.now();
  if (early > 0) return Math.ceil(early);
  if (signal.aborted) return 0;
  try {
    await advance(wake, signal);
    // A handler that was told to stop may not have looked.
    return signal.aborted ? 0 : undefined;
  } catch {
    return signal.aborted ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempts, 20), redeliveryMs);
  }
}
