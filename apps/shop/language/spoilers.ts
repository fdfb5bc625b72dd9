import { ORDER } from "./canonical.ts";

/** Words of refunding and cancelling, in canonical text. */
export const REQUEST_WORD: RegExp =
  /\b(?:re-?fund\w*|reimburse\w*|repay|repaid|money|payment|cash|cancel\w*|call(?:ed)? off|back)\b/;

const NEGATION =
  /\b(?:not|no|nope|nah|never|none|nothing|nobody|neither|nor|without|hardly|barely|refus\w+|declin\w+|reject\w*|deny|denied|avoid\w*|ignor\w+|disregard\w*|skip|stop\w*|halt|hold\w*|wait|pause|postpone|withdraw\w*|undo|revert|reverse\w*|retract\w*|revok\w+|abort|against|rather|instead of|except\w*|excluding|besides|apart from|other than|forget|scratch|keep\w*|leave|dare|nix|drop|abstain\w*|refrain\w*|resist\w*|desist|cease|prevent\w*|block\w*|forbid\w*|prohibit\w*|oppos\w+|object|disagree\w*)\b/;
const CONDITION =
  /\b(?:if|unless|until|till|when|whenever|once|in case|provided|providing|assuming|suppos\w+|whether|depend\w*|otherwise|else|or|maybe|perhaps|might|possibl\w+|eventually|later|tomorrow|someday|sometime|after|before|next (?:week|month|year|time)|think\w*|consider\w*|wonder\w*|curious|just asking|only asking|(?:like|want|need|wish) to know|explain|hypothe\w+|imagine|pretend|(?<![.@])\bexamples?|tests?|e\.g)\b/;
const REPORT =
  /\b(?:says?|said|saying|saw|wrote|writes|written|told|tells|asks|asked|claims?|claimed|according|quot\w+|forward\w*|fwd?|fw|note|notes|sticker|label|reads|states|stated|instruct\w*|promis\w+|heard|hears|apparently|supposedly|allegedly|rumou?r|translat\w+|repeat\w*|sentence|phrase|subject|dictat\w+|scam\w*|phish\w*|hack\w*|pasted?|copied)\b/;
const JEST = /\b(?:kidding|joking|jokes?|jk|lol|haha\w*|prank|psych|sarcas\w*|ironic\w*|as if)\b/;
const CHANGED =
  /\b(?:chang\w+ my mind|change of mind|second thoughts?|nevermind|never mind|nvm|actually|oops|on reflection|correction|i meant|reconsider\w*|take (?:it|that) back|no longer|wrong (?:order|number|one)|false alarm|all good|sorted|resolved)\b/;
const SIGNS = /[🚫❌👎✋🛑⛔🙅✖❎]|\u{1f6ab}/u;
const FOREIGN_LETTER = /(?!\p{Script=Latin})\p{L}/u;
const MERELY = /^that (?:was|is) (?!all\b|it\b)/;
const QUESTION_ABOUT_IT =
  /^(?:is|was|does|would|should|will|are) (?:that|this|it|you|i)\b|^(?:really|true|right|correct|ok|okay|sure|why)$/;
const FAREWELL = /^(?:please )?(?:let me know|tell me|contact me|write to me|call me) (?:if|when|once) .{1,60}$/;

/** True when words like these make every request of the message doubtful, wherever they stand. */
export function spoils(canonical: string): boolean {
  if (FAREWELL.test(canonical) && !REQUEST_WORD.test(canonical)) {
    return false;
  }
  return [NEGATION, CONDITION, REPORT, JEST, SIGNS].some((pattern) => pattern.test(canonical));
}

/** True when words like these take back, or put in question, what was asked for before them. */
export function takesBack(canonical: string, question: boolean): boolean {
  return CHANGED.test(canonical) || MERELY.test(canonical) || (question && QUESTION_ABOUT_IT.test(canonical));
}

const SUBJECT = `(?:it|this|that|they|these|those|one|both|(?:the|my|our|one|some|two) [^⟦]{1,40}?(?: (?:of|from|in) (?:my |the )?(?:order )?${ORDER})?|(?:order |item )?${ORDER}(?: [^⟦]{1,20}?)?)`;
const AUXILIARY = "(?:do|does|did|is|was|are|were|has|have|had|will|can|could)";
const STATE =
  "(?:work(?:s|ed|ing)?|fit(?:s|ted|ting)?|arriv(?:e|es|ed|ing)|come|came|here|there|turn(?:ing)?|switch|start(?:ing)?|open|close|charg(?:e|ing)|power|deliver(?:ed)?|received?|match|as (?:described|shown|advertised|expected)|what (?:i|we) ordered|complete|good|right|correct|usable|stick|reach(?:ed)?|ship(?:ped)?|dispatched|on its way)";
const STATE_DENIED = new RegExp(
  `^${SUBJECT} (?:still |just |simply |also )*(?:${AUXILIARY} (?:still |yet )?not|never|no longer) (?:even |yet |really |properly |been |be |at all |ever )*${STATE}\\b[^⟦]{0,40}$`,
);
const FEELING_DENIED =
  /^(?:i|we) (?:am|was|are|were) not (?:at all )?(?:happy|satisfied|pleased|impressed)(?: (?:with|about) .{1,40})?$/;
const NOT_RECEIVED =
  /^(?:i|we) (?:never|(?:did|have|had|still have) not)(?: yet| even| ever)? (?:receive|received|get|got|order|ordered) .{1,40}$/;
const NOT_WANTED = new RegExp(
  `^(?:i|we) (?:(?:do|did) not|no longer) (?:really )?(?:want|need|like|use) (?:it|this|that|them|these|(?:the |my )?(?:order )?${ORDER}|(?:the|this|that|my) [^⟦]{1,30}?)(?: any ?more| any longer| now| at all)?$`,
);
const MISHAP = /^.{0,60}\bby mistake$/;

/** True for a clause whose negation is about the thing that was bought, and not about a request. */
export function complains(canonical: string, isAfterRequest: boolean): boolean {
  const isAboutAThing =
    STATE_DENIED.test(canonical) ||
    FEELING_DENIED.test(canonical) ||
    NOT_RECEIVED.test(canonical) ||
    // Said after a request, it may be the request that is not wanted.
    (!isAfterRequest && NOT_WANTED.test(canonical));
  if (!isAboutAThing || REQUEST_WORD.test(canonical)) {
    return false;
  }
  return !spoils(canonical.replace(/\b(?:not|never|no longer)\b/, "")) || MISHAP.test(canonical);
}

// An apostrophe inside a word is no quotation mark, and one after a word may be a possessive.
const QUOTATION = /"[^"]*"|“[^”"]*[”"]|„[^“”"]*[“”"]|«[^»]*»|`[^`]*`|(?<=^|[\s(:,.])['‘][^\n]*?['’](?=$|[\s).,;:!?])/gu;
const LOOSE_MARK = /["“”„«»‹›`~<>|{}[\]\\]|(?<=^|[\s(:,])['‘]/u;
const QUOTED_LINE = /^[ \t]*(?:>|&gt;|\|).*$/mu;

/** True when the message holds words of somebody else, or writing that cannot be told from that. */
export function holdsOthersWords(message: string): boolean {
  if (QUOTED_LINE.test(message)) {
    return true;
  }
  const rest = message.replaceAll(QUOTATION, (quoted) => {
    const inner = quoted.slice(1, -1).trim();
    const isName = inner.split(/\s+/).length <= 2 && !REQUEST_WORD.test(inner.toLowerCase());
    return isName ? " " : quoted;
  });
  return LOOSE_MARK.test(rest) || FOREIGN_LETTER.test(message);
}
