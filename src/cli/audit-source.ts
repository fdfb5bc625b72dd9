import type { AuditEntry } from "../audit/index.ts";
import type { Store } from "../journal/index.ts";

const PAGE = 500;

/** Reads the audit log of a store in pages, from place `from` on. */
export async function* auditEntries(store: Store, from: number = 0): AsyncGenerator<AuditEntry> {
  for (let next = from; ; ) {
    const page = await store.audit.entries(next, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) {
      return;
    }
    next = last.seq + 1;
  }
}

/** A record as a value; one that was broken comes as its text, because it is still what the log holds. */
export function recordOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
