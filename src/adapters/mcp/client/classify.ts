import type { PermissionLevel, RecoveryClass } from "../../../core/index.ts";
import { ownValue } from "../json-object.ts";

/** How an operator classes one tool of a server. */
export interface McpToolClass {
  readonly level: PermissionLevel;
  /** Default `read` for the level `read`, else `opaque`: an outcome that was lost stays unknown. */
  readonly recovery?: Exclude<RecoveryClass, "queryable">;
  readonly timeoutMs?: number;
  /** Default true: the result may hold words of outsiders. */
  readonly untrusted?: boolean;
  /**
   * The server reports a failure of this tool only when nothing was changed. Default false: it may have failed half
   * way, and the outcome of a change is then unknown.
   */
  readonly failuresAreDefinite?: boolean;
}

export type McpLevels = Readonly<Record<string, PermissionLevel | McpToolClass>>;

/** What becomes of a tool that nobody classed. `ask`: irreversible, and a person decides on each call. */
export type Unclassified = "ask" | "refuse";

export interface Classed {
  readonly level: PermissionLevel;
  readonly recovery: RecoveryClass;
  readonly timeoutMs?: number;
  readonly untrusted: boolean;
  readonly failuresAreDefinite: boolean;
  readonly risk?: "may_happen_twice_or_unknown";
}

const ORDER: readonly PermissionLevel[] = ["read", "write", "admin", "irreversible"];

/**
 * Gives a tool its level: what the operator said, or the highest. `undefined` when unclassed tools are refused.
 *
 * What the server says about itself may raise a level and never lowers one: a tool that is classed `read` and says that
 * it changes something is a write, and one that says it destroys is irreversible.
 */
export function classify(
  tool: { readonly name: string; readonly annotations?: unknown },
  levels: McpLevels,
  unclassified: Unclassified,
): Classed | undefined {
  const given = Object.hasOwn(levels, tool.name) ? levels[tool.name] : undefined;
  if (given === undefined && unclassified === "refuse") {
    return undefined;
  }
  const stated: McpToolClass = typeof given === "string" ? { level: given } : (given ?? { level: "irreversible" });
  const level = raised(stated.level, tool.annotations);
  const recovery = level === "read" ? "read" : changeRecovery(stated);
  return {
    level,
    recovery,
    untrusted: stated.untrusted !== false,
    failuresAreDefinite: stated.failuresAreDefinite === true,
    ...(stated.timeoutMs === undefined ? {} : { timeoutMs: stated.timeoutMs }),
    ...(level === "irreversible" && recovery === "opaque" ? { risk: "may_happen_twice_or_unknown" as const } : {}),
  };
}

function changeRecovery({ recovery }: McpToolClass): RecoveryClass {
  return recovery === "keyed" ? "keyed" : "opaque";
}

function raised(level: PermissionLevel, annotations: unknown): PermissionLevel {
  const isDestructive = ownValue(annotations, "destructiveHint") === true;
  const changes = ownValue(annotations, "readOnlyHint") === false;
  // `destructiveHint` means something only for a tool that changes anything.
  const isReadOnly = ownValue(annotations, "readOnlyHint") === true;
  const least: PermissionLevel = isDestructive && !isReadOnly ? "irreversible" : changes ? "write" : "read";
  return ORDER.indexOf(least) > ORDER.indexOf(level) ? least : level;
}
