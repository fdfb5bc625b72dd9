import { approvalIsIntact } from "../journal/index.ts";
import { type Command, DATABASE_OPTIONS, hasFlag, JSON_OPTION } from "./command.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { printApproval } from "./run-result.ts";

export const approvalsCommand: Command = {
  name: "approvals",
  summary: "list the questions that wait for a person, oldest first; exit 1 when one was tampered with",
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
    const isWhole = rows.every(approvalIsIntact);
    if (hasFlag(input, "json")) {
      input.output.json(
        rows.map((row) => ({ ...row, isIntact: approvalIsIntact(row) })),
        2,
      );
      return isWhole ? 0 : 1;
    }
    for (const row of rows) {
      printApproval(input.output, row);
    }
    if (rows.length === 0) {
      input.output.progress(isAll ? "Nothing was ever asked." : "Nothing waits for a person.");
    }
    return isWhole ? 0 : 1;
  },
};
