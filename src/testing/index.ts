export { type Script, type ScriptOptions, scriptedModel, scriptedTextModel } from "../model/index.ts";
export type { ConformanceCase } from "./conformance-case.ts";
export * from "./sample-events.ts";
export { storeConformance } from "./store-conformance/index.ts";
export type { OpenedStore } from "./store-conformance/store-case.ts";
export { type OpenedWaker, wakerConformance } from "./waker-conformance/index.ts";
