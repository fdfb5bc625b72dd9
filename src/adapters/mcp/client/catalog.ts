import type { Tool } from "@modelcontextprotocol/client";
import { printable, type ToolError } from "../../../core/index.ts";
import { definitionHash } from "./definition.ts";
import type { Imported, ImportedTool } from "./import-tool.ts";

export const TOOL_DEFINITION_CHANGED = "tool_definition_changed";

/** A tool that the server listed and the harness does not use. */
export interface ExcludedTool {
  readonly name: string;
  readonly reason: string;
}

export interface McpDefinition {
  readonly name: string;
  /** Of what the server says now. */
  readonly hash: string;
  /** `approved`: in use. The others are not called: other than approved, never approved, no longer listed. */
  readonly status: "approved" | "changed" | "new" | "gone";
}

interface Entry {
  /** In use, or last in use. */
  readonly approved?: { readonly hash: string; readonly tool: ImportedTool };
  readonly listed?: { readonly hash: string; readonly tool: Tool };
}

/** What a server's tools are, as they were trusted and as they are now. */
export interface Catalog {
  /** Takes what the server lists. The first time it is trusted, unless a pin says otherwise. */
  observe(tools: readonly Tool[]): void;
  /** Trusts a changed or new definition; false when the hash is not that of what the server lists now. */
  approve(name: string, hash: string): boolean;
  find(name: string): ImportedTool | undefined;
  /** Why a tool must not be called; `undefined` when it may. */
  refusal(name: string): ToolError | undefined;
  usable(): readonly ImportedTool[];
  definitions(): readonly McpDefinition[];
  excluded(): readonly ExcludedTool[];
}

/** `pins` are hashes that were approved before, by name; a listed tool with another one is not used. */
export function createCatalog(
  importTool: (tool: Tool) => Imported,
  pins: Readonly<Record<string, string>> | undefined,
): Catalog {
  const entries = new Map<string, Entry>();
  const excluded = new Map<string, string>();
  let isFirst = true;

  function accept(name: string, listed: { readonly hash: string; readonly tool: Tool }): boolean {
    const imported = importTool(listed.tool);
    if (!imported.ok) {
      excluded.set(name, imported.reason);
      entries.set(name, { ...entries.get(name), listed });
      return false;
    }
    excluded.delete(name);
    entries.set(name, { approved: { hash: listed.hash, tool: imported.tool }, listed });
    return true;
  }

  function take(name: string, tool: Tool, hash: string): void {
    const entry = entries.get(name);
    const listed = { hash, tool };
    const isTrusted = pins === undefined ? isFirst : Object.hasOwn(pins, name) && pins[name] === hash;
    if (entry?.approved === undefined && isTrusted) {
      accept(name, listed);
    } else {
      entries.set(name, { ...entry, listed });
    }
  }

  return {
    observe(tools) {
      const { single, twice, unreadable } = sorted(tools);
      for (const name of twice) {
        excluded.set(name, "the server lists it twice");
      }
      for (const name of unreadable) {
        excluded.set(name, "its definition is too large or too deep");
      }
      for (const [name, { approved }] of entries) {
        if (!single.has(name)) {
          entries.set(name, approved === undefined ? {} : { approved });
        }
      }
      for (const [name, { tool, hash }] of single) {
        take(name, tool, hash);
      }
      isFirst = false;
    },
    approve(name, hash) {
      const listed = entries.get(name)?.listed;
      return listed !== undefined && listed.hash === hash && accept(name, listed);
    },
    find: (name) => entries.get(name)?.approved?.tool,
    refusal: (name) => refusalOf(name, entries.get(name)),
    usable: () =>
      [...entries.values()].flatMap((entry) =>
        statusOf(entry) === "approved" && entry.approved !== undefined ? [entry.approved.tool] : [],
      ),
    definitions: () =>
      [...entries].flatMap(([name, entry]) => {
        const hash = entry.listed?.hash ?? entry.approved?.hash;
        return hash === undefined || excluded.has(name) ? [] : [{ name, hash, status: statusOf(entry) }];
      }),
    excluded: () => [...excluded].map(([name, reason]) => ({ name: printable(name, 80), reason })),
  };
}

function statusOf({ approved, listed }: Entry): McpDefinition["status"] {
  if (listed === undefined) {
    return "gone";
  }
  if (approved === undefined) {
    return "new";
  }
  return approved.hash === listed.hash ? "approved" : "changed";
}

function refusalOf(name: string, entry: Entry | undefined): ToolError | undefined {
  if (entry === undefined || (entry.approved === undefined && entry.listed === undefined)) {
    return { code: "unknown_tool", message: `unknown tool "${printable(name, 80)}"`, retryable: false };
  }
  const status = statusOf(entry);
  if (status === "approved") {
    return undefined;
  }
  const what = { changed: "other than it was approved", new: "not approved yet", gone: "no longer listed" }[status];
  const message = `the tool ${printable(name, 80)} is ${what} by its server; it is not called until an operator approves it`;
  return { code: TOOL_DEFINITION_CHANGED, message, retryable: false, details: { status } };
}

function sorted(tools: readonly Tool[]) {
  const single = new Map<string, { readonly tool: Tool; readonly hash: string }>();
  const twice = new Set<string>();
  const unreadable = new Set<string>();
  const seen = new Set<string>();
  for (const tool of tools) {
    const hash = definitionHash(tool);
    if (seen.has(tool.name)) {
      twice.add(tool.name);
    } else if (hash === undefined) {
      unreadable.add(tool.name);
    } else {
      single.set(tool.name, { tool, hash });
    }
    seen.add(tool.name);
  }
  for (const name of twice) {
    single.delete(name);
  }
  return { single, twice, unreadable };
}
