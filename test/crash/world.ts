import { createServer, type Socket } from "node:net";
import type { WorldRequest } from "./protocol.ts";

/** Something that really happened, whoever asked for it and whatever became of them. */
export interface Happening extends WorldRequest {
  /** A far side that knows keys has dropped it as a repetition. */
  readonly isDropped: boolean;
}

/** How the world treats a request; all of it at once when nothing is said. */
export interface Manner {
  /** Milliseconds until the request takes effect, and again until it is answered. */
  readonly appliesAfterMs?: number;
  readonly answersAfterMs?: number;
}

/** The outside world: it is never killed and remembers every request that took effect. */
export interface World extends AsyncDisposable {
  readonly port: number;
  readonly ledger: readonly Happening[];
  /** Requests that arrived, also those that have not taken effect yet. */
  readonly arrived: readonly WorldRequest[];
  /** Words that a rule may read. */
  readonly facts: Map<string, string>;
  manner: (request: WorldRequest) => Manner;
  /** Resolves when everything that has arrived has taken effect, also what was asked for by the dead. */
  idle(): Promise<void>;
}

/** Tools whose far side drops what it has done under a key; no other does. */
const DROPS_REPETITIONS: ReadonlySet<string> = new Set(["book"]);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function openWorld(): Promise<World> {
  const ledger: Happening[] = [];
  const arrived: WorldRequest[] = [];
  const facts = new Map<string, string>();
  const sockets = new Set<Socket>();
  const underWay = new Set<Promise<unknown>>();

  const answerTo = ({ op, tool, key, what }: WorldRequest): unknown => {
    if (op === "read") return facts.get(what) ?? "";
    if (op === "effect") return { did: what };
    const found = ledger.find((each) => each.tool === tool && each.key === key);
    return found === undefined ? null : { did: found.what };
  };

  async function take(request: WorldRequest): Promise<unknown> {
    arrived.push(request);
    const { appliesAfterMs = 0, answersAfterMs = 0 } = world.manner(request);
    if (appliesAfterMs > 0) await pause(appliesAfterMs);
    if (request.op === "effect") {
      const { tool, key } = request;
      const isKnown = ledger.some((each) => each.tool === tool && each.key === key);
      ledger.push({ ...request, isDropped: isKnown && DROPS_REPETITIONS.has(tool) });
      if (request.kill !== undefined) {
        process.kill(request.kill, "SIGKILL");
        return undefined;
      }
    }
    const answer = answerTo(request);
    if (answersAfterMs > 0) await pause(answersAfterMs);
    return answer;
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    let text = "";
    socket.setEncoding("utf8");
    // Whoever asked may be dead by now.
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk: string) => {
      const lines = `${text}${chunk}`.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const { id, request } = JSON.parse(line) as { id: number; request: WorldRequest };
        const taken = take(request).then((answer) => {
          underWay.delete(taken);
          if (answer !== undefined && !socket.destroyed) socket.write(`${JSON.stringify({ id, answer })}\n`);
        });
        underWay.add(taken);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const world: World = {
    port,
    ledger,
    arrived,
    facts,
    manner: () => ({}),
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return world;
}
