/** Which unchanging parts of a request end with a mark up to which the provider may keep them. */
export interface CachePoints {
  readonly system: boolean;
  readonly tools: boolean;
}

// A model that knows no mark refuses the whole request, so only families that are documented to know one have it.
// Source: Amazon Bedrock user guide, "Prompt caching", table of supported models.
const FAMILIES: readonly (readonly [RegExp, CachePoints])[] = [
  [/amazon\.nova-(?:micro|lite|pro|premier)-/, { system: true, tools: false }],
  [/anthropic\.claude-(?:3-5-haiku|3-7-sonnet|(?:opus|sonnet|haiku)-4)/, { system: true, tools: true }],
];

const NONE: CachePoints = { system: false, tools: false };

/** What the family of a model takes; nothing for a model that is not known here. The id may be a regional profile. */
export function cachePointsOf(modelId: string): CachePoints {
  return FAMILIES.find(([family]) => family.test(modelId))?.[1] ?? NONE;
}
