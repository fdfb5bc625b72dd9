import { BelayError } from "../errors.ts";
import { isReservation, type RunRow, type Store } from "../journal/index.ts";
import {
  CONFIG_OPTIONS,
  type Command,
  type CommandInput,
  DATABASE_OPTIONS,
  hasFlag,
  JSON_OPTION,
  textOption,
} from "./command.ts";
import { goOn } from "./go-on.ts";
import type { LoadedConfig } from "./load-config.ts";
import { chosenModel, MODEL_OPTIONS } from "./model-option.ts";
import { openStore, type Place, placeOf, withStore } from "./place.ts";
import { appNameOfAgent, harnessOf, type OpenApp, openApp, projectConfig } from "./project.ts";
import { labelOf } from "./run-result.ts";
import { checkSameModel } from "./same-model.ts";

const PAGE = 100;

interface Recovered {
  readonly tenant: string;
  readonly runId: string;
  readonly status: string;
  readonly label: string;
}

export const recoverCommand: Command = {
  name: "recover",
  summary: "go on with every unfinished run: after a crash, an answer with --no-run, an expiry",
  positionals: [],
  options: {
    ...MODEL_OPTIONS,
    ...JSON_OPTION,
    db: DATABASE_OPTIONS.db,
    postgres: DATABASE_OPTIONS.postgres,
    ...CONFIG_OPTIONS,
  },
  examples: ["recover", "recover --json"],
  run: async (input) => {
    const place = placeOf(input);
    const config = await projectConfig(input);
    return withStore(openStore(place), async (store) => {
      const apps = new Map<string, OpenApp>();
      try {
        return await recoverAll(input, config, place, store, apps);
      } finally {
        for (const app of apps.values()) {
          app.close();
        }
      }
    });
  },
};

async function recoverAll(
  input: CommandInput,
  config: LoadedConfig,
  place: Place,
  store: Store,
  apps: Map<string, OpenApp>,
): Promise<number> {
  const { output } = input;
  const recovered: Recovered[] = [];
  let firstError: BelayError | undefined;
  for await (const row of unfinishedRuns(store)) {
    if (input.signal.aborted) {
      break;
    }
    if (await isReservation(store, row)) {
      output.progress(
        `${row.runId}: points held by the account ${row.agent}; whoever reserved them settles or refunds`,
      );
      continue;
    }
    try {
      const opened = await appOf(row, input, config, place, store, apps);
      await checkSameModel(input, opened, row, false);
      const harness = harnessOf(opened, row.agent);
      // Who holds a lease is alive and goes on by itself, so there is nothing to wait for.
      const result = await goOn(harness, row, input.signal, 0);
      const { tenant, runId } = row;
      recovered.push({ tenant, runId, status: result.status, label: labelOf(result) });
    } catch (error) {
      // One run must not keep the others from going on.
      if (!(error instanceof BelayError)) {
        throw error;
      }
      firstError ??= error;
      output.progress(`${row.runId}: ${error.message}`);
    }
  }
  if (hasFlag(input, "json")) {
    output.json(recovered, 2);
  } else {
    for (const { runId, status, label } of recovered) {
      output.line(`${runId}  ${status}  ${label}`);
    }
    output.progress(`${recovered.length} runs looked at.`);
  }
  if (firstError !== undefined) {
    throw firstError;
  }
  return 0;
}

async function* unfinishedRuns(store: Store): AsyncGenerator<RunRow> {
  let after: RunRow | undefined;
  do {
    const page = await store.unfinished(PAGE, after);
    yield* page;
    after = page.at(-1);
  } while (after !== undefined);
}

async function appOf(
  row: RunRow,
  input: CommandInput,
  config: LoadedConfig,
  place: Place,
  store: Store,
  apps: Map<string, OpenApp>,
): Promise<OpenApp> {
  const known = apps.get(row.agent);
  if (known !== undefined) {
    return known;
  }
  const name = await appNameOfAgent(config, row.agent);
  const opened = await openApp(config, name, place, store, input.output.progress, {
    chosen: await chosenModel(input),
    allowOtherModel: textOption(input, "model") !== undefined,
  });
  apps.set(row.agent, opened);
  return opened;
}
