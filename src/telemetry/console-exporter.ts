import type { SpanExporter } from "./span.ts";
import { type TreeOptions, treeLines } from "./tree.ts";

export interface ConsoleExporterOptions extends TreeOptions {
  /** Takes one line without its end. What a model or a tool said is in it, so escape it for a terminal. */
  readonly write: (line: string) => void;
}

/**
 * Writes each run as a tree of lines when it pauses and when it ends.
 *
 * What was written at a pause is not written again; a part without the root begins with the name of its trace.
 */
export function createConsoleExporter({ write, ...options }: ConsoleExporterOptions): SpanExporter {
  return {
    name: "console",
    capturesContent: true,
    export: async (spans) => {
      const isPart = !spans.some(({ parentSpanId }) => parentSpanId === undefined);
      if (isPart && spans[0] !== undefined) {
        write(`trace ${spans[0].traceId} (part)`);
      }
      for (const line of treeLines(spans, options)) {
        write(isPart ? `  ${line}` : line);
      }
      return { status: "exported", spans: spans.length };
    },
    close: async () => undefined,
  };
}
