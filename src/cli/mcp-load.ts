import { explainLoadFailure } from "./load-failure.ts";

/** The packages of the protocol are optional, so they are loaded when they are needed. */
export async function loadMcp(): Promise<typeof import("../adapters/mcp/index.ts")> {
  try {
    return await import("../adapters/mcp/index.ts");
  } catch (error) {
    // Anything but a package that is not there is a mistake of ours.
    const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    throw isMissing ? explainLoadFailure(error, "The Model Context Protocol") : error;
  }
}
