/** Child process: retires every run of the store and says so after the first few. */
import { writeSync } from "node:fs";
import { openSqliteStore } from "../../../../src/adapters/sqlite/index.ts";
import { retireRuns, type Store } from "../../../../src/journal/index.ts";

const [path = "", now = "0"] = process.argv.slice(2);
const store = await openSqliteStore(path);
let count = 0;
const counting: Store = {
  ...store,
  ...(store.retention && {
    retention: {
      dropBlobs: store.retention.dropBlobs,
      retire: async (request) => {
        const retired = await store.retention?.retire(request);
        count += 1;
        if (count === 50) writeSync(1, "some\n");
        return retired ?? { status: "kept", reason: "no retention" };
      },
    },
  }),
};
await retireRuns(counting, {
  tenant: "default",
  olderThanMs: 86_400_000,
  now: Number(now),
  by: { kind: "system", id: "gc" },
});
