import { expect, it } from "vitest";
import type { AnyApp } from "../../src/config.ts";
import { type EvalSuite, runCase } from "../../src/evals/index.ts";
import bank from "../cli/fixtures/bank.ts";
import { CASES } from "../cli/fixtures/bank-cases.ts";

it("a model that is not there fails a case at once, which waits for no second attempt", async () => {
  let asked = 0;
  const down = {
    id: "down",
    generate: async () => {
      asked += 1;
      throw Object.assign(new Error("not there"), { statusCode: 503 });
    },
  };
  const app: AnyApp = { ...bank, agent: bank.agent, offlineModel: () => down };
  const suite = (await app.suites?.["reference"]?.()) as EvalSuite;
  const [first] = CASES;
  if (first === undefined) throw new Error("the bank has no case");
  const { script: _script, mockScript: _mock, ...evalCase } = first;
  const result = await runCase({
    app,
    suite,
    case: { ...evalCase, expect: { stop: "model_error" } },
  });
  expect([asked, result.reasons]).toEqual([1, []]);
});
