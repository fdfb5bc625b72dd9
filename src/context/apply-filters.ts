import { checkJsonValue, type JsonValue } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { asPromise, isThenable } from "../tool/index.ts";
import type { Filter, FilterContext } from "./filter.ts";

/** What the model will see of a result, and what is recorded about it. */
export interface AppliedFilters {
  readonly view: JsonValue;
  /** In the order of the filters, each `{ filter: id, note }`, or `{ filter: id, failed: true }`. */
  readonly notes: readonly JsonValue[];
  /** True when a filter failed and the result was withheld. */
  readonly failed: boolean;
}

/** What the model sees in place of a result that could not be filtered. */
export const WITHHELD_VIEW: JsonValue = { error: "filter_failed", message: "result withheld: a filter failed" };

const NOTE_CHARACTERS_MAX = 2_000;
// Results may be this deep and large; see the tool executor.
const VIEW_LIMITS = { depthMax: 64, charactersMax: 16_000_000, repairText: true } as const;

/**
 * Sends a result through the filters, in order; the stored result is not touched.
 *
 * A filter that throws or gives junk (no value, a promise, something that is not JSON) withholds the whole result: the
 * unfiltered value is never shown. Never throws.
 */
export function applyFilters(filters: readonly Filter[], value: JsonValue, context: FilterContext): AppliedFilters {
  const notes: JsonValue[] = [];
  let view = value;
  for (const filter of filters) {
    const applied = applyOne(filter, view, context);
    if (applied === undefined) {
      notes.push({ filter: filter.id, failed: true });
      return { view: WITHHELD_VIEW, notes, failed: true };
    }
    view = applied.view;
    if (applied.note !== undefined) {
      notes.push({ filter: filter.id, note: applied.note });
    }
  }
  return { view, notes, failed: false };
}

/** Throws `BELAY_FILTER_INVALID` for a filter without a usable id or `apply`, and for an id that occurs twice. */
export function checkFilters(filters: readonly Filter[]): void {
  const ids = new Set<string>();
  for (const filter of filters) {
    if (typeof filter.id !== "string" || !/^[A-Za-z0-9_.:-]{1,64}$/.test(filter.id) || ids.has(filter.id)) {
      throw new BelayError(
        "BELAY_FILTER_INVALID",
        `A filter has the id ${JSON.stringify(String(filter.id).slice(0, 80))}, which is taken or cannot be one. ` +
          'Use 1 to 64 ASCII letters, digits, "_", ".", ":" and "-", once for each filter.',
      );
    }
    if (typeof filter.apply !== "function") {
      throw new BelayError("BELAY_FILTER_INVALID", `The filter "${filter.id}" has no apply function. Add one.`);
    }
    ids.add(filter.id);
  }
}

interface Applied {
  readonly view: JsonValue;
  readonly note?: JsonValue;
}

function applyOne(filter: Filter, value: JsonValue, context: FilterContext): Applied | undefined {
  try {
    // A copy goes in, so that a filter cannot write into the stored result.
    const copied = checkJsonValue(value, VIEW_LIMITS);
    const filtered: unknown = copied.ok ? filter.apply(copied.value, context) : undefined;
    if (isThenable(filtered)) {
      // Not waited for, and its rejection must not end the process.
      asPromise(filtered).catch(() => undefined);
      return undefined;
    }
    return typeof filtered === "object" && filtered !== null ? readFiltered(filtered) : undefined;
  } catch {
    return undefined;
  }
}

function readFiltered(filtered: object): Applied | undefined {
  const { value, note } = filtered as { readonly value?: unknown; readonly note?: unknown };
  const view = value === undefined ? undefined : checkJsonValue(value, VIEW_LIMITS);
  if (view?.ok !== true) {
    return undefined;
  }
  return note === undefined ? { view: view.value } : { view: view.value, note: boundedNote(note) };
}

/** A bad note is no reason to withhold a result that was filtered well. */
function boundedNote(note: unknown): JsonValue {
  const checked = checkJsonValue(note, { repairText: true });
  if (!checked.ok) {
    return { omitted: `not JSON: ${checked.message}` };
  }
  const { length } = JSON.stringify(checked.value);
  return length <= NOTE_CHARACTERS_MAX
    ? checked.value
    : { omitted: `${length} characters, ${NOTE_CHARACTERS_MAX} are kept` };
}
