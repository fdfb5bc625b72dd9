import { expect, it } from "vitest";
import { BelayError } from "../../src/errors.ts";
import { toldProblem } from "../../src/server/http/problem.ts";

it("a queue that is full is told as 503 with the time after which to come back", () => {
  const overloaded = new BelayError("BELAY_OVERLOADED", "1000 runs wait", { retryAfterMs: 4100 });
  expect(toldProblem(overloaded)).toMatchObject({
    status: 503,
    code: "BELAY_OVERLOADED",
    headers: { "retry-after": "5" },
  });
  expect(toldProblem(new BelayError("BELAY_STORE_LOCKED", "x")).headers).toEqual({ "retry-after": "2" });
});
