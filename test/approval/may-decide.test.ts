import { describe, expect, it } from "vitest";
import { refusalToDecide } from "../../src/approval/index.ts";
import type { Principal } from "../../src/core/index.ts";
import { question } from "./support.ts";

const person = (id: string): Principal => ({ kind: "person", id });

describe("refusalToDecide", () => {
  it("lets another person decide", () => {
    expect(refusalToDecide(person("dana"), question())).toBeUndefined();
  });

  it.each(["agent", "customer", "system"] as const)(
    "refuses whoever is known as %s, whatever the application says",
    (kind) => {
      const refusal = refusalToDecide({ kind, id: "bot-7" }, question(), () => true);
      expect(refusal).toBe(`only a person can decide an approval, and 'bot-7' is known as: ${kind}`);
    },
  );

  it.each(["", "   ", "\t\n"])("refuses a person whose name is %j", (id) => {
    expect(refusalToDecide(person(id), question())).toBe("the person has no name");
  });

  it.each(["carol", "CAROL", "  Carol ", "ｃａｒｏｌ", "carol\n"])("knows who asked in another spelling: %j", (id) => {
    expect(refusalToDecide(person(id), question(), () => true)).toBe(
      `${id} asked for this and cannot approve it; another person has to`,
    );
  });

  it("takes spaces and capitals of the one who asked away too", () => {
    const asked = question({ requester: { kind: "person", id: " Carol " } });
    expect(refusalToDecide(person("carol"), asked)).toContain("asked for this");
    expect(refusalToDecide(person("carola"), asked)).toBeUndefined();
  });

  it("separates duties among people alone: an agent that asked may share a person's name", () => {
    const asked = question({ requester: { kind: "agent", id: "dana" } });
    expect(refusalToDecide(person("dana"), asked)).toBeUndefined();
  });

  it("asks the application's rule about this very question, and allows for nothing but true", () => {
    const seen: unknown[] = [];
    const rule = (answer: unknown) => (by: Principal, row: unknown) => {
      seen.push([by, row]);
      return answer as boolean;
    };
    expect(refusalToDecide(person("dana"), question(), rule(true))).toBeUndefined();
    expect(seen).toEqual([[person("dana"), question()]]);
    for (const answer of [false, undefined, 1, "yes", Promise.resolve(true)]) {
      expect(refusalToDecide(person("dana"), question(), rule(answer))).toBe("dana may not decide this");
    }
  });

  it("allows nothing when the application's rule throws", () => {
    const rule = (): boolean => {
      throw new Error("no directory");
    };
    expect(refusalToDecide(person("dana"), question(), rule)).toBe("dana may not decide this");
  });
});
