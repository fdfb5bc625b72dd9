import { BelayError } from "../errors.ts";
import { auditEntries, recordOf } from "./audit-source.ts";
import { type Command, DATABASE_OPTIONS, hasFlag, JSON_OPTION } from "./command.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { wholeNumber } from "./usage.ts";

export const auditShowCommand: Command = {
  name: "audit show",
  summary: "print the audit records, or one of them with its leaf hash",
  positionals: [{ name: "seq", isOptional: true }],
  options: { ...JSON_OPTION, ...DATABASE_OPTIONS },
  examples: ["audit show", "audit show 12", "audit show --json"],
  run: async (input) => {
    const { output } = input;
    const [place, isJson] = [placeOf(input), hasFlag(input, "json")];
    const [given] = input.positionals;
    return withStore(openStore(place), async (store) => {
      if (given === undefined) {
        for await (const { seq, text } of auditEntries(store)) {
          if (isJson) {
            output.json({ seq, record: recordOf(text) });
          } else {
            output.line({ text: String(seq).padStart(6), style: "dim" }, `  ${text}`);
          }
        }
        return 0;
      }
      const seq = wholeNumber("seq", given, 0, Number.MAX_SAFE_INTEGER);
      const [entry] = await store.audit.entries(seq, 1);
      if (entry?.seq !== seq) {
        throw new BelayError(
          "BELAY_AUDIT_RECORD_UNKNOWN",
          `There is no audit record ${seq}. The log has ${await store.audit.size()} records, counted from 0.`,
        );
      }
      const { text, leaf } = entry;
      output.json({ seq, leaf, record: recordOf(text) }, 2);
      return 0;
    });
  },
};
