/** `node scripts/ensure-postgres.ts`: makes sure that the tests find the server programs of PostgreSQL. */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where Debian, Homebrew and the installers of postgresql.org put the server programs. */
const USUAL_PLACES = [
  "/usr/lib/postgresql/*/bin",
  "/usr/pgsql-*/bin",
  "/opt/homebrew/opt/postgresql@*/bin",
  "/Library/PostgreSQL/*/bin",
];

const CLUSTER_SETTINGS = "/etc/postgresql-common/createcluster.conf";

/** What to do when `postgresFolder` finds nothing. */
export const POSTGRES_REMEDY: string =
  "run `node scripts/ensure-postgres.ts` as root, or set BELAY_POSTGRES_BIN to the folder of initdb";

/** The folder of `initdb` and `postgres`: `BELAY_POSTGRES_BIN`, the newest of the usual places, or one of the `PATH`. */
export function postgresFolder(): string | undefined {
  const chosen = process.env["BELAY_POSTGRES_BIN"];
  if (chosen !== undefined) {
    return hasServer(chosen) ? chosen : undefined;
  }
  const usual = USUAL_PLACES.flatMap((place) => globSync(place)).sort(
    (one, other) => versionIn(other) - versionIn(one),
  );
  return [...usual, ...(process.env["PATH"] ?? "").split(delimiter)].find(hasServer);
}

/**
 * Returns the folder of the server programs, and installs them with apt-get first when they are missing and this is
 * root on a system that has it. Throws when they are missing and cannot be installed.
 */
export function ensurePostgres(): string {
  const found = postgresFolder();
  if (found !== undefined) {
    return found;
  }
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new Error(
      `The server programs of PostgreSQL are not here. Install PostgreSQL 15 or newer; ${POSTGRES_REMEDY}.`,
    );
  }
  keepFromStartingServer();
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const run = (...words: readonly string[]) => execFileSync("apt-get", words, { env, stdio: "inherit" });
  run("update");
  run("install", "-y", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confold", "postgresql");
  const installed = postgresFolder();
  if (installed === undefined) {
    throw new Error(`apt-get installed postgresql, and initdb is in none of ${USUAL_PLACES.join(", ")}.`);
  }
  return installed;
}

/** The tests start servers of their own; the package would create and start one for the whole machine. */
function keepFromStartingServer(): void {
  if (!existsSync(CLUSTER_SETTINGS)) {
    mkdirSync("/etc/postgresql-common", { recursive: true });
    writeFileSync(CLUSTER_SETTINGS, "create_main_cluster = false\n");
  }
}

function hasServer(folder: string): boolean {
  return folder !== "" && ["initdb", "postgres"].every((program) => existsSync(join(folder, program)));
}

function versionIn(folder: string): number {
  return Number(/\d+/.exec(folder)?.[0] ?? 0);
}

if (process.argv[1] === import.meta.filename) {
  process.stdout.write(`${ensurePostgres()}\n`);
}
