import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createMemoryExporter,
  createOtlpExporter,
  createTracer,
  type MemoryExporter,
  type SpanExporter,
  spansOf,
  type Tracer,
  type TracerProblem,
} from "../../src/telemetry/index.ts";
import { closedEndpoint } from "./otlp-receiver.ts";
import { bench, call, calls, DANA, final, plans, play, processView, repliesOf, SECRET } from "./support.ts";

const byId = (spans: readonly { readonly spanId: string }[]) => spans.map(({ spanId }) => spanId).toSorted();

describe("createTracer", () => {
  it("exports each span once, whichever processes take turns at the run", async () => {
    let pauses = 0;
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const on = bench(repliesOf(plan));
        const processes = new Map<string, { store: typeof on.store; exporter: MemoryExporter; tracer: Tracer }>();
        const storeOf = (worker: string) => {
          const known = processes.get(worker);
          if (known !== undefined) return known.store;
          const store = processView(on.store);
          const exporter = createMemoryExporter();
          processes.set(worker, { store, exporter, tracer: createTracer({ store, exporter }) });
          return store;
        };
        await play(on, plan, storeOf);
        await Promise.all([...processes.values()].map(({ tracer }) => tracer.flush()));
        const exported = [...processes.values()].flatMap(({ exporter }) => exporter.spans);
        const whole = spansOf(await on.entries(), { run: on.run, capture: true });
        expect(byId(exported)).toEqual(byId(whole));
        for (const span of whole) expect(exported).toContainEqual(span);
        pauses += processes.has("desk") ? 1 : 0;
      }),
      { numRuns: 80, seed: 11 },
    );
    expect(pauses).toBeGreaterThan(10);
  });

  it("links the part after an approval to the part before, in another process, with no tool span twice", async () => {
    const on = bench([calls(call("search", "a"), call("pay", "pay_more")), final("done")]);
    const [before, after] = [createMemoryExporter(), createMemoryExporter()];
    const [first, second] = [processView(on.store), processView(on.store)];
    const started = createTracer({ store: first, exporter: before });
    const { approvals } = await on.open("w1", first).run("please", { runId: "run_1" }).result;
    await started.close();
    expect(before.spans.map(({ name }) => name)).toContain("execute_tool search");
    const resumed = createTracer({ store: second, exporter: after });
    const there = on.open("w2", second);
    await there.decide({ approvalId: approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
    await there.advance(on.run);
    await resumed.close();
    const all = [...before.spans, ...after.spans];
    expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1);
    expect(after.spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["invoke_agent bench", "belay.approval", "execute_tool pay"]),
    );
    const tools = all.filter(({ name }) => name.startsWith("execute_tool")).map(({ name }) => name);
    expect(tools).toEqual(["execute_tool search", "execute_tool pay"]);
  });

  it("captures content where the exporter is meant for it, unless told otherwise", async () => {
    const texts = async (exporter: MemoryExporter, capture?: boolean) => {
      const on = bench([calls(call("search", "needle")), final("done")]);
      await using tracer = createTracer({ store: on.store, exporter, ...(capture !== undefined && { capture }) });
      await play(on, { turns: [], answers: [] });
      await tracer.flush();
      expect(exporter.spans).toHaveLength(5);
      return JSON.stringify(exporter.spans);
    };
    expect(await texts(createMemoryExporter())).toContain("needle");
    expect(await texts(createMemoryExporter(), false)).not.toContain("needle");
    expect(await texts({ ...createMemoryExporter(), capturesContent: false })).not.toContain("needle");
  });

  it("harms no run when nobody listens at the endpoint, and counts what was lost", async () => {
    const on = bench([calls(call("search", "a")), final("done")]);
    const problems: TracerProblem[] = [];
    const exporter = await createOtlpExporter({ endpoint: await closedEndpoint(), timeoutMs: 300 });
    const tracer = createTracer({ store: on.store, exporter, onProblem: (problem) => problems.push(problem) });
    const result = await on.open().run("please", { runId: "run_1" }).result;
    expect(result.status).toBe("done");
    await tracer.close();
    expect(tracer.counts).toEqual({ exportedSpans: 0, failedSpans: 5, droppedExports: 0 });
    expect(problems).toEqual([{ kind: "export_failed", run: on.run, spans: 5, code: "ECONNREFUSED" }]);
  });

  it("tells nothing of what an exporter throws, and goes on after a hook that throws", async () => {
    const problems: TracerProblem[] = [];
    const exporter: SpanExporter = {
      name: "bad",
      capturesContent: false,
      export: () => Promise.reject(new Error(SECRET)),
      close: () => Promise.reject(new Error(SECRET)),
    };
    const on = bench([final("one"), final("two")]);
    const tracer = createTracer({
      store: on.store,
      exporter,
      onProblem: (problem) => {
        problems.push(problem);
        throw new Error("hook");
      },
    });
    await on.open().run("please", { runId: "run_1" }).result;
    await on.open().run("please", { runId: "run_2" }).result;
    await tracer.close();
    expect(problems.map(({ kind, run, code }) => [kind, run.runId, code])).toEqual([
      ["export_failed", "run_1", "export_failed"],
      ["export_failed", "run_2", "export_failed"],
    ]);
    expect(JSON.stringify(problems)).not.toContain(SECRET);
  });

  it("drops and counts exports beyond the bound, and gives up one that never ends", async () => {
    const problems: TracerProblem[] = [];
    const taken: string[] = [];
    const exporter: SpanExporter = {
      name: "stuck",
      capturesContent: false,
      export: (spans) => {
        taken.push(String(spans[0]?.attributes["belay.run.id"]));
        return new Promise(() => undefined);
      },
      close: async () => undefined,
    };
    const on = bench([final("1"), final("2"), final("3"), final("4")]);
    const tracer = createTracer({
      store: on.store,
      exporter,
      pendingMax: 2,
      exportTimeoutMs: 50,
      onProblem: (problem) => problems.push(problem),
    });
    for (const runId of ["run_1", "run_2", "run_3", "run_4"]) {
      const { status } = await on.open().run("please", { runId }).result;
      expect(status).toBe("done");
    }
    await tracer.flush();
    expect(taken).toEqual(["run_1", "run_2"]);
    expect(problems.map(({ kind, run }) => [kind, run.runId])).toEqual([
      ["dropped", "run_3"],
      ["dropped", "run_4"],
      ["export_failed", "run_1"],
      ["export_failed", "run_2"],
    ]);
    expect(tracer.counts).toEqual({ exportedSpans: 0, failedSpans: 4, droppedExports: 2 });
    await tracer.close();
  });

  it("says that the store could not be read, and hears nothing after it is closed", async () => {
    const problems: TracerProblem[] = [];
    const on = bench([final("one"), final("two")]);
    const exporter = createMemoryExporter();
    const tracer = createTracer({
      store: { subscribe: on.store.subscribe, read: () => Promise.reject(new Error(SECRET)) },
      exporter,
      onProblem: (problem) => problems.push(problem),
    });
    await on.open().run("please", { runId: "run_1" }).result;
    await tracer.close();
    await on.open().run("please", { runId: "run_2" }).result;
    await tracer.close();
    expect(problems).toEqual([{ kind: "read_failed", run: on.run, spans: 0, code: "read_failed" }]);
    expect(exporter.spans).toEqual([]);
  });
});
