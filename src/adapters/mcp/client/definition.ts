import { createHash } from "node:crypto";
import type { Tool } from "@modelcontextprotocol/client";
import { canonicalize, checkJsonValue } from "../../../core/index.ts";

/**
 * SHA-256, in hex, of what a server says a tool is: name, texts, schemas and annotations. The order of keys is no
 * difference. `undefined` when the definition is too large or too deep to be looked at.
 */
export function definitionHash(tool: Tool): string | undefined {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const checked = checkJsonValue(
    { name, title, description, inputSchema, outputSchema, annotations },
    { depthMax: 60, charactersMax: 400_000, repairText: true },
  );
  const canonical = checked.ok ? canonicalize(checked.value) : undefined;
  return canonical?.ok === true ? createHash("sha256").update(canonical.text).digest("hex") : undefined;
}
