import { expect, it } from "vitest";
import { seedConsole } from "./seed.ts";
import { type TestConsole, testConsole } from "./support.ts";

/** The figures of the first lists of a page, by their names. */
function figuresOf(html: string): ReadonlyMap<string, string> {
  return new Map(
    [...html.matchAll(/<dt>([^<]+)<\/dt><dd class="number">([^<]*)</g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
}

/** Names and values of the bars of a panel. */
function barsOf(html: string, id: string): Readonly<Record<string, number>> {
  const panel = html.slice(html.indexOf(`id="${id}"`)).split("</section>")[0] ?? "";
  return Object.fromEntries(
    [...panel.matchAll(/<li><span>(?:<a[^>]*>)?([^<]+)(?:<\/a>)?<\/span><span class="value number">(\d+)/g)].map(
      ([, name = "", value = ""]) => [name, Number(value)],
    ),
  );
}

/** The same from the journals alone, read entry by entry. */
async function counted(console: TestConsole) {
  const runs = await console.store.runs({ tenant: "default" });
  const [stops, denials, days]: Record<string, number>[] = [{}, {}, {}];
  const waits: number[] = [];
  let [nanoUsd, tokens] = [0, 0];
  const add = (counts: Record<string, number> | undefined, name: string): void => {
    if (counts !== undefined) counts[name] = (counts[name] ?? 0) + 1;
  };
  for (const run of runs) {
    const asked = new Map<string, number>();
    add(days, new Date(run.startedAt).toISOString().slice(0, 10));
    if (run.termination !== undefined) add(stops, run.termination);
    for (const { at, event } of await console.store.read(run)) {
      if (event.type === "call.decided" && ["deny", "halt"].includes(event.decision.verdict))
        add(denials, event.decision.code);
      if (event.type === "approval.requested") asked.set(event.approvalId, at);
      if (event.type === "approval.resolved") waits.push(at - (asked.get(event.approvalId) ?? Number.NaN));
      if (event.type === "model.replied") {
        nanoUsd += event.costNanoUsd ?? Number.NaN;
        tokens += event.usage.inputTokens + event.usage.outputTokens;
      }
    }
  }
  waits.sort((one, other) => one - other);
  return { runs, stops, denials, days, waits, nanoUsd, tokens };
}

it("adds up what the journals say", async () => {
  const console = testConsole({ start: Date.UTC(2026, 0, 5, 1) });
  await seedConsole(console);
  const html = await (await console.get("/")).text();
  const [figures, truth] = [figuresOf(html), await counted(console)];
  const pending = await console.store.approvals({ tenant: "default", status: "pending" });
  expect(Number(figures.get("Runs"))).toBe(truth.runs.length);
  expect(Number(figures.get("Waiting for a person"))).toBe(pending.length);
  expect(pending.length).toBeGreaterThan(1);
  expect(truth.waits.map((ms) => ms / 60_000)).toEqual([18, 42, 95]);
  expect(figures.get("Time to decision")).toBe("42 min");
  expect(figures.get("Spend")).toBe(`$${(truth.nanoUsd / 1e9).toFixed(4)}`);
  expect(figures.get("Tokens")).toBe(truth.tokens.toLocaleString("en"));
  const words = Object.entries(truth.stops ?? {}).map(([code, count]) => [code.replaceAll("_", " "), count]);
  expect(barsOf(html, "stops")).toEqual(Object.fromEntries(words));
  expect(barsOf(html, "denials")).toEqual(truth.denials);
  expect(Object.keys(truth.denials ?? {}).length).toBeGreaterThan(1);
  const told = /aria-label="Runs per day\. ([^"]+)"/.exec(html)?.[1] ?? "";
  const days = Object.fromEntries(told.split(", ").map((day) => day.split(": ")));
  expect(Object.keys(days)).toHaveLength(14);
  for (const [day, count] of Object.entries(days)) expect([day, Number(count)]).toEqual([day, truth.days?.[day] ?? 0]);
});
