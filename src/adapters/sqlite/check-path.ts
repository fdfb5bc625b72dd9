import { statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { BelayError } from "../../errors.ts";

/** First release whose WAL reset cannot lose a commit, by the release notes of SQLite. */
const SQLITE_VERSION_MIN = "3.51.3";

/** Magic numbers of statfs(2) and of the kernels' sources: file systems on which WAL or locks are not safe. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xfe534d42, "SMB"],
  [0xff534d42, "CIFS"],
  [0x65735546, "FUSE (such as sshfs)"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
]);

/** Name of a network file system by its `statfs` type; undefined for a local one. */
export function networkFileSystem(type: number): string | undefined {
  // The kernel's number is unsigned; some platforms hand it out signed.
  return NETWORK_FILE_SYSTEMS.get(type >>> 0);
}

/**
 * Checks that a SQLite file may live at this path.
 *
 * Throws `BELAY_STORE_PATH` for an empty path, a directory or a missing folder, `BELAY_STORE_NETWORK_FS` for a file
 * system on which SQLite's locks and shared memory do not work.
 */
export function checkStorePath(path: string): void {
  if (path === ":memory:") {
    return;
  }
  if (path === "" || path.includes("\0")) {
    throw badPath(path, "is not a file name", "Pass the path of a file, such as ./belay.db");
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw badPath(path, "is a folder", "Pass the path of a file inside it");
  }
  const folder = dirname(resolve(path));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw badPath(path, `lies in a folder that does not exist (${folder})`, "Create the folder first");
  }
  // Only Linux numbers file systems this way.
  const network = process.platform === "linux" ? networkFileSystem(statfsSync(folder).type) : undefined;
  if (network !== undefined) {
    throw new BelayError(
      "BELAY_STORE_NETWORK_FS",
      `The store ${path} lies on a network file system (${network}), where SQLite can lose commits. ` +
        "Use a folder on a local disk.",
    );
  }
}

/** Throws `BELAY_STORE_SQLITE_OLD` when the library is older than the oldest one that is safe. */
export function checkSqliteVersion(version: string): void {
  if (compareVersions(version, SQLITE_VERSION_MIN) < 0) {
    throw new BelayError(
      "BELAY_STORE_SQLITE_OLD",
      `This Node.js has SQLite ${version}, and the store needs ${SQLITE_VERSION_MIN} or newer. Update Node.js.`,
    );
  }
}

function compareVersions(one: string, other: string): number {
  const right = other.split(".").map(Number);
  for (const [index, part] of one.split(".").map(Number).entries()) {
    const difference = part - (right[index] ?? 0);
    if (difference !== 0 || Number.isNaN(difference)) {
      return Number.isNaN(difference) ? -1 : difference;
    }
  }
  return 0;
}

function badPath(path: string, problem: string, remedy: string): BelayError {
  return new BelayError("BELAY_STORE_PATH", `The store path ${JSON.stringify(path)} ${problem}. ${remedy}.`);
}
