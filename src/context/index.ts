export { type AppliedFilters, applyFilters, checkFilters, WITHHELD_VIEW } from "./apply-filters.ts";
export type { Filter, FilterContext, Filtered } from "./filter.ts";
export { type FormatToolError, formatToolError, type RenderOptions, renderMessages } from "./render.ts";
export { type SizeCapOptions, sizeCap } from "./size-cap.ts";
export { stripInvisible } from "./strip-invisible.ts";
export { renderMemory, systemPrompt } from "./system-prompt.ts";
export { wrapUntrusted } from "./untrusted.ts";
