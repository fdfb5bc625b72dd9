import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { BelayError } from "../errors.ts";
import type { PeopleStore, ServerDatabase } from "../server/index.ts";
import type { Place } from "./place.ts";
import { usageError } from "./usage.ts";

const NAME = "belay-server";

export type ServerModule = typeof import("../server/index.ts");

/** Loads the server, whose packages only those need who serve. Throws `BELAY_PEER_MISSING` without them. */
export async function loadServer(): Promise<ServerModule> {
  try {
    return await import("../server/index.ts");
  } catch (cause) {
    const [, name] = /Cannot find package '([^']+)'/.exec(cause instanceof Error ? cause.message : "") ?? [];
    if (name === undefined) throw cause;
    throw new BelayError(
      "BELAY_PEER_MISSING",
      `The server needs the package ${name}. Run: npm install hono @hono/node-server @hono/zod-openapi zod`,
      { cause },
    );
  }
}

/** Opens the people of a project, in a file of its own beside the database of runs. */
export function openPeople(
  { createPeopleStore, openServerDatabase }: ServerModule,
  place: Place,
  appNames: readonly string[] = [],
): { readonly database: ServerDatabase; readonly people: PeopleStore } {
  const file = join(place.folder, `${NAME}.db`);
  if (file === place.db || appNames.includes(NAME)) {
    throw usageError(`${file} is the server's own file. Give another --db, and name no app ${NAME}.`);
  }
  if (!existsSync(place.folder)) mkdirSync(place.folder, { recursive: true, mode: 0o700 });
  const database = openServerDatabase(file);
  return { database, people: createPeopleStore(database) };
}
