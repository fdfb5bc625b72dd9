import type { ReadableSpan, SpanExporter as SdkExporter } from "@opentelemetry/sdk-trace";
import { BelayError } from "../errors.ts";
import { otlpEndpoint } from "./otlp-endpoint.ts";
import { plainResource, readableSpan } from "./readable-span.ts";
import type { Attributes, ExportResult, SpanExporter } from "./span.ts";

export interface OtlpExporterOptions {
  /** Address of an OTLP/HTTP receiver; `/v1/traces` is added to one without a path. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `service.name` of the resource. Default `belay`. */
  readonly serviceName?: string;
  /** Further attributes of the resource. */
  readonly resource?: Attributes;
  /** Milliseconds for one request with its repetitions. Default `OTEL_EXPORTER_OTLP_TIMEOUT`, or 10,000. */
  readonly timeoutMs?: number;
  /** Default false. */
  readonly capturesContent?: boolean;
}

/** Spans of one request; more of them make several requests. */
const BATCH_MAX = 512;

/**
 * Sends spans to an OpenTelemetry collector as OTLP over HTTP with protobuf.
 *
 * Needs the optional packages `@opentelemetry/api` and `@opentelemetry/exporter-trace-otlp-proto`; the latter also
 * reads the standard `OTEL_EXPORTER_OTLP_*` variables for headers, compression and timeout. Throws `BELAY_OTLP_ENDPOINT` for a
 * malformed address and `BELAY_CONFIG_PEER_MISSING` without the packages.
 */
export async function createOtlpExporter(options: OtlpExporterOptions): Promise<SpanExporter> {
  const url = otlpEndpoint(String(options.endpoint));
  const sdk: SdkExporter = await openExporter(url, options);
  const resource = plainResource({ "service.name": options.serviceName ?? "belay", ...options.resource });
  return {
    name: "otlp",
    capturesContent: options.capturesContent ?? false,
    export: async (spans) => {
      let sent = 0;
      for (let from = 0; from < spans.length; from += BATCH_MAX) {
        const batch = spans.slice(from, from + BATCH_MAX);
        const code = await send(
          sdk,
          batch.map((span) => readableSpan(span, resource)),
        );
        if (code !== undefined) {
          return { status: "failed", spans: spans.length - sent, code } satisfies ExportResult;
        }
        sent += batch.length;
      }
      return { status: "exported", spans: sent };
    },
    close: () => sdk.shutdown(),
  };
}

async function openExporter(url: URL, { headers, timeoutMs }: OtlpExporterOptions): Promise<SdkExporter> {
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto").catch((cause: unknown) => {
    throw new BelayError(
      "BELAY_CONFIG_PEER_MISSING",
      "OTLP export needs packages that cannot be loaded. " +
        "Run: npm install @opentelemetry/api @opentelemetry/exporter-trace-otlp-proto",
      { cause },
    );
  });
  return new OTLPTraceExporter({
    url: url.href,
    ...(timeoutMs !== undefined && { timeoutMillis: timeoutMs }),
    ...(headers !== undefined && { headers: { ...headers } }),
  });
}

/** Resolves to the code of the failure, or to nothing. */
function send(sdk: SdkExporter, spans: ReadableSpan[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    try {
      sdk.export(spans, ({ code, error }) => resolve(code === 0 ? undefined : failureCode(error)));
    } catch {
      resolve("export_failed");
    }
  });
}

/** The answer of a receiver is foreign text, so nothing of it is told but its number. */
function failureCode(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (typeof code === "number") {
    return `http_${code}`;
  }
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : "export_failed";
}
