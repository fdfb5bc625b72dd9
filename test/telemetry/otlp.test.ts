import { describe, expect, it } from "vitest";
import { BelayError } from "../../src/index.ts";
import {
  createOtlpExporter,
  createTracer,
  reportFromRun,
  reportFromSpans,
  type SpanRecord,
  spansOf,
} from "../../src/telemetry/index.ts";
import { openReceiver, type ReceivedSpan } from "./otlp-receiver.ts";
import { bench, call, calls, final, MODEL, play, SECRET } from "./support.ts";

const REPLIES = [
  calls(call("search", "a"), call("pay", "guarded"), call("pay", "pay_more"), call("broken", "b"), {
    tool: "search",
    args: { json: { what: 7 } },
  } as never),
  final("done"),
];

describe("createOtlpExporter", () => {
  it("sends spans that an independent decoder reads as what they are", async () => {
    const receiver = await openReceiver();
    const on = bench(REPLIES);
    const exporter = await createOtlpExporter({
      endpoint: receiver.endpoint,
      serviceName: "shop",
      headers: { "x-api-key": "k1" },
    });
    const tracer = createTracer({ store: on.store, exporter });
    await play(on, { turns: [], answers: ["approved"] });
    await tracer.close();
    const spans = spansOf(await on.entries(), { run: on.run });
    expect(tracer.counts).toEqual({ exportedSpans: spans.length, failedSpans: 0, droppedExports: 0 });
    expect(receiver.requests).toEqual([
      { path: "/v1/traces", type: "application/x-protobuf", key: "k1" },
      { path: "/v1/traces", type: "application/x-protobuf", key: "k1" },
    ]);
    expect(byId(receiver.spans)).toEqual(byId(spans.map(asReceived)));
    expect(receiver.spans[0]).toMatchObject({
      resource: { "service.name": "shop" },
      scope: "belay-harness",
      schemaUrl: "https://opentelemetry.io/schemas/1.41.0",
    });
    const chat = receiver.spans.find(({ name }) => name === `chat ${MODEL}`);
    expect(chat?.kind).toBe("CLIENT");
    const blocked = receiver.spans.find(({ attributes }) => attributes["error.type"] === "blocked_by_guard");
    expect(blocked).toMatchObject({ name: "execute_tool pay", status: "ERROR" });
    expect(JSON.stringify(receiver.spans.map(({ attributes }) => attributes))).not.toContain(SECRET);
    expect(JSON.stringify(receiver.spans.map(({ attributes }) => attributes))).not.toContain("pay_more");
  });

  it("sends what gives the same report as the run", async () => {
    const receiver = await openReceiver();
    const on = bench(REPLIES);
    await play(on, { turns: [], answers: ["rejected"] });
    const entries = await on.entries();
    const exporter = await createOtlpExporter({ endpoint: receiver.endpoint });
    const spans = spansOf(entries, { run: on.run });
    expect(await exporter.export(spans)).toEqual({ status: "exported", spans: spans.length });
    await exporter.close();
    const report = reportFromSpans(receiver.spans.map(asRecord));
    expect(report).toEqual(reportFromRun(entries));
    expect(report).toMatchObject({
      termination: "completed",
      toolNames: ["search", "broken"],
      blocked: [{ tool: "pay", guard: "test_rule" }],
      invalid: [{ tool: "search", code: "invalid_arguments" }],
      notRun: [{ tool: "pay", disposition: "rejected", code: "approval_rejected" }],
    });
  });

  it("makes several requests of many spans", async () => {
    const receiver = await openReceiver();
    const on = bench([final("done")]);
    await play(on, { turns: [], answers: [] });
    const [root] = spansOf(await on.entries(), { run: on.run });
    const many = Array.from({ length: 1100 }, () => root as SpanRecord);
    const exporter = await createOtlpExporter({ endpoint: `${receiver.endpoint}/custom/path` });
    expect(await exporter.export(many)).toEqual({ status: "exported", spans: 1100 });
    await exporter.close();
    expect(receiver.spans).toHaveLength(1100);
    expect(receiver.requests.map(({ path }) => path)).toEqual(["/custom/path", "/custom/path", "/custom/path"]);
  });

  it("gives the number of a refusal and nothing of its text", async () => {
    const receiver = await openReceiver();
    const on = bench([final("done")]);
    await play(on, { turns: [], answers: [] });
    const spans = spansOf(await on.entries(), { run: on.run });
    const exporter = await createOtlpExporter({ endpoint: receiver.endpoint, timeoutMs: 300 });
    receiver.answer(401, SECRET);
    expect(await exporter.export(spans)).toEqual({ status: "failed", spans: 2, code: "http_401" });
    receiver.answer(503, SECRET);
    expect(await exporter.export(spans)).toMatchObject({ status: "failed", spans: 2 });
    receiver.answer(200);
    expect(await exporter.export(spans)).toEqual({ status: "exported", spans: 2 });
    await exporter.close();
  });

  it.each([
    ["", "is no URL"],
    ["localhost:4318", "has the protocol"],
    ["collector", "is no URL"],
    ["ftp://collector:4318", "has the protocol ftp:"],
    ["http://", "is no URL"],
    ["http://host:99999", "is no URL"],
    ["http://user:hunter2@host:4318", "holds credentials"],
    ["http://user:hunter2@host:x", "is no URL"],
    ["gopher://host/?key=hunter2", "has the protocol gopher:"],
    ["http://host/?key=hunter2#top", "has a fragment"],
    ["http://host/#top", "has a fragment"],
  ])("refuses the endpoint %j", async (endpoint, problem) => {
    const error = await createOtlpExporter({ endpoint }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(BelayError);
    expect(error).toMatchObject({ code: "BELAY_OTLP_ENDPOINT", message: expect.stringContaining(problem) });
    expect(String(error)).not.toContain("hunter2");
  });
});

type Comparable = Omit<ReceivedSpan, "resource" | "scope" | "schemaUrl">;

function byId(spans: readonly Comparable[]): readonly Comparable[] {
  return spans
    .map(({ traceId, spanId, parentSpanId, name, kind, startNano, endNano, status, attributes, events }) => {
      return { traceId, spanId, parentSpanId, name, kind, startNano, endNano, status, attributes, events };
    })
    .toSorted((left, right) => (left.spanId < right.spanId ? -1 : 1));
}

function asReceived(span: SpanRecord): Comparable {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? "",
    name: span.name,
    kind: span.kind === "client" ? "CLIENT" : "INTERNAL",
    startNano: BigInt(span.startMs) * 1_000_000n,
    endNano: BigInt(span.endMs) * 1_000_000n,
    status: span.status === "error" ? "ERROR" : "UNSET",
    attributes: span.attributes,
    events: span.events.map(({ name }) => name),
  };
}

function asRecord({ traceId, spanId, parentSpanId, name, status, attributes }: ReceivedSpan): SpanRecord {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== "" && { parentSpanId }),
    name,
    kind: "internal",
    startMs: 0,
    endMs: 0,
    status: status === "ERROR" ? "error" : "unset",
    attributes: attributes as SpanRecord["attributes"],
    events: [],
    openedSeq: 1,
    semconv: "1.41",
  };
}
