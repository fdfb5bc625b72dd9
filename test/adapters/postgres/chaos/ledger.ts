import { once } from "node:events";
import { createServer } from "node:http";

/** A bank outside of all workers: it does what has a new idempotency key, and answers the same to a known one. */
export interface Ledger extends AsyncDisposable {
  readonly url: string;
  /** How often each effect was really done, by its name. */
  done(): ReadonlyMap<string, number>;
  /** Requests with a key that was known. */
  repeats(): number;
}

export async function openLedger(): Promise<Ledger> {
  const keys = new Set<string>();
  const done = new Map<string, number>();
  let repeats = 0;
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    request.on("end", () => {
      const { effect, key } = JSON.parse(text) as { readonly effect: string; readonly key: string };
      if (keys.has(key)) repeats += 1;
      else done.set(effect, (done.get(effect) ?? 0) + 1);
      keys.add(key);
      response.end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    done: () => done,
    repeats: () => repeats,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
