/** Names of the phrases that make a paragraph look like an instruction. */
export type QuarantineTrigger =
  | "system_notice"
  | "disregard_instructions"
  | "must_immediately_call"
  | "reply_system_prompt"
  | "overrides_policy"
  | "ignore_previous"
  | "forget_instructions"
  | "you_are_now"
  | "act_as"
  | "jailbreak"
  | "bypass"
  | "override_system"
  | "system_override"
  | "system_prompt"
  | "end_of_sequence"
  | "chat_markup"
  | "system_heading"
  | "section_break";

export interface TriggerPattern {
  readonly trigger: QuarantineTrigger;
  /** A word without which the phrase cannot be there; looking for it first is much faster. */
  readonly needle: string;
  readonly pattern: RegExp;
  /** Comes after `pattern`, with at most `GAP_CHARACTERS_MAX` between the two. */
  readonly then?: RegExp;
}

/** Characters that may stand between the two parts of a phrase. */
export const GAP_CHARACTERS_MAX = 60;

/** No phrase is longer, so that windows which overlap by as much miss none. */
export const MATCH_CHARACTERS_MAX = 160;

/**
 * The patterns read folded text, in lower case. No quantifier stands in another, and a gap is measured in code and not
 * matched, so that the time for a text grows with its length only. A sign in a phrase (`[^a-z0-9_]`) is a space, a line
 * end, or what Markdown puts around a word.
 */
export const TRIGGER_PATTERNS: readonly TriggerPattern[] = [
  phrase("system_notice", "notice", /system[^a-z0-9_]{1,8}notice/g),
  phrase(
    "disregard_instructions",
    "disregard",
    /disregard[^a-z0-9]/g,
    /(?:earlier|previous|prior|above|instructions?)(?:$|[^a-z0-9])/g,
  ),
  phrase(
    "must_immediately_call",
    "immediately",
    /you[^a-z0-9_]{1,8}must[^a-z0-9_]{1,8}immediately[^a-z0-9_]{1,8}(?:call|invoke|run|execute|use)(?:$|[^a-z0-9])/g,
  ),
  phrase(
    "reply_system_prompt",
    "prompt",
    /(?:reply|respond|answer|reveal|repeat)[^a-z0-9]/g,
    /system[^a-z0-9_]{1,8}prompt/g,
  ),
  phrase("overrides_policy", "overrides", /overrides[^a-z0-9_]{1,8}the[^a-z0-9]/g, /policy(?:$|[^a-z0-9])/g),
  phrase("ignore_previous", "ignore", /ignore[^a-z0-9]/g, /(?:previous|above|prior)(?:$|[^a-z0-9])/g),
  phrase("forget_instructions", "forget", /forget[^a-z0-9]/g, /instruction/g),
  phrase("you_are_now", "now", /you[^a-z0-9_]{1,8}are[^a-z0-9_]{1,8}now(?:$|[^a-z0-9])/g),
  phrase("act_as", "act", /(?:^|[^a-z0-9])act[^a-z0-9_]{1,8}as(?:$|[^a-z0-9])/g),
  phrase("jailbreak", "jailbreak", /jailbreak/g),
  phrase("bypass", "bypass", /bypass/g),
  phrase("override_system", "override", /override/g, /system(?:$|[^a-z0-9])/g),
  phrase("system_override", "override", /system[^a-z0-9]/g, /override/g),
  phrase("system_prompt", "prompt", /system[^a-z0-9_]{1,8}prompt/g),
  phrase("end_of_sequence", "</s>", /<\/s>/g),
  phrase("chat_markup", "<|im_start|>", /<\|im_start\|>/g),
  phrase("system_heading", "###", /###\s?system/g),
  phrase("section_break", "###", /\s###/g),
];

/** All but `section_break`, which is every third-level heading of an honest Markdown document. */
export const DEFAULT_TRIGGERS: readonly QuarantineTrigger[] = TRIGGER_PATTERNS.map(({ trigger }) => trigger).filter(
  (trigger) => trigger !== "section_break",
);

function phrase(trigger: QuarantineTrigger, needle: string, pattern: RegExp, then?: RegExp): TriggerPattern {
  return then === undefined ? { trigger, needle, pattern } : { trigger, needle, pattern, then };
}
