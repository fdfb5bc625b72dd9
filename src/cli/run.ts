import type { Principal } from "../core/index.ts";
import type { Agent, MessageOutcome, RunHandle, RunResult, StartOptions } from "../engine/index.ts";
import {
  CONFIG_OPTIONS,
  type Command,
  type CommandInput,
  DATABASE_OPTIONS,
  hasFlag,
  JSON_OPTION,
  textOption,
} from "./command.ts";
import { type AgentThrough, agentThrough, TOOLS_OPTION, toolsMode } from "./mcp-tools.ts";
import { chosenModel, MODEL_OPTIONS } from "./model-option.ts";
import { drained, onlyFor, shutdownCause } from "./on-shutdown.ts";
import { createStore, type Place, placeOf, withStore } from "./place.ts";
import { type OpenApp, openApp, projectConfig } from "./project.ts";
import { printResult, resultJson } from "./run-result.ts";
import { createStory } from "./story.ts";

const CUSTOMER: Principal = { kind: "customer", id: "customer" };

export const runCommand: Command = {
  name: "run",
  summary: "send a message to an app's agent and follow what it does",
  positionals: [{ name: "app" }, { name: "message" }],
  options: {
    as: { type: "string", value: "customer", help: "customer who writes (default the app's own)" },
    conversation: { type: "string", value: "id", help: "conversation to continue (default a new one)" },
    transitions: { type: "boolean", help: "print the transition log too" },
    ...TOOLS_OPTION,
    ...MODEL_OPTIONS,
    ...JSON_OPTION,
    ...DATABASE_OPTIONS,
    ...CONFIG_OPTIONS,
  },
  examples: [
    'run shop "Where is my order O-1001?"',
    'run shop "Please refund order O-1004" --as C-2 --json',
    'run shop "And the other one?" --conversation cnv_1',
    'run shop "Where is my order?" --model http://127.0.0.1:11434/v1#llama3.2 --price-input 0 --price-output 0',
  ],
  run: async (input) => {
    const place = placeOf(input);
    const config = await projectConfig(input);
    const [name = "", message = ""] = input.positionals;
    const mode = toolsMode(textOption(input, "tools"));
    const chosen = await chosenModel(input);
    const boundaries: AgentThrough[] = [];
    const through = async (declared: Agent): Promise<Agent> => {
      const boundary = await agentThrough(declared, mode, {
        app: name,
        config: config.file,
        // The other side works on the data that lie beside the same database.
        serveArgs: ["--db", place.db],
        onError: input.output.progress,
      });
      boundaries.push(boundary);
      return boundary.agent;
    };
    return withStore(createStore(place), async (store) => {
      try {
        const opened = await openApp(config, name, place, store, input.output.progress, { chosen, through });
        try {
          return await runMessage(input, opened, place, message);
        } finally {
          opened.close();
        }
      } finally {
        for (const boundary of boundaries) await boundary[Symbol.asyncDispose]();
      }
    });
  },
};

async function runMessage(input: CommandInput, opened: OpenApp, place: Place, message: string): Promise<number> {
  const { output } = input;
  const isJson = hasFlag(input, "json");
  const options = startOptions(input, opened, place);
  const queued = await queueBehind(opened, message, options);
  if (queued?.status === "queued") return printQueued(output, queued, isJson);
  const handle = opened.harness.run(message, queued === undefined ? options : { ...options, runId: queued.run.runId });
  if (isJson) {
    // Nobody iterates the handle, and its result alone is printed.
    const ended = await untilEnded(input, handle.result, handle.runId);
    if (ended === undefined) return 0;
    output.json(resultJson(ended, hasFlag(input, "transitions")), 2);
    return exitCodeOfRun(ended.status);
  }
  const result = await untilEnded(input, tell(output, handle, opened.name), handle.runId);
  if (result === undefined) return 0;
  if (hasFlag(input, "transitions")) {
    output.line();
    for (const change of result.state.phaseChanges) {
      output.line(`  ${change.step}  ${change.from} -> ${change.to}  ${change.reason}`);
    }
  }
  printResult(output, result);
  return exitCodeOfRun(result.status);
}

async function tell(output: CommandInput["output"], handle: RunHandle, app: string): Promise<RunResult> {
  const story = createStory(output);
  let isTold = false;
  for await (const entry of handle) {
    if (!isTold) {
      output.line({ text: `run ${handle.runId}`, style: "bold" }, `  ${app}`);
      isTold = true;
    }
    story.tell(entry);
  }
  return handle.result;
}

/** The result, or nothing when the process was told to stop before there was one: the run can go on elsewhere. */
async function untilEnded(
  input: CommandInput,
  work: Promise<RunResult>,
  runId: string,
): Promise<RunResult | undefined> {
  const { signal, output } = input;
  const ended = await drained(work, onlyFor(signal, "SIGTERM"));
  if (ended.status === "done" && (ended.value.termination !== undefined || ended.value.approvals.length > 0)) {
    return ended.value;
  }
  if (ended.status === "done" && shutdownCause(signal) !== "SIGTERM") return ended.value;
  if (hasFlag(input, "json")) output.json({ runId, status: "stopped" }, 2);
  output.progress(`Stopped; the run ${runId} is kept as it is. belay recover goes on with it.`);
  return undefined;
}

/** A message to a conversation starts a run there, or waits behind the one that has not ended. */
async function queueBehind(
  opened: OpenApp,
  message: string,
  { conversationId, ...options }: StartOptions,
): Promise<MessageOutcome | undefined> {
  if (conversationId === undefined) return undefined;
  return await opened.harness.message(conversationId, message, options);
}

function printQueued(
  output: CommandInput["output"],
  { behind, run }: Extract<MessageOutcome, { status: "queued" }>,
  isJson: boolean,
): 0 {
  if (isJson) output.json({ status: "queued", behind: behind.runId, runId: run.runId }, 2);
  else output.line(`queued: run ${run.runId} starts when run ${behind.runId} has ended`);
  return 0;
}

function startOptions(input: CommandInput, opened: OpenApp, place: Place): StartOptions {
  const conversationId = textOption(input, "conversation");
  const customer = textOption(input, "as");
  return {
    tenant: place.tenant,
    principal: customer === undefined ? (opened.app.defaultPrincipal ?? CUSTOMER) : { kind: "customer", id: customer },
    ...(conversationId !== undefined && { conversationId }),
    // A person who presses Ctrl-C does not want the run any more; whoever ends the process wants it to go on elsewhere.
    signal: onlyFor(input.signal, "SIGINT"),
    stop: onlyFor(input.signal, "SIGTERM"),
  };
}

/** A run that waits for a person has done all that it may. */
export function exitCodeOfRun(status: "done" | "failed" | "waiting" | "busy"): 0 | 1 | 3 {
  switch (status) {
    case "done":
    case "waiting":
      return 0;
    case "failed":
      return 1;
    case "busy":
      return 3;
  }
}
