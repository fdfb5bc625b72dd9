import type { Wake, Waker } from "../../src/engine/index.ts";

interface Waiting {
  readonly wake: Wake;
  dueAt: number;
  attempts: number;
  isRunning: boolean;
  againAt: number | undefined;
}

/** What a waker of this process means, in the plainest words: at each look it goes through every wake that is not done. */
export function naiveWaker(redeliveryMs: number): Pick<Waker, "wake" | "serve"> {
  const waiting = new Map<string, Waiting>();
  let advance: Parameters<Waker["serve"]>[0] | undefined;
  let timer: NodeJS.Timeout | undefined;
  const nameOf = ({ wake: { run } }: Waiting): string => JSON.stringify([run.tenant, run.runId]);
  const look = (): void => {
    clearTimeout(timer);
    if (advance === undefined) return;
    const now = Date.now();
    const busy = new Set([...waiting.values()].filter(({ isRunning }) => isRunning).map(nameOf));
    for (const item of waiting.values()) {
      if (item.isRunning || item.dueAt > now || busy.has(nameOf(item))) continue;
      busy.add(nameOf(item));
      start(item, advance);
    }
    const later = [...waiting.values()].filter(({ isRunning, dueAt }) => !isRunning && dueAt > now);
    if (later.length > 0) timer = setTimeout(look, Math.max(1, Math.min(...later.map(({ dueAt }) => dueAt)) - now));
  };
  const start = (item: Waiting, serve: NonNullable<typeof advance>): void => {
    item.isRunning = true;
    item.attempts += 1;
    void isDone(serve, item.wake).then((done) => finish(item, done));
  };
  const finish = (item: Waiting, done: boolean): void => {
    item.isRunning = false;
    if (done && item.againAt === undefined) waiting.delete(item.wake.key);
    else {
      item.dueAt = done ? (item.againAt ?? 0) : Date.now() + Math.min(10 * 2 ** item.attempts, redeliveryMs);
      item.attempts = done ? 0 : item.attempts;
      item.againAt = undefined;
    }
    look();
  };
  return {
    wake: async (wake) => {
      const dueAt = wake.notBefore ?? Date.now();
      const before = waiting.get(wake.key);
      if (before?.isRunning === true) before.againAt = Math.min(before.againAt ?? dueAt, dueAt);
      if (before === undefined) {
        waiting.set(wake.key, { wake, dueAt, attempts: 0, isRunning: false, againAt: undefined });
      }
      queueMicrotask(look);
    },
    serve: async (handler) => {
      advance = handler;
      queueMicrotask(look);
      return { close: async () => clearTimeout(timer) };
    },
  };
}

async function isDone(serve: Parameters<Waker["serve"]>[0], wake: Wake): Promise<boolean> {
  try {
    await serve(wake, new AbortController().signal);
    return true;
  } catch {
    return false;
  }
}
