import type { SpanExporter, SpanRecord } from "./span.ts";

export interface MemoryExporter extends SpanExporter {
  /** Everything that was exported, in order. */
  readonly spans: readonly SpanRecord[];
  clear(): void;
}

/** Keeps spans in memory, for tests and notebooks. */
export function createMemoryExporter(): MemoryExporter {
  const kept: SpanRecord[] = [];
  return {
    name: "memory",
    capturesContent: true,
    spans: kept,
    export: async (spans) => {
      kept.push(...spans);
      return { status: "exported", spans: spans.length };
    },
    clear: () => {
      kept.length = 0;
    },
    close: async () => undefined,
  };
}
