import { type Command, DATABASE_OPTIONS, hasFlag, JSON_OPTION } from "./command.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { printApproval } from "./run-result.ts";

export const approvalsCommand: Command = {
  name: "approvals",
  summary: "list the questions that wait for a person, oldest first",
  positionals: [],
  options: {
    all: { type: "boolean", help: "answered and expired ones too" },
    ...JSON_OPTION,
    ...DATABASE_OPTIONS,
  },
  examples: ["approvals", "approvals --all --json"],
  run: async (input) => {
    const place = placeOf(input);
    const { tenant } = place;
    const isAll = hasFlag(input, "all");
    const rows = await withStore(openStore(place), (store) =>
      store.approvals({ tenant, ...(!isAll && { status: "pending" as const }) }),
    );
    if (hasFlag(input, "json")) {
      input.output.json(rows, 2);
      return 0;
    }
    for (const row of rows) {
      printApproval(input.output, row);
    }
    if (rows.length === 0) {
      input.output.progress(isAll ? "Nothing was ever asked." : "Nothing waits for a person.");
    }
    return 0;
  },
};
