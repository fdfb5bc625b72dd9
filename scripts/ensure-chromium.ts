/** `node scripts/ensure-chromium.ts`: makes sure that the browser tests find a Chromium. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

export type FoundChromium =
  | { readonly path: string }
  /** What is the matter and what to do about it. */
  | { readonly problem: string };

/** What the machine is like; tests give their own. */
export interface Machine {
  readonly isRoot: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(path: string): boolean;
  /** Runs a program and throws when it fails. */
  run(program: string, words: readonly string[]): void;
}

const USUAL_PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const APT = "/usr/bin/apt-get";
/** Test files that start together wait for each other. */
const WAIT_FOR_LOCK = ["-o", "DPkg::Lock::Timeout=300"];
const INSTALL_MS_MAX = 600_000;

/**
 * The browser of `BELAY_CHROMIUM` or of one of the usual places. When there is none it is installed, as root and where
 * there is apt-get; and nothing else is ever installed.
 */
export function ensureChromium(machine: Machine = thisMachine()): FoundChromium {
  const chosen = machine.env["BELAY_CHROMIUM"];
  if (chosen) {
    return machine.exists(chosen) ? { path: chosen } : { problem: `BELAY_CHROMIUM is ${chosen}, which is not there` };
  }
  const find = (): string | undefined => USUAL_PLACES.find((path) => machine.exists(path));
  const found = find() ?? (machine.isRoot && machine.exists(APT) ? installed(machine, find) : undefined);
  if (found !== undefined) return { path: found };
  return {
    problem:
      "the browser tests need Chromium, which is not here and could not be installed by this user. Run " +
      "`node scripts/ensure-chromium.ts` as root on a system with apt-get, or set BELAY_CHROMIUM to a Chromium or Chrome",
  };
}

function installed(machine: Machine, find: () => string | undefined): string | undefined {
  try {
    machine.run(APT, ["update", ...WAIT_FOR_LOCK]);
    machine.run(APT, ["install", "-y", "--no-install-recommends", ...WAIT_FOR_LOCK, "chromium"]);
  } catch {
    // Whether it is there now is what counts.
  }
  return find();
}

function thisMachine(): Machine {
  return {
    isRoot: process.getuid?.() === 0,
    env: process.env,
    exists: existsSync,
    run: (program, words) => {
      const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
      execFileSync(program, words, { env, stdio: "ignore", timeout: INSTALL_MS_MAX });
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  const found = ensureChromium();
  process.stdout.write(`${"path" in found ? found.path : found.problem}\n`);
  process.exitCode = "path" in found ? 0 : 1;
}
