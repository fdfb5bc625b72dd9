import {
  jsonProtocol,
  type ModelClient,
  type ModelReply,
  type ModelRequest,
  scriptedModel,
  scriptedTextModel,
} from "../model/index.ts";
import type { EvalCase, MockTurn, ScriptLine } from "./suite.ts";

/** What answers in one turn of a case: a script, or else the app's own model. */
export type CaseTurn = Pick<EvalCase, "script" | "mockScript">;

/** The model of one case: each turn of the conversation has its own replies. */
export interface CaseModel extends ModelClient {
  /** Puts in the replies of the next turn. */
  load(turn: CaseTurn): void;
  /** What is wrong with the use of the replies since `load`, or nothing. */
  problem(): string | undefined;
  /** Every text that the model was shown since `load`, each request in full. */
  shown(): readonly string[];
  /** From now on every call of the model fails, as if its provider were down. */
  fail(): void;
}

/** What plays one turn. */
interface Player {
  readonly model: ModelClient;
  problem(): string | undefined;
}

/**
 * Makes the model of a case. It has the id `scripted` when the case has a script, and that of the app's offline model
 * otherwise; it fails when a script is over.
 */
export function createCaseModel(evalCase: CaseTurn, offline: ModelClient): CaseModel {
  let current: Player = { model: offline, problem: () => undefined };
  let requests: ModelRequest[] = [];
  let isDown = false;
  return {
    id: evalCase.script === undefined ? offline.id : "scripted",
    load: (turn) => {
      requests = [];
      current = modelOfTurn(turn, offline);
    },
    problem: () => (isDown ? undefined : current.problem()),
    shown: () => requests.map(textOf),
    fail: () => {
      isDown = true;
    },
    generate: (request, options) => {
      requests.push(request);
      return isDown ? Promise.reject(new Error("the provider is down")) : current.model.generate(request, options);
    },
  };
}

function textOf({ system, messages }: ModelRequest): string {
  return [system, ...messages.map(({ text }) => text)].join("\n");
}

function modelOfTurn({ script, mockScript }: CaseTurn, offline: ModelClient): Player {
  if (script !== undefined) {
    return scriptPlayer(script);
  }
  if (mockScript !== undefined) {
    const model = scriptedModel(mockScript.map(replyOf), { id: offline.id });
    return { model, problem: () => scriptProblem(model.requests.length, mockScript.length) };
  }
  return { model: offline, problem: () => undefined };
}

/** A list of calls stands in the script as its JSON text, so that it is counted and charged like every other reply. */
function scriptPlayer(script: readonly ScriptLine[]): Player {
  const texts = scriptedTextModel(script.map((line) => (typeof line === "string" ? line : JSON.stringify(line))));
  const protocol = jsonProtocol(texts);
  return {
    model: {
      id: protocol.id,
      generate: async (request, options) => {
        const line = script[texts.requests.length];
        const reply = await protocol.generate(request, options);
        if (line === undefined || typeof line === "string") {
          return reply;
        }
        const calls = line.map(({ tool, args }) => ({ tool, args: { json: args } }));
        return { kind: "calls", text: "", calls, ...(reply.usage && { usage: reply.usage }) };
      },
    },
    problem: () => scriptProblem(texts.requests.length, script.length),
  };
}

function replyOf(turn: MockTurn): ModelReply {
  return "final" in turn
    ? { kind: "final", text: turn.final }
    : { kind: "calls", text: "", calls: [{ tool: turn.tool, args: { json: turn.args } }] };
}

function scriptProblem(asked: number, replies: number): string | undefined {
  if (asked > replies) {
    return `the model was asked ${asked} times and the script has ${replies} replies`;
  }
  return asked < replies ? `${replies - asked} of ${replies} scripted replies were not used` : undefined;
}
