import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalize, type RunEvent } from "../../src/core/index.ts";
import { copyEvent } from "../../src/journal/copy-event.ts";
import { encodeEvent } from "../../src/journal/stored-entry.ts";

const RUN = { tenant: "default", runId: "r" };

function eventOf(json: unknown): RunEvent {
  return { type: "model.requested", json } as unknown as RunEvent;
}

it("is what the stored text says, for every event that can be stored", () => {
  fc.assert(
    fc.property(fc.object({ values: [fc.string(), fc.double(), fc.constant(undefined), fc.constant(-0)] }), (json) => {
      if (!canonicalize(JSON.parse(JSON.stringify(json))).ok) return;
      const event = eventOf(JSON.parse(JSON.stringify(json)));
      const text = encodeEvent(RUN, event);
      expect(copyEvent(event, text)).toStrictEqual(JSON.parse(text));
    }),
  );
});

it("leaves out what is undefined, has one zero, and keeps a key that could not be assigned", () => {
  const event = eventOf({ gone: undefined, zero: -0, list: [-0], ["__proto__"]: { deep: 1 } });
  const text = encodeEvent(RUN, event);
  const copy = copyEvent(event, text);
  expect(JSON.stringify(copy)).toBe(text);
  expect(Object.is((copy as unknown as { json: { zero: number } }).json.zero, 0)).toBe(true);
});

it("stays what it was when its writer goes on changing the event", () => {
  const inner = { list: [{ n: 1 }] };
  const event = eventOf(inner);
  const copy = copyEvent(event, encodeEvent(RUN, event));
  inner.list[0] = { n: 2 };
  inner.list.push({ n: 3 });
  expect(copy).toEqual(eventOf({ list: [{ n: 1 }] }));
});
