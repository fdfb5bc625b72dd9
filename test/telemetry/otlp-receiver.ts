import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import protobuf from "protobufjs";
import { onTestFinished } from "vitest";

/**
 * The part of the public OTLP trace messages that a receiver needs, written from the field numbers of the
 * specification, so that nothing of the exporter's own code decodes what it sent.
 */
const SCHEMA = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; }
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message ScopeSpans { InstrumentationScope scope = 1; repeated Span spans = 2; string schema_url = 3; }
message InstrumentationScope { string name = 1; string version = 2; }
message Span {
  bytes trace_id = 1;
  bytes span_id = 2;
  string trace_state = 3;
  bytes parent_span_id = 4;
  string name = 5;
  enum SpanKind { UNSPECIFIED = 0; INTERNAL = 1; SERVER = 2; CLIENT = 3; PRODUCER = 4; CONSUMER = 5; }
  SpanKind kind = 6;
  fixed64 start_time_unix_nano = 7;
  fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9;
  uint32 dropped_attributes_count = 10;
  message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
  repeated Event events = 11;
  Status status = 15;
  fixed32 flags = 16;
}
message Status { string message = 2; enum StatusCode { UNSET = 0; OK = 1; ERROR = 2; } StatusCode code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string string_value = 1;
    bool bool_value = 2;
    int64 int_value = 3;
    double double_value = 4;
    ArrayValue array_value = 5;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
`;

const REQUEST = protobuf.parse(SCHEMA, { keepCase: true }).root.lookupType("ExportTraceServiceRequest");

interface Value {
  readonly string_value?: string;
  readonly bool_value?: boolean;
  readonly int_value?: number;
  readonly double_value?: number;
  readonly array_value?: { readonly values: readonly Value[] };
}

interface KeyValue {
  readonly key: string;
  readonly value: Value;
}

interface WireSpan {
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id?: string;
  readonly name: string;
  readonly kind: string;
  readonly start_time_unix_nano: string;
  readonly end_time_unix_nano: string;
  readonly attributes?: readonly KeyValue[];
  readonly events?: readonly { readonly name: string; readonly attributes?: readonly KeyValue[] }[];
  readonly status?: { readonly message?: string; readonly code?: string };
}

export type Plain = string | number | boolean | readonly Plain[];

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly startNano: bigint;
  readonly endNano: bigint;
  readonly status: string;
  readonly attributes: Readonly<Record<string, Plain>>;
  readonly events: readonly string[];
  readonly resource: Readonly<Record<string, Plain>>;
  readonly scope: string;
  readonly schemaUrl: string;
}

export interface Receiver {
  readonly endpoint: string;
  readonly spans: ReceivedSpan[];
  /** Path and content type of each request. */
  readonly requests: { readonly path: string; readonly type: string; readonly key: string }[];
  /** Status of the answers from now on, and their text. */
  answer(status: number, text?: string): void;
}

/** A receiver of OTLP over HTTP on the loopback interface, open until the test has finished. */
export async function openReceiver(): Promise<Receiver> {
  const spans: ReceivedSpan[] = [];
  const requests: Receiver["requests"] = [];
  let status = 200;
  let text = "";
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { headers } = request;
      requests.push({
        path: request.url ?? "",
        type: headers["content-type"] ?? "",
        key: String(headers["x-api-key"] ?? ""),
      });
      if (status === 200) spans.push(...decode(headers["content-encoding"] === "gzip" ? gunzipSync(body) : body));
      response.writeHead(status, { "content-type": "application/x-protobuf" }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    answer: (next, said = "") => {
      status = next;
      text = said;
    },
  };
}

/** An address of this machine at which nobody listens any more. */
export async function closedEndpoint(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function decode(body: Buffer): readonly ReceivedSpan[] {
  const message = REQUEST.toObject(REQUEST.decode(body), {
    longs: String,
    enums: String,
    bytes: Array,
    defaults: false,
  });
  return message["resource_spans"].flatMap(
    (group: {
      resource: { attributes: readonly KeyValue[] };
      scope_spans: readonly { scope: { name: string }; schema_url: string; spans: readonly WireSpan[] }[];
    }) =>
      group.scope_spans.flatMap(({ scope, schema_url, spans }) =>
        spans.map((span) => ({
          ...received(span),
          resource: attributesOf(group.resource.attributes),
          scope: scope.name,
          schemaUrl: schema_url,
        })),
      ),
  );
}

function received(span: WireSpan): Omit<ReceivedSpan, "resource" | "scope" | "schemaUrl"> {
  return {
    traceId: hex(span.trace_id),
    spanId: hex(span.span_id),
    parentSpanId: hex(span.parent_span_id ?? ""),
    name: span.name,
    kind: span.kind,
    startNano: BigInt(span.start_time_unix_nano),
    endNano: BigInt(span.end_time_unix_nano),
    status: span.status?.code ?? "UNSET",
    attributes: attributesOf(span.attributes ?? []),
    events: (span.events ?? []).map(({ name }) => name),
  };
}

function hex(bytes: string | readonly number[]): string {
  return Buffer.from(bytes as readonly number[]).toString("hex");
}

function attributesOf(pairs: readonly KeyValue[]): Readonly<Record<string, Plain>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: Value): Plain {
  if (value.array_value !== undefined) return value.array_value.values.map(plain);
  if (value.int_value !== undefined) return Number(value.int_value);
  return value.string_value ?? value.bool_value ?? value.double_value ?? "";
}
