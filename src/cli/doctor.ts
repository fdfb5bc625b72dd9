import { BelayError } from "../errors.ts";
import type { Store } from "../journal/index.ts";
import { type Command, type CommandInput, DATABASE_OPTIONS, hasFlag, JSON_OPTION } from "./command.ts";
import { attempt, type Check, fail } from "./doctor-check.ts";
import { checkKey, checkRights, checkSpace, checkVersions } from "./doctor-machine.ts";
import { checkStore } from "./doctor-store.ts";
import { openStore, type Place, placeOf, withStore } from "./place.ts";
import { findSigner, keyFile } from "./signing-key.ts";

const STYLE = { ok: "green", warn: "yellow", fail: "red" } as const;
const NAME_WIDTH = 16;

export const doctorCommand: Command = {
  name: "doctor",
  summary: "check the database, its evidence and this machine; exit 1 when something must be mended",
  positionals: [],
  options: {
    rebuild: { type: "boolean", help: "derive runs, approvals and budgets again, when the journal is intact" },
    "key-file": {
      type: "string",
      value: "file",
      help: "the project's signing key (default audit-key.pem beside the database)",
    },
    ...JSON_OPTION,
    ...DATABASE_OPTIONS,
  },
  examples: ["doctor", "doctor --rebuild", "doctor --json"],
  run: async (input) => {
    const checks = await checkAll(input, placeOf(input));
    const isOk = checks.every(({ status }) => status !== "fail");
    if (hasFlag(input, "json")) {
      input.output.json({ ok: isOk, checks }, 2);
    } else {
      for (const { name, status, detail } of checks) {
        input.output.line({ text: status.padEnd(4), style: STYLE[status] }, `  ${name.padEnd(NAME_WIDTH)}  ${detail}`);
      }
    }
    return isOk ? 0 : 1;
  },
};

async function checkAll(input: CommandInput, place: Place): Promise<readonly Check[]> {
  const store = await checkOpenedStore(input, place);
  return [
    checkVersions(),
    ...store,
    await attempt("signing key", () => checkKey(keyFile(input, place), place, findSigner(input, place)?.name)),
    // The server's disk is looked after by who runs the server.
    ...(place.postgres === undefined ? [checkRights(place), checkSpace(place)] : []),
  ];
}

async function checkOpenedStore(input: CommandInput, place: Place): Promise<readonly Check[]> {
  const { signal } = input;
  const options = { isRebuild: hasFlag(input, "rebuild"), now: Date.now(), signal };
  try {
    return await withStore(openStore(place), (store: Store) => checkStore(store, options));
  } catch (error) {
    // No database at all is a mistyped path, as for every command.
    if (error instanceof BelayError && error.code !== "BELAY_STORE_MISSING") {
      return [fail("database", `${error.message} (${error.code})`)];
    }
    throw error;
  }
}
