import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { describe, expect, it } from "vitest";
import { BELAY } from "../../src/telemetry/attributes.ts";
import { attributeNames, SEMCONV_VERSIONS } from "../../src/telemetry/index.ts";

const known = new Map(
  Object.entries(conventions)
    .filter(([constant]) => constant.startsWith("ATTR_"))
    .map(([constant, name]) => [String(name), constant]),
);

/** The installed declarations with their comments, since only these say what replaced a name. */
const declarations = readFileSync(
  join(
    dirname(createRequire(import.meta.url).resolve("@opentelemetry/semantic-conventions")),
    "experimental_attributes.d.mts",
  ),
  "utf8",
);

describe("attribute names", () => {
  it.each(SEMCONV_VERSIONS)("of version %s are known to the installed conventions, or are ours", (version) => {
    const foreign = Object.values(attributeNames(version)).filter(
      (name) => !known.has(name) && !name.startsWith("belay."),
    );
    expect(foreign).toEqual([]);
  });

  it("of the default version are all standard, and none was replaced by another name", () => {
    const names = Object.values(attributeNames("1.41"));
    expect(names.filter((name) => name.startsWith("belay."))).toEqual([]);
    const replaced = names.filter((name) => {
      const comment =
        declarations
          .split(`declare const ${known.get(name)}:`)[0]
          ?.split("/**")
          .at(-1) ?? "";
      return /@deprecated (?:Replaced|Removed)/.test(comment);
    });
    expect(replaced).toEqual([]);
  });

  it("of version 1.36 differ where the provider was called a system", () => {
    expect(attributeNames("1.36").provider).toBe(conventions.ATTR_GEN_AI_SYSTEM);
    expect(attributeNames("1.41").provider).toBe(conventions.ATTR_GEN_AI_PROVIDER_NAME);
  });

  it("are each used for one thing", () => {
    for (const version of SEMCONV_VERSIONS) {
      const names = [...Object.values(attributeNames(version)), ...Object.values(BELAY)];
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it("of our own stand under a prefix that the conventions do not have", () => {
    const { spanKind, ...ours } = BELAY;
    expect(spanKind).toBe("openinference.span.kind");
    expect(Object.values(ours).filter((name) => !name.startsWith("belay."))).toEqual([]);
    expect([...known.keys()].filter((name) => name.startsWith("belay."))).toEqual([]);
  });
});
