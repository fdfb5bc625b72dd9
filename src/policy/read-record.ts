import { checkJsonValue, type JsonValue } from "../core/index.ts";

const READS_CHARACTERS_MAX = 2_000;

/** Keeps what the rules read while they judged one call. */
export interface ReadRecord {
  add(name: string, value: unknown): void;
  /** Everything so far, bounded; `undefined` when nothing was read. */
  take(): JsonValue | undefined;
}

export function createReadRecord(): ReadRecord {
  const reads = new Map<string, JsonValue>();
  const seen = new Set<string>();
  return {
    add(name, value) {
      // Copied at once: the rule may change the object later.
      const checked = checkJsonValue(value, { charactersMax: 100_000, repairText: true });
      const read = checked.ok ? checked.value : { omitted: `not JSON: ${checked.message}` };
      // Several rules look at the same fact; once is enough.
      const told = `${name} ${JSON.stringify(read)}`;
      if (seen.has(told)) return;
      seen.add(told);
      reads.set(freeName(reads, name), read);
    },
    take() {
      if (reads.size === 0) {
        return undefined;
      }
      const checked = checkJsonValue(Object.fromEntries(reads), { repairText: true });
      const characters = checked.ok ? JSON.stringify(checked.value).length : 0;
      if (checked.ok && characters <= READS_CHARACTERS_MAX) {
        return checked.value;
      }
      const why = checked.ok ? `${characters} characters, ${READS_CHARACTERS_MAX} are kept` : checked.message;
      return { omitted: `${reads.size} read(s): ${why}` };
    },
  };
}

/** A second read under one name may have found something else, so it does not replace the first. */
function freeName(reads: ReadonlyMap<string, JsonValue>, name: string): string {
  let free = name;
  for (let count = 2; reads.has(free); count += 1) {
    free = `${name}#${count}`;
  }
  return free;
}
