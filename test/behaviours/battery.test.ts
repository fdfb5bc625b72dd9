import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ALSO_IN, BEHAVIOUR_IDS, PENDING, RETURNS_WITH } from "./ids.ts";

const FOLDER = new URL("./", import.meta.url);
const NAMED = /\bit(?:\.each\([^)]*\))?\(\s*"([a-z0-9-]+): /g;

/** Ids that stand at the beginning of a test's name, with the files they are in. */
function testedIds(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".test.ts") && name !== "battery.test.ts")) {
    const text = readFileSync(new URL(file, FOLDER), "utf8");
    for (const [, id = ""] of text.matchAll(NAMED)) found.set(id, [...(found.get(id) ?? []), file]);
  }
  return found;
}

describe("the behaviour battery", () => {
  const tested = testedIds();

  it("has a test or a pending topic for every id", () => {
    expect(BEHAVIOUR_IDS.filter((id) => !tested.has(id) && !Object.hasOwn(PENDING, id))).toEqual([]);
  });

  it("names no id that is not on the list, and lists none twice", () => {
    const known = new Set(BEHAVIOUR_IDS);
    expect(known.size).toBe(BEHAVIOUR_IDS.length);
    expect([...tested.keys()].filter((id) => !known.has(id))).toEqual([]);
    const named = [PENDING, RETURNS_WITH, ALSO_IN].flatMap((each) => Object.keys(each));
    expect(named.filter((id) => !known.has(id))).toEqual([]);
  });

  it("keeps an id pending only as long as it has no test", () => {
    expect(Object.keys(PENDING).filter((id) => tested.has(id))).toEqual([]);
    expect(Object.keys(RETURNS_WITH).filter((id) => !tested.has(id))).toEqual([]);
  });

  it("finds the tests of an id over HTTP where they are said to be", () => {
    const missing = Object.entries(ALSO_IN).filter(
      ([id, file]) => !readFileSync(new URL(`../${file}`, FOLDER), "utf8").includes(`it("${id}: `),
    );
    expect(missing).toEqual([]);
  });

  it("keeps the tests of an id in one file, where a reader finds them", () => {
    expect([...tested].filter(([, files]) => new Set(files).size > 1)).toEqual([]);
  });

  it("skips nothing silently", () => {
    for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".test.ts") && name !== "battery.test.ts")) {
      expect(readFileSync(new URL(file, FOLDER), "utf8")).not.toMatch(/\.(?:skip|todo|only|fails)\b/);
    }
  });
});
