/** An outsider checks a log with three things: the export, a checkpoint kept elsewhere, and the key that signed it. */
import assert from "node:assert/strict";
import { allow, createHarness, defineRule, defineTool } from "belay-harness";
import {
  type AuditEntry,
  type AuditVerdict,
  canonicalJson,
  decodeFrontier,
  generateSigner,
  leafHash,
  rootOf,
  signCheckpoint,
  verifyLog,
} from "belay-harness/audit";
import { createMemoryStore } from "belay-harness/store";
import { scriptedModel } from "belay-harness/testing";
import { z } from "zod";

/** What the operator hands out. */
interface Evidence {
  /** One `{seq, text, leaf}` a line, as `belay audit export` prints it. */
  readonly jsonl: string;
  /** A signed note that the outsider took and kept. */
  readonly checkpoint: string;
  readonly verifierKey: string;
}

async function operator(): Promise<Evidence> {
  const store = createMemoryStore();
  const pay = defineTool({
    ...{ name: "pay", description: "Pay an amount", level: "write", recovery: "keyed" },
    input: z.strictObject({ cents: z.int().positive() }),
    execute: ({ cents }) => ({ cents }),
  });
  const rules = [defineRule({ id: "all", decide: () => allow("OK", "an example") })];
  const agent = { name: "payer", revision: "1", instructions: "Pay.", tools: [pay], rules };
  const model = scriptedModel([
    { kind: "calls", text: "", calls: [{ tool: "pay", args: { json: { cents: 700 } } }] },
    { kind: "final", text: "Paid." },
  ]);
  await createHarness({ agent, model, store }).run("Pay 7.00").result;

  const { signer } = generateSigner("example.com/audit");
  const frontier = decodeFrontier(await store.audit.frontier());
  const checkpoint = signCheckpoint({ origin: signer.name, size: frontier.size, root: rootOf(frontier) }, signer);
  const entries = await store.audit.entries(0, 1000);
  return {
    jsonl: entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""),
    checkpoint,
    verifierKey: signer.verifierKey,
  };
}

function verify(entries: readonly AuditEntry[], { checkpoint, verifierKey }: Evidence): Promise<AuditVerdict> {
  return verifyLog(entries, { checkpoint, verifierKeys: [verifierKey], origin: "example.com/audit" });
}

const evidence = await operator();
const entries: AuditEntry[] = evidence.jsonl
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

const intact = await verify(entries, evidence);
assert.ok(intact.ok && intact.anchoredSize === entries.length);

// One record edited: it no longer fits its leaf, and is named.
const at = entries.findIndex(({ text }) => text.includes('"cents":700'));
const forgedText = entries[at]?.text.replace('"cents":700', '"cents":7') ?? "";
const edited = entries.map((entry) => (entry.seq === at ? { ...entry, text: forgedText } : entry));
const changed = await verify(edited, evidence);
assert.ok(!changed.ok && changed.problem === "changed" && changed.seq === at);

// Rewritten with a leaf that fits: whole in itself, and not what the checkpoint vouches for.
assert.equal(canonicalJson(JSON.parse(forgedText)), forgedText);
const refitted = edited.map((entry) => (entry.seq === at ? { ...entry, leaf: leafHash(forgedText) } : entry));
assert.ok((await verifyLog(refitted)).ok);
const rewritten = await verify(refitted, evidence);
assert.ok(!rewritten.ok && rewritten.problem === "root_mismatch");

// The tail cut off, which only a checkpoint can show.
const cut = entries.slice(0, -1);
assert.ok((await verifyLog(cut)).ok);
const truncated = await verify(cut, evidence);
assert.ok(!truncated.ok && truncated.problem === "truncated" && truncated.seq === cut.length);

process.stdout.write(
  `intact: ${entries.length} records; edited: ${changed.problem} at record ${at}; ` +
    `rewritten: ${rewritten.problem}; cut: ${truncated.problem}\n`,
);
