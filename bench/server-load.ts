/** Two ways to load a server: as fast as it answers, and at a rate that does not wait for it. */
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import autocannon from "autocannon";

export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Loaded {
  /** Answers with 200. */
  readonly ok: number;
  readonly others: number;
  readonly seconds: number;
}

const CONNECTIONS = 64;

/** Closed loop: each of 64 connections sends its next request when it has its answer. */
export async function loadClosed({ port, path, headers, body }: Target, seconds: number): Promise<Loaded> {
  const result = await autocannon({
    url: `http://127.0.0.1:${port}${path}`,
    method: "POST",
    connections: CONNECTIONS,
    duration: seconds,
    headers,
    body,
  });
  return { ok: result["2xx"], others: result.non2xx + result.errors, seconds: result.duration };
}

export interface Latencies extends Loaded {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
}

/**
 * Open loop: a request begins each 1/rate of a second whatever became of those before, and its time counts from when it
 * was due, so that a server that stalls is not spared the requests that would have come meanwhile.
 */
export async function loadOpen(target: Target, perSecond: number, seconds: number): Promise<Latencies> {
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });
  const latencies: number[] = [];
  const sent: Promise<void>[] = [];
  let others = 0;
  const start = performance.now();
  for (let count = 0; count < perSecond * seconds; count += 1) {
    const due = start + (count * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 1) await pause(early);
    sent.push(
      post(agent, target).then((status) => {
        if (status !== 200) others += 1;
        else latencies.push(performance.now() - due);
      }),
    );
  }
  await Promise.all(sent);
  agent.destroy();
  latencies.sort((one, other) => one - other);
  const at = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] ?? Number.NaN;
  return {
    ...{ ok: latencies.length, others, seconds: (performance.now() - start) / 1000 },
    ...{ p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(1) },
  };
}

/** Status of the answer once all of it has come; 0 when none came. */
function post(agent: Agent, { port, path, headers, body }: Target): Promise<number> {
  return new Promise((resolve) => {
    const sending = request({ agent, port, path, method: "POST", headers }, (response) => {
      response.once("end", () => resolve(response.statusCode ?? 0)).resume();
    });
    sending.once("error", () => resolve(0));
    sending.end(body);
  });
}
