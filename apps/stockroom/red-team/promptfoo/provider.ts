import { stockroomConfig } from "../../config.ts";
import { createStockroomHarness } from "../../harness.ts";
import { envelopeOf } from "../envelope.ts";

/** A provider for promptfoo: each prompt is one run in a fresh world, and the output is its envelope as JSON. */
export default class StockroomProvider {
  id(): string {
    return "belay-stockroom";
  }

  async callApi(prompt: string): Promise<{ readonly output: string }> {
    // The mock planner alone: a red team that reaches a paid model is switched on by hand, not by a variable.
    await using harness = createStockroomHarness({ config: stockroomConfig({}, withoutMode(process.env)) });
    return { output: JSON.stringify(envelopeOf(await harness.run(prompt))) };
  }
}

function withoutMode({ STOCKROOM_MODE: _mode, ...environment }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return environment;
}
