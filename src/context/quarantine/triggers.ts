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
  /** A word without which the pattern cannot match; looking for it first is much faster. */
  readonly needle: string;
  /** What the pattern reads: the words alone, or the text with its signs and, but for the first paragraph, the break. */
  readonly reads: "words" | "signs";
  readonly pattern: RegExp;
}

/** No match is longer, so that windows which overlap by as much miss none. */
export const MATCH_CHARACTERS_MAX = 128;

/**
 * The patterns read folded text in lower case. Each gap has a fixed bound and no quantifier stands in another, so the
 * time for a text grows with its length only.
 */
export const TRIGGER_PATTERNS: readonly TriggerPattern[] = [
  words("system_notice", "notice", /(?:^|[ _])system notice(?:$|[ _])/),
  words(
    "disregard_instructions",
    "disregard",
    /(?:^|[ _])disregard .{0,40}(?:earlier|previous|prior|above|instructions?)(?:$|[ _])/,
  ),
  words(
    "must_immediately_call",
    "immediately",
    /(?:^|[ _])you must immediately (?:call|invoke|run|execute|use)(?:$|[ _])/,
  ),
  words("reply_system_prompt", "prompt", /(?:^|[ _])(?:reply|respond|answer|reveal|repeat) .{0,60}system prompt/),
  words("overrides_policy", "overrides", /(?:^|[ _])overrides the .{0,60}policy(?:$|[ _])/),
  words("ignore_previous", "ignore", /(?:^|[ _])ignore .{0,60}(?:previous|above|prior)(?:$|[ _])/),
  words("forget_instructions", "forget", /(?:^|[ _])forget .{0,60}instruction/),
  words("you_are_now", "now", /(?:^|[ _])you are now(?:$|[ _])/),
  words("act_as", "act", /(?:^|[ _])act as(?:$|[ _])/),
  words("jailbreak", "jailbreak", /jailbreak/),
  words("bypass", "bypass", /(?:^|[ _])bypass/),
  words("override_system", "override", /(?:^|[ _])override.{0,60} system(?:$|[ _])/),
  words("system_override", "override", /(?:^|[ _])system .{0,60}override/),
  words("system_prompt", "prompt", /(?:^|[ _])system prompt/),
  signs("end_of_sequence", "</s>", /<\/s>/),
  signs("chat_markup", "<|im_start|>", /<\|im_start\|>/),
  signs("system_heading", "###", /###\s?system/),
  signs("section_break", "###", /\n\n###/),
];

/** All but `section_break`, which is every third-level heading of an honest Markdown document. */
export const DEFAULT_TRIGGERS: readonly QuarantineTrigger[] = TRIGGER_PATTERNS.map(({ trigger }) => trigger).filter(
  (trigger) => trigger !== "section_break",
);

function words(trigger: QuarantineTrigger, needle: string, pattern: RegExp): TriggerPattern {
  return { trigger, needle, reads: "words", pattern };
}

function signs(trigger: QuarantineTrigger, needle: string, pattern: RegExp): TriggerPattern {
  return { trigger, needle, reads: "signs", pattern };
}
