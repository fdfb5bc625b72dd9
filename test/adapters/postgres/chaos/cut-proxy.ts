import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A cable between a worker and PostgreSQL. */
export interface CutProxy extends AsyncDisposable {
  readonly port: number;
  /** Nothing comes through any more, in either direction, and nobody is told. */
  cut(): void;
  /** What was held back is thrown away with its connections; new ones come through. */
  mend(): void;
}

export async function openCutProxy(targetPort: number): Promise<CutProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  const end = (pair: readonly [Socket, Socket]): void => {
    pairs.delete(pair);
    for (const socket of pair) socket.destroy();
  };
  const server = createServer((near) => {
    const far = connect(targetPort, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (bytes) => {
        if (!isCut) to.write(bytes);
      });
      from.on("error", () => undefined);
      from.on("close", () => {
        // A cut cable carries no goodbye either.
        if (!isCut) end(pair);
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
      for (const pair of [...pairs]) end(pair);
    },
    [Symbol.asyncDispose]: async () => {
      for (const pair of [...pairs]) end(pair);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
