import type { JournalLine, RunKey, TracedRecord } from "./store.ts";

/** Every record from the place `from` on; `read` gives one page of those at `next` and behind, none at the end. */
export async function* tracedPages(
  from: number,
  read: (next: number) => readonly TracedRecord[] | Promise<readonly TracedRecord[]>,
): AsyncIterable<TracedRecord> {
  for (let next = from; ; ) {
    const page = await read(next);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) {
      return;
    }
    next = last.seq + 1;
  }
}

/** Every line of a journal; `read` gives one page of those behind a line of a run, none at the end. */
export async function* linePages(
  read: (run: RunKey, after: number) => readonly JournalLine[] | Promise<readonly JournalLine[]>,
): AsyncIterable<JournalLine> {
  let run: RunKey = { tenant: "", runId: "" };
  for (let after = 0; ; ) {
    const page = await read(run, after);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) {
      return;
    }
    run = last.run;
    after = last.seq;
  }
}
