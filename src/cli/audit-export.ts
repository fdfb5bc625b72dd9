import { CHAIN_GENESIS, chainLines } from "../audit/index.ts";
import { auditEntries, recordOf } from "./audit-source.ts";
import { type Command, DATABASE_OPTIONS, textOption } from "./command.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { choice } from "./usage.ts";

export const auditExportCommand: Command = {
  name: "audit export",
  summary: "print the audit log for other verifiers",
  positionals: [],
  options: {
    format: {
      type: "string",
      value: "format",
      help: "jsonl ({seq, text, leaf}; the default) or chain ({hash, prev, record})",
    },
    ...DATABASE_OPTIONS,
  },
  examples: ["audit export > audit.jsonl", "audit export --format chain > chain.jsonl"],
  run: async (input) => {
    const format = choice("format", textOption(input, "format") ?? "jsonl", ["jsonl", "chain"]);
    const place = placeOf(input);
    return withStore(openStore(place), async (store) => {
      let previous = CHAIN_GENESIS;
      for await (const { seq, text, leaf } of auditEntries(store)) {
        if (format === "jsonl") {
          // Byte for byte what was hashed: escapes for a terminal would be another text.
          input.output.raw(`${JSON.stringify({ seq, text, leaf })}\n`);
          continue;
        }
        for (const line of chainLines([recordOf(text)], previous)) {
          input.output.raw(`${line}\n`);
          previous = JSON.parse(line).hash;
        }
      }
      return 0;
    });
  },
};
