export { type AppliedFilters, applyFilters, checkFilters, WITHHELD_VIEW } from "./apply-filters.ts";
export {
  type Compaction,
  type CompactionInput,
  type CompactionLoan,
  type CompactionOptions,
  type CompactionPlan,
  type CompactionReserve,
  compaction,
  type WrittenSummaries,
} from "./compaction.ts";
export type { Filter, FilterContext, Filtered } from "./filter.ts";
export { QUARANTINE_MARKER } from "./quarantine/paragraphs.ts";
export { type QuarantineOptions, quarantine } from "./quarantine/quarantine.ts";
export { DEFAULT_TRIGGERS, type QuarantineTrigger } from "./quarantine/triggers.ts";
export { type FormatToolError, formatToolError, type RenderOptions, renderMessage, renderMessages } from "./render.ts";
export { type SizeCapOptions, sizeCap } from "./size-cap.ts";
export { stripInvisible } from "./strip-invisible.ts";
export { renderMemory, systemPrompt } from "./system-prompt.ts";
export { createTranscript, type Transcript } from "./transcript.ts";
export { wrapUntrusted } from "./untrusted.ts";
