import { describe, expect, it } from "vitest";
import { classify, type McpToolClass } from "../../../src/adapters/mcp/client/classify.ts";
import type { PermissionLevel } from "../../../src/index.ts";

const ask = { level: "irreversible", recovery: "opaque", risk: "may_happen_twice_or_unknown" };

describe("the level of a stranger's tool", () => {
  it("is the highest when nobody gave one, whatever the server says", () => {
    expect(classify({ name: "delete_all", annotations: { readOnlyHint: true } }, {}, "ask")).toMatchObject(ask);
    expect(classify({ name: "delete_all", annotations: { readOnlyHint: true } }, {}, "refuse")).toBeUndefined();
    expect(classify({ name: "constructor" }, {}, "refuse")).toBeUndefined();
  });

  const cases: readonly (readonly [PermissionLevel | McpToolClass, object | undefined, PermissionLevel])[] = [
    ["read", undefined, "read"],
    ["read", { readOnlyHint: true, destructiveHint: true }, "read"],
    ["read", { readOnlyHint: false }, "write"],
    ["read", { destructiveHint: true }, "irreversible"],
    ["write", { readOnlyHint: true }, "write"],
    ["admin", { readOnlyHint: false }, "admin"],
    ["write", { destructiveHint: true }, "irreversible"],
    ["irreversible", { readOnlyHint: true, destructiveHint: false, idempotentHint: true }, "irreversible"],
  ];
  it.each(cases)("is raised and never lowered by annotations: %j with %j is %s", (given, annotations, level) => {
    expect(classify({ name: "t", annotations }, { t: given }, "ask")?.level).toBe(level);
  });

  it("decides what may be done about a lost outcome", () => {
    expect(classify({ name: "t" }, { t: "read" }, "ask")).toMatchObject({ recovery: "read", untrusted: true });
    expect(classify({ name: "t" }, { t: "write" }, "ask")).toMatchObject({ recovery: "opaque" });
    expect(classify({ name: "t" }, { t: { level: "write", recovery: "keyed" } }, "ask")?.recovery).toBe("keyed");
    // An annotation that makes it a change takes its free repetition away.
    expect(classify({ name: "t", annotations: { destructiveHint: true } }, { t: "read" }, "ask")).toMatchObject(ask);
  });
});
