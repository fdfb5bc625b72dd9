import { z } from "zod";
import {
  type Agent,
  type AnyTool,
  allow,
  ask,
  defineTool,
  deny,
  type ModelClient,
  type ModelReply,
  type Rule,
  type ToolContext,
} from "../../../src/index.ts";
import { type Job, LATER_REVISION, POINTS } from "../protocol.ts";
import type { FarSide, Shelf } from "./far-side.ts";

const INPUT = z.strictObject({ what: z.string() });
/** What the later revision of the program asks for beside it. */
const INPUT_NEW = z.strictObject({ what: z.string(), note: z.string().optional() });

const asked = (tool: string, what: string, { idempotencyKey: key, callId, attempt }: ToolContext) => ({
  ...{ tool, what, key, callId, attempt },
});

function tools(far: FarSide, shelf: Shelf, timeoutMs: number, isLater: boolean): readonly AnyTool[] {
  const earlier = [
    defineTool({
      name: "look",
      description: "Reads a fact",
      level: "read",
      recovery: "read",
      input: INPUT,
      execute: async ({ what }) => ({ fact: (await far.read(what)) as string }),
    }),
    defineTool({
      name: "book",
      description: isLater ? "Books something, with a note" : "Books something",
      level: "write",
      recovery: "keyed",
      timeoutMs,
      input: isLater ? INPUT_NEW : INPUT,
      execute: ({ what }, context) => far.act(asked("book", what, context)),
    }),
    defineTool({
      name: "ship",
      description: "Ships something",
      level: "write",
      recovery: "queryable",
      timeoutMs,
      input: INPUT,
      execute: ({ what }, context) => far.act(asked("ship", what, context)),
      lookup: async ({ what }, context) => (await far.lookup(asked("ship", what, context))) ?? undefined,
    }),
    defineTool({
      name: "move",
      description: "Moves something on the shelf",
      level: "write",
      recovery: "keyed",
      inTransaction: true,
      input: INPUT,
      execute: ({ what }, { idempotencyKey, callId }) => {
        shelf.move(idempotencyKey, callId, what);
        return { did: what };
      },
      lookup: (_args, { idempotencyKey }) => {
        const what = shelf.find(idempotencyKey);
        return what === undefined ? undefined : { did: what };
      },
    }),
    defineTool({
      name: "wire",
      description: "Wires money",
      level: "irreversible",
      recovery: "opaque",
      risk: "may_happen_twice_or_unknown",
      timeoutMs,
      input: INPUT,
      execute: ({ what }, context) => far.act(asked("wire", what, context)),
    }),
  ] as const;
  if (!isLater) return earlier;
  const thank = defineTool({
    name: "thank",
    description: "Thanks somebody",
    level: "write",
    recovery: "keyed",
    input: INPUT,
    execute: ({ what }, context) => far.act(asked("thank", what, context)),
  });
  return [...earlier, thank];
}

/** Allows what is small, asks about what is big, and says no when the world is closed by then. */
function ruleOf(far: FarSide): Rule {
  return {
    id: "size",
    decide: ({ level, args }, { recheck }) => {
      if (level === "read") return undefined;
      const { what } = args as { what: string };
      if (!what.startsWith("big")) return allow("OK", "small");
      const bigOne = ask("BIG", "a person looks at what is big");
      if (!recheck) return bigOne;
      return far.read("closed").then((closed) => (closed === "yes" ? deny("CLOSED", "the world is closed") : bigOne));
    },
  };
}

export function agentOf(far: FarSide, shelf: Shelf, { revision, toolTimeoutMs }: Job): Agent {
  const isLater = revision === LATER_REVISION;
  const points = { book: POINTS, ship: POINTS, move: POINTS, wire: POINTS, ...(isLater ? { thank: POINTS } : {}) };
  return {
    name: "clerk",
    revision,
    instructions: "",
    tools: tools(far, shelf, toolTimeoutMs, isLater),
    rules: [ruleOf(far)],
    transaction: shelf.transaction,
    budget: { points, of: () => [{ budget: "points", limit: 100 }] },
    limits: { stepsMax: 10 },
  };
}

const USAGE = { inputTokens: 10, outputTokens: 10 };

function turn(...calls: readonly (readonly [tool: string, what: string])[]): ModelReply {
  return {
    kind: "calls",
    text: "",
    calls: calls.map(([tool, what]) => ({ tool, args: { json: { what } } })),
    usage: USAGE,
  };
}

/** What the model says, turn by turn. */
function script(isLater: boolean): readonly ModelReply[] {
  return [
    turn(["look", "stock"], ["book", "small"], ["ship", "small"]),
    turn(["move", "small"], ["book", "big one"], ["wire", "fee"]),
    turn(["ship", "last"], ...(isLater ? [["thank", "all"] as const] : [])),
    { kind: "final", text: "done", usage: USAGE },
  ];
}

/** Answers by what it is shown, so that a request that is made again gets the same reply. */
export function modelOf(revision: string): ModelClient {
  const replies = script(revision === LATER_REVISION);
  return {
    id: "m",
    generate: async ({ messages }) => {
      const [first] = messages;
      if (first?.role !== "user" || first.text !== "please") return { kind: "final", text: "welcome", usage: USAGE };
      const turns = messages.filter(({ role }) => role === "assistant").length;
      return replies[turns] ?? { kind: "final", text: "done", usage: USAGE };
    },
  };
}
