import { BelayError } from "../../errors.ts";

/**
 * Loads a package that only those need who use what needs it, at its first use.
 *
 * Throws `BELAY_PEER_MISSING` when it, or a package that it needs itself, is not installed.
 */
export async function loadPeer<Module>(what: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const [, name] = /^Cannot find package '([^']+)'/.exec(cause instanceof Error ? cause.message : "") ?? [];
    if (name === undefined) throw cause;
    throw new BelayError(
      "BELAY_PEER_MISSING",
      `${what} needs the package ${name}, which is not installed. Run: npm install ${name}`,
      { cause },
    );
  }
}
