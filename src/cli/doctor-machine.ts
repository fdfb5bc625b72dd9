import { existsSync, statfsSync, statSync } from "node:fs";
import { type Check, fail, ok, warn } from "./doctor-check.ts";
import type { Place } from "./place.ts";

const FREE_BYTES_WARN = 1_000_000_000;
const FREE_BYTES_FAIL = 50_000_000;
/** Rights of everybody but the owner. */
const OTHERS = 0o077;
// Windows has no such rights; its numbers say nothing.
const HAS_MODES = process.platform !== "win32";

export function checkVersions(): Check {
  // Opening the store refuses an older SQLite; this says which one it was.
  return ok("versions", `Node.js ${process.version}, SQLite ${process.versions["sqlite"] ?? "none"}`);
}

export function checkSpace({ folder }: Place): Check {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const detail = `${(free / 1e9).toFixed(1)} GB free in ${folder}`;
  if (free < FREE_BYTES_FAIL) {
    return fail("disk space", `${detail}: commits will fail soon. Free some space.`);
  }
  return free < FREE_BYTES_WARN ? warn("disk space", `${detail}. Free some space.`) : ok("disk space", detail);
}

/** What customers wrote lies in these files in clear text. */
export function checkRights({ db }: Place): Check {
  const files = [db, `${db}-wal`, `${db}-shm`].filter((file) => existsSync(file));
  const open = files.filter(isOpenToOthers);
  return open.length === 0
    ? ok("file rights", "the database is the owner's alone")
    : warn("file rights", `other users of this machine may open ${open.join(", ")}. Close them: chmod 600.`);
}

/** Whoever reads the key can sign another history. */
export function checkKey(file: string, place: Place, origin: string | undefined): Check {
  if (origin === undefined) {
    return warn(
      "signing key",
      "no checkpoint was signed yet, so nothing outside vouches for the log. Run belay audit checkpoint.",
    );
  }
  if (isOpenToOthers(file)) {
    return fail(
      "signing key",
      `other users of this machine may read ${file}. Close it (chmod 600) and make a new key.`,
    );
  }
  return file.startsWith(place.folder)
    ? warn("signing key", `${file} lies beside the database: who can write both can forge both. Move it (--key-file).`)
    : ok("signing key", `${file} is the owner's alone`);
}

function isOpenToOthers(file: string): boolean {
  return HAS_MODES && (statSync(file).mode & OTHERS) !== 0;
}
