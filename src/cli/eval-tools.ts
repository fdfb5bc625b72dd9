import type { AnyApp } from "../config.ts";
import type { Agent } from "../engine/index.ts";
import { type EvalCase, openSuite, type RunSuiteOptions } from "../evals/index.ts";
import { type CommandInput, textOption } from "./command.ts";
import { type AgentThrough, agentThrough, toolsMode, worksElsewhere } from "./mcp-tools.ts";
import { projectConfig } from "./project.ts";
import { sharedTools } from "./shared-tools.ts";
import { usageError } from "./usage.ts";

/** Where the tools of an evaluation run. */
export interface EvalTools extends Pick<RunSuiteOptions, "through"> {
  readonly transport: string;
  /** To be called when the suites have run. */
  close(): Promise<void>;
}

/**
 * Reads `--tools` for suites of an app. Each case gets a boundary of its own, but for `mcp-stdio`, where all share a child.
 *
 * Throws `BELAY_USAGE` for a mode that is not there, and for cases that look at the app's data when the tools would
 * work on those of another process.
 */
export async function evalTools(input: CommandInput, app: AnyApp, suites: readonly string[]): Promise<EvalTools> {
  const mode = toolsMode(textOption(input, "tools"));
  if (mode === "local") {
    return { transport: mode, close: () => Promise.resolve() };
  }
  if (worksElsewhere(mode)) {
    await refuseOwnWorld(input, app, suites);
  }
  const { file } = await projectConfig(input);
  const [name = ""] = input.positionals;
  const weaknesses = textOption(input, "weaknesses");
  const through = (agent: Agent): Promise<AgentThrough> =>
    agentThrough(agent, mode, {
      app: name,
      config: file,
      // The far side must have the faults that this one has.
      serveArgs: ["--fresh", ...(weaknesses === undefined ? [] : ["--weaknesses", weaknesses])],
      onError: input.output.progress,
    });
  return mode === "mcp-stdio"
    ? { transport: mode, ...sharedTools(through) }
    : { transport: mode, through, close: () => Promise.resolve() };
}

/** Over a boundary with data of its own such a case would fail, or hold, for a reason that is none. */
async function refuseOwnWorld(input: CommandInput, app: AnyApp, suites: readonly string[]): Promise<void> {
  const only = textOption(input, "case");
  for (const name of suites) {
    const { cases } = await openSuite(app, name);
    const meant = only === undefined ? cases : cases.filter(({ id }) => id === only);
    const found = meant.filter(needsOwnWorld);
    if (found[0] !== undefined) {
      throw usageError(
        `${found.length} of ${meant.length} case(s) of the suite ${name} of ${app.name} look at the app's data or change ` +
          `them, the first is ${found[0].id}; with --tools ${textOption(input, "tools")} the tools work on data of ` +
          "another process. Use --tools mcp, or mcp-http without BELAY_MCP_URL.",
      );
    }
  }
}

/** A fault counts as well: most kinds are changes to the data, in the app's own vocabulary. */
function needsOwnWorld({ expect, forbidden = [], faults = [], probe }: EvalCase): boolean {
  return expect.endState !== undefined || forbidden.length > 0 || faults.length > 0 || probe !== undefined;
}
