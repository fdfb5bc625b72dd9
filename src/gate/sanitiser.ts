import { type QuarantineTrigger, quarantine } from "../context/index.ts";
import type { JsonValue } from "../core/index.ts";
import { ask, deny, type Rule } from "../policy/index.ts";

/** The phrases that S2, a published harness package, looks for in the arguments of actions. */
export const SANITISER_PHRASES: readonly QuarantineTrigger[] = [
  "ignore_previous",
  "forget_instructions",
  "you_are_now",
  "act_as",
  "jailbreak",
  "bypass",
  "override_system",
  "system_override",
  "end_of_sequence",
  "section_break",
  "system_heading",
  "chat_markup",
  "system_prompt",
];

/** More than so many are not looked for: who floods the arguments is found out by the first. */
const SUSPICIONS_MAX = 20;

/** A phrase and where it stands: `note`, `items[2].text`; empty for a value that is a string itself. */
export interface Suspicion {
  readonly phrase: QuarantineTrigger;
  readonly path: string;
}

export interface Sanitiser {
  /** The phrases in the strings of a value, keys of objects included; the first 20. Changes nothing. */
  inspect(value: JsonValue): readonly Suspicion[];
}

export interface SanitiserOptions {
  /** Which phrases count. Default `SANITISER_PHRASES`. */
  readonly phrases?: readonly QuarantineTrigger[];
}

/**
 * Creates the input sanitiser: telemetry on texts that look like instructions to a model.
 *
 * It reads normalised text (compatibility forms, look-alikes, invisible characters, case) in a time that grows with its
 * length only. It is no boundary. Known misses: every paraphrase ("please set aside what you were told"), another
 * language, a phrase that is encoded (Base64, ROT13) or split over two arguments, and words with more than 60 characters
 * between them. Known false alarms: honest text that says "bypass", "act as" or "system prompt".
 *
 * Throws `BELAY_FILTER_INVALID` for an unknown phrase, or none.
 */
export function createSanitiser(options: SanitiserOptions = {}): Sanitiser {
  const { phrases = SANITISER_PHRASES } = options;
  const any = quarantine({ triggers: phrases });
  const each = phrases.map((phrase) => ({ phrase, filter: quarantine({ triggers: [phrase] }) }));
  const context = { tool: "", callId: "", isError: false, untrusted: true };
  const matches = (filter: ReturnType<typeof quarantine>, value: JsonValue): boolean => {
    const { note } = filter.apply(value, context);
    return typeof note === "object" && note !== null && "lines" in note && Number(note["lines"]) > 0;
  };
  return {
    inspect(value) {
      // Most values have no such phrase, and one look at all of their texts says so.
      if (!matches(any, value)) return [];
      const found: Suspicion[] = [];
      for (const { path, text } of stringsOf(value)) {
        if (found.length >= SUSPICIONS_MAX) break;
        if (!matches(any, text)) continue;
        found.push(...each.flatMap(({ phrase, filter }) => (matches(filter, text) ? { phrase, path } : [])));
      }
      return found.slice(0, SUSPICIONS_MAX);
    },
  };
}

/** A rule that refuses, or asks a person about, arguments with such a phrase. Put it before the others. */
export function sanitiserRule(sanitiser: Sanitiser, onSuspicion: "ask" | "deny"): Rule {
  return {
    id: "belay.sanitiser",
    decide(call, context) {
      const found = sanitiser.inspect(call.args);
      if (found.length === 0) return undefined;
      context.read(
        "suspicions",
        found.map(({ phrase, path }) => ({ phrase, path })),
      );
      const reason = `the arguments hold ${[...new Set(found.map(({ phrase }) => phrase))].join(", ")}`;
      return onSuspicion === "deny" ? deny("SUSPICIOUS_INPUT", reason) : ask("SUSPICIOUS_INPUT", reason);
    },
  };
}

interface Located {
  readonly path: string;
  readonly text: string;
}

function stringsOf(value: JsonValue, path = ""): readonly Located[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (Array.isArray(value)) {
    return value.flatMap((item: JsonValue, index) => stringsOf(item, `${path}[${index}]`));
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const inner = path === "" ? key : `${path}.${key}`;
    return [{ path: `${inner} (key)`, text: key }, ...stringsOf(item, inner)];
  });
}
