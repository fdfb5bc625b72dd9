import type { StoreRetention } from "../../journal/index.ts";
import type { Database } from "./database.ts";
import { dropBlobs } from "./drop-blobs.ts";
import { retireRun } from "./retire-run.ts";
import type { Sequencer } from "./sequencer.ts";

/** How a PostgreSQL store forgets. What was removed is on the server's disk until its pages are vacuumed and reused. */
export function createPostgresRetention(database: Database, sequencer: Sequencer): StoreRetention {
  return {
    retire: async (request) => {
      database.open();
      // So that the size and root that `run.retired` notes are of a log that has all records of the run.
      await sequencer.flush();
      return retireRun(database, request);
    },
    dropBlobs: async (without) => {
      database.open();
      return dropBlobs(database, without);
    },
  };
}
