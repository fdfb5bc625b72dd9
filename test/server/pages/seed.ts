import type { TestConsole } from "./support.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Visit {
  readonly as: string;
  readonly message: string;
  readonly answer?: readonly [by: string, answer: "approved" | "rejected", note: string, afterMinutes: number];
}

/** Days of a shop's support desk, oldest first: what was asked, and how people answered. */
const DAYS: readonly (readonly Visit[])[] = [
  [
    { as: "olga", message: "Where is order O-1002?" },
    { as: "C-01", message: "Please refund order O-1001, the lamp arrived with a crack." },
    { as: "olga", message: "Cancel order O-1003 please." },
  ],
  [
    {
      as: "C-05",
      message: "I would like a refund for order O-1005.",
      answer: ["dana", "approved", "Photo of the damage received.", 42],
    },
    { as: "C-08", message: "Refund O-1008 please" },
  ],
  [
    { as: "olga", message: "What is the status of order O-1029?" },
    { as: "C-04", message: "Refund order O-1004, I changed my mind." },
    { as: "C-16", message: "Please cancel order O-1019." },
    { as: "lee", message: "Send an e-mail about order O-1030 to the customer." },
  ],
  [{ as: "C-12", message: "Refund order O-1014." }],
  [
    {
      as: "olga",
      message: "Please refund Rs 2,500 on order O-1007.",
      answer: ["lee", "rejected", "The mixer was used for eight days; offer a repair instead.", 95],
    },
    { as: "C-06", message: "Cancel O-1006" },
    { as: "C-03", message: "Where is my order O-1031?" },
  ],
  [],
  [],
  [
    { as: "C-09", message: "Refund order O-1009, the cushion is the wrong colour." },
    { as: "olga", message: "Refund Rs 900 on order O-1015." },
  ],
  [
    {
      as: "C-20",
      message: "Refund order O-1024, please.",
      answer: ["dana", "approved", "Rack was returned to the warehouse.", 18],
    },
    { as: "olga", message: "Where are O-1021 and O-1022?" },
    { as: "C-02", message: "Cancel my order O-1002." },
    { as: "C-13", message: "Refund order O-9999." },
  ],
  [
    { as: "C-20", message: "Refund Rs 1,200 for O-1024." },
    { as: "C-17", message: "Where is O-1021?" },
  ],
  [
    { as: "olga", message: "Refund all that is left on order O-1016." },
    { as: "C-14", message: "Please refund O-1016." },
    { as: "C-11", message: "Where is O-1011?" },
    { as: "olga", message: "Cancel order O-1018." },
    { as: "C-05", message: "Refund Rs 700 on O-1026." },
  ],
  [
    { as: "C-19", message: "Refund order O-1023." },
    { as: "olga", message: "Where is order O-1020?" },
  ],
  [
    { as: "C-08", message: "Refund O-1028" },
    { as: "olga", message: "Where is order O-1027?" },
    { as: "C-06", message: "Cancel order O-1027." },
    { as: "C-10", message: "Please refund order O-1030, the desk does not fit." },
  ],
  [
    { as: "olga", message: "Refund Rs 3,000 on order O-1032, the rug was delivered late." },
    {
      as: "C-11",
      message: "Refund order O-1011. Two shelves were missing from the box.",
    },
    { as: "C-02", message: "Please refund order O-1002, the sheets are too small." },
    { as: "lee", message: "Please refund Rs 2,100 on order O-1005." },
    { as: "C-10", message: "Refund O-1010, the kettle leaks." },
    { as: "C-01", message: "Where is my order O-1017?" },
  ],
];

/** Fills a console with two weeks of a support desk. The last day leaves questions open; one has expired. */
export async function seedConsole(console: TestConsole): Promise<void> {
  for (const [index, day] of DAYS.entries()) {
    for (const visit of day) {
      await visitOf(console, visit);
      console.clock.advance(37 * MINUTE_MS);
    }
    if (index < DAYS.length - 1) console.clock.advance(24 * HOUR_MS - day.length * 37 * MINUTE_MS);
  }
  await console.harness.recover();
  console.clock.advance(12 * MINUTE_MS);
}

async function visitOf(console: TestConsole, { as, message, answer }: Visit): Promise<void> {
  const { runId } = await console.run(message, as);
  if (answer === undefined) return;
  const [by, said, note, afterMinutes] = answer;
  const [row] = await console.store.approvals({ tenant: "default", runId });
  if (row === undefined) throw new Error(`nobody was asked about: ${message}`);
  console.clock.advance(afterMinutes * MINUTE_MS);
  await console.harness.decide({
    approvalId: row.approvalId,
    answer: said,
    by: { kind: "person", id: by },
    argsHash: row.argsHash,
    note,
  });
  await console.harness.advance({ tenant: "default", runId });
}
