import type { ConformanceCase } from "../conformance-case.ts";
import { DELIVERY_CASES } from "./delivery-cases.ts";
import { REPEAT_CASES } from "./repeat-cases.ts";
import { SHARING_CASES } from "./sharing-cases.ts";
import type { OpenedWaker } from "./waker-case.ts";

export type { OpenedWaker } from "./waker-case.ts";

/** Everything that a waker promises, as cases for any test runner. `open` gives a fresh one for each case. */
export function wakerConformance(open: () => Promise<OpenedWaker>): readonly ConformanceCase[] {
  return [...DELIVERY_CASES, ...REPEAT_CASES, ...SHARING_CASES].map(({ name, run }) => ({
    name,
    run: async () => {
      const opened = await open();
      try {
        await run(opened);
      } finally {
        await opened.close();
      }
    },
  }));
}
