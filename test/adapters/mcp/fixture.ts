import { z } from "zod";
import { type AnyTool, defineTool, type ToolContext, toolFailure } from "../../../src/index.ts";

/** A small shelf: one read, one write with a ledger for each run, and failures of every kind. */
export interface Shelf {
  readonly tools: readonly AnyTool[];
  /** Calls that reached a tool, as `tool args`. */
  readonly reached: string[];
  readonly contexts: ToolContext[];
  reset(scope: { readonly runId: string }): void;
}

export function createShelf(): Shelf {
  const reached: string[] = [];
  const contexts: ToolContext[] = [];
  const ledgers = new Map<string, string[]>();
  const sku = z.string().regex(/^SKU-\d{4}$/);
  const note = (tool: string, args: unknown, context: ToolContext): void => {
    reached.push(`${tool} ${JSON.stringify(args)}`);
    contexts.push(context);
  };
  const tools: readonly AnyTool[] = [
    defineTool({
      name: "get_level",
      description: "Get the level of a SKU",
      level: "read",
      recovery: "read",
      input: z.strictObject({ sku, kind: z.enum(["free", "all"]).optional() }),
      execute: (args, context) => {
        note("get_level", args, context);
        return args.sku === "SKU-0000"
          ? toolFailure("NOT_FOUND", `there is no ${args.sku}`)
          : { sku: args.sku, level: 4 };
      },
    }),
    defineTool({
      name: "list_names",
      description: "List every SKU",
      level: "read",
      recovery: "read",
      untrusted: true,
      input: z.strictObject({}),
      execute: (args, context) => {
        note("list_names", args, context);
        return ["SKU-0001", "SKU-0002"];
      },
    }),
    defineTool({
      name: "order",
      description: "Order units of a SKU",
      level: "write",
      recovery: "keyed",
      input: z.strictObject({ sku, quantity: z.int().min(1).max(500) }),
      execute: (args, context) => {
        note("order", args, context);
        const ledger = ledgers.get(context.runId) ?? [];
        if (!ledger.includes(context.idempotencyKey)) ledger.push(context.idempotencyKey);
        ledgers.set(context.runId, ledger);
        return { request: `RSR-${String(ledger.indexOf(context.idempotencyKey) + 1).padStart(4, "0")}` };
      },
    }),
    defineTool({
      name: "break_down",
      description: "Throws",
      level: "write",
      recovery: "opaque",
      input: z.strictObject({}),
      execute: () => {
        throw new Error("a secret of the server");
      },
    }),
  ];
  return { tools, reached, contexts, reset: ({ runId }) => ledgers.delete(runId) };
}

let made = 0;

export function toolContext(overrides: Partial<ToolContext> = {}): ToolContext {
  made += 1;
  const runId = overrides.runId ?? "run_1";
  return {
    runId,
    tenant: "acme",
    principal: { kind: "customer", id: "C-7" },
    callId: `c1.${made}`,
    idempotencyKey: `acme:${runId}:c1.${made}`,
    attempt: 1,
    now: 1_000,
    signal: new AbortController().signal,
    ...overrides,
  };
}
