/** Questions about the planner itself, which it leaves alone. */
export const REVEAL = /\b(?:system prompt|your (?:own )?instructions|your rules)\b/i;

/** How a wish to find products begins; what follows is what to look for. */
export const SEARCH_VERB =
  /^(?:please\s+)?(?:do you (?:stock|sell|carry|have)|have you got|is there|are there|find(?: me)?|search for|look for|show me|list|which|what)\b/i;

const PRODUCT_WORDS = /\b(?:products?|articles?|stock|range|catalogue|supplies|any|something|anything)\b/i;
const SEARCH_ALWAYS =
  /^(?:please\s+)?(?:do you (?:stock|sell|carry|have)|have you got|find|search|look for|show me|list)\b/i;

const POLICY_WORDS =
  /\b(?:polic(?:y|ies)|returns?|refund|warranty|delivery|shipped|shipping|hazardous|lead time|restock requests?|mean|damaged)\b/i;

export function looksForProducts(sentence: string): boolean {
  return SEARCH_ALWAYS.test(sentence) || (SEARCH_VERB.test(sentence) && PRODUCT_WORDS.test(sentence));
}

export function isAboutPolicy(sentence: string): boolean {
  return POLICY_WORDS.test(sentence);
}
