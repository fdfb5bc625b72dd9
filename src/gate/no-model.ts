import { BelayError } from "../errors.ts";
import type { ModelClient } from "../model/index.ts";

/** For runs of given calls, which end without asking anybody. */
export const NO_MODEL: ModelClient = {
  id: "none",
  generate: () => Promise.reject(new BelayError("BELAY_INTERNAL", "a run of given calls asks no model")),
};
