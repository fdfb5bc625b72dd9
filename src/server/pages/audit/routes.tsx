import type { Context, Hono } from "hono";
import { leafHash, verifyInclusion } from "../../../audit/index.ts";
import { type JsonValue, parseStrictJson } from "../../../core/index.ts";
import { verifyStoreAudit } from "../../../journal/index.ts";
import { createProofTree, type ProofTree } from "../../audit/proof-tree.ts";
import type { Html } from "../html.ts";
import { readForm } from "../shell/forms.ts";
import { Head, Notice, Panel } from "../shell/frame.tsx";
import { notFound, type PageKit, PageRefusal, signedIn, viewOf } from "../shell/kit.ts";
import { reply } from "../shell/reply.tsx";
import { plainLine } from "../show/code-points.ts";
import { Fields } from "../show/fields.tsx";
import { Code, Id } from "../show/foreign.tsx";
import { countText } from "../show/numbers.ts";
import { logPage } from "./log.tsx";
import { type RecordProof, recordProof } from "./proof.ts";
import { type RecordView, recordView } from "./record-view.ts";

/** Largest time that a Date holds. */
const TIME_MAX = 8.64e15;

const OFFLINE_CHECK = `import { readFileSync } from "node:fs";
import { leafHash, verifyInclusion } from "belay-harness/audit";

const record = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { seq: index, text, size, root, proof } = record;
const leaf = leafHash(text);
console.log(verifyInclusion({ leaf, index, size, root, proof }) ? "in the log" : "NOT in the log", root);`;

/** The audit log, its verification, and one record with its proof. */
export function auditRoutes(app: Hono, kit: PageKit): void {
  const tree = createProofTree(kit.deps.store.audit);
  app.get("/audit", async (c) => logPage(kit, c));
  app.get("/audit/verify", (c) => c.redirect("/audit", 303));
  app.post("/audit/verify", async (c) => {
    signedIn(kit, c);
    await readForm(kit, c);
    if (!kit.session.allows(c, "verify_audit")) {
      throw new PageRefusal({ status: 403, code: "not_permitted", detail: "Your role may not verify the log." });
    }
    return logPage(kit, c, await verifyStoreAudit(kit.deps.store, { signal: c.req.raw.signal }));
  });
  app.get("/audit/:seq/proof.json", async (c) => {
    const { proof } = await ownRecord(kit, tree, c, c.req.param("seq"));
    c.header("Content-Disposition", `attachment; filename="audit-record-${proof.seq}.json"`);
    return c.json(proof);
  });
  app.get("/audit/:seq", async (c) => {
    const { proof, record } = await ownRecord(kit, tree, c, c.req.param("seq"));
    const title = `Audit record ${proof.seq}`;
    return reply(c, await viewOf(kit, c), title, <RecordPage title={title} proof={proof} record={record} />);
  });
}

async function ownRecord(
  kit: PageKit,
  tree: ProofTree,
  c: Context,
  place: string,
): Promise<{ readonly proof: RecordProof; readonly record: RecordView }> {
  const { tenant } = signedIn(kit, c);
  const proof = /^[0-9]{1,15}$/.test(place) ? await recordProof(kit.deps.store, tree, Number(place)) : undefined;
  if (proof === undefined) {
    throw notFound("The log has no such record.");
  }
  const record = recordView(proof, tenant);
  if (!record.isOwn && record.type !== "unreadable") {
    throw notFound("The log has no such record of yours.");
  }
  return { proof, record };
}

function RecordPage(props: { readonly title: string; readonly proof: RecordProof; readonly record: RecordView }): Html {
  const { title, proof, record } = props;
  const { seq, text, size, root } = proof;
  // From the text, as a stranger would: a stored leaf proves nothing about what is shown.
  const leaf = leafHash(text);
  const value = readable(text);
  const isProved = verifyInclusion({ leaf, index: seq, size, root, proof: proof.proof });
  return (
    <>
      <Head title={title}>
        <a href="/audit">The log</a>
      </Head>
      {isProved ? (
        <Notice tone="good" title={`Its place is proved: record ${seq} of ${countText(size)}.`} />
      ) : (
        <Notice tone="bad" title="The proof does not lead to the root. The log has been changed." />
      )}
      <Panel title="Record" id="record">
        {value !== undefined ? <Fields value={value} /> : ""}
        <details open={value === undefined}>
          <summary>As it is in the log, byte for byte</summary>
          <Code text={text} />
        </details>
        {record.run === undefined ? (
          ""
        ) : (
          <p>
            <a href={`/runs/${encodeURIComponent(record.run)}`}>The run {plainLine(record.run, 40)}</a>
          </p>
        )}
      </Panel>
      <Panel title="Inclusion proof" id="proof">
        <dl class="fields">
          <div>
            <dt>Leaf</dt>
            <dd>
              <Id id={leaf} />
            </dd>
          </div>
          {proof.proof.map((sibling, index) => (
            <div>
              <dt>Sibling {index + 1}</dt>
              <dd>
                <Id id={sibling} />
              </dd>
            </div>
          ))}
          <div>
            <dt>Root of {countText(size)} records</dt>
            <dd>
              <Id id={root} />
            </dd>
          </div>
        </dl>
        <p>
          <a class="button" href={`/audit/${seq}/proof.json`} download="">
            Download record and proof
          </a>
        </p>
      </Panel>
      <Panel title="Check it without this server" id="offline">
        <p>
          Save this as <code>check.mjs</code> and run <code>node check.mjs audit-record-{seq}.json</code>. Compare the
          root that it prints with one that you got on another way, such as a signed checkpoint.
        </p>
        <Code text={OFFLINE_CHECK} />
      </Panel>
    </>
  );
}

/** The record with its time in words; undefined when it cannot be read. */
function readable(text: string): JsonValue | undefined {
  const read = parseStrictJson(text);
  if (!read.ok) return undefined;
  const { value } = read;
  const at = typeof value === "object" && value !== null && "at" in value ? value["at"] : undefined;
  return typeof at === "number" && Math.abs(at) < TIME_MAX
    ? { ...(value as Readonly<Record<string, JsonValue>>), at: `${at} (${new Date(at).toISOString()})` }
    : value;
}
