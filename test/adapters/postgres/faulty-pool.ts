import pg from "pg";
import type { PostgresClient, PostgresPool } from "../../../src/adapters/postgres/index.ts";

type Fault = "before" | "after" | undefined;

/** A pool whose next COMMIT loses its connection, before the server has it or after the server has done it. */
export interface Faulty {
  pool: PostgresPool;
  fault: Fault;
  onFault: () => Promise<void>;
}

export function faultyPool(url: string): Faulty {
  const real = new pg.Pool({ connectionString: url });
  const faulty: Faulty = {
    pool: real as unknown as PostgresPool,
    fault: undefined,
    onFault: async () => undefined,
  };
  const lose = async (client: pg.PoolClient, run: () => Promise<unknown>): Promise<never> => {
    const { fault } = faulty;
    faulty.fault = undefined;
    if (fault === "after") await run();
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    await faulty.onFault();
    throw new Error("Connection terminated unexpectedly");
  };
  faulty.pool = new Proxy(real, {
    get: (target, name) => {
      if (name !== "connect") {
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      }
      return async (): Promise<PostgresClient> => {
        const client = await target.connect();
        const query = (config: { readonly text: string }) => {
          const run = () => client.query(config as pg.QueryConfig);
          return config.text === "COMMIT" && faulty.fault !== undefined ? lose(client, run) : run();
        };
        const { release, on, off } = client;
        return { query, release: release.bind(client), on: on.bind(client), off: off.bind(client) } as PostgresClient;
      };
    },
  }) as unknown as PostgresPool;
  return faulty;
}
