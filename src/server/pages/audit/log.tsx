import type { Context } from "hono";
import type { AuditEntry } from "../../../audit/index.ts";
import type { StoreAuditVerdict } from "../../../journal/index.ts";
import type { Html } from "../html.ts";
import { Csrf, Head, Notice, Panel } from "../shell/frame.tsx";
import { type PageKit, signedIn, type View, viewOf } from "../shell/kit.ts";
import { reply } from "../shell/reply.tsx";
import { plainLine } from "../show/code-points.ts";
import { Foreign, Id } from "../show/foreign.tsx";
import { countText } from "../show/numbers.ts";
import { Time } from "../show/times.tsx";
import { type RecordView, recordView } from "./record-view.ts";

const ROWS = 50;

/** The head of the tree, its latest records, and what a verification found. */
export async function logPage(kit: PageKit, c: Context, verdict?: StoreAuditVerdict): Promise<Response> {
  const { tenant } = signedIn(kit, c);
  const view = { ...(await viewOf(kit, c)), ...(verdict !== undefined && { here: "/audit" }) };
  const { audit } = kit.deps.store;
  const [size, root, checkpoints] = await Promise.all([audit.size(), audit.root(), audit.checkpoints()]);
  const to = endOf(c.req.query("to"), size);
  const from = Math.max(0, to - ROWS);
  const entries = to > from ? await audit.entries(from, to - from) : [];
  const body = (
    <>
      <Head title="Audit">
        <span class="soft">Every decision and every effect, in a tree that shows each change</span>
      </Head>
      {verdict === undefined ? "" : <Verdict verdict={verdict} />}
      <TreeHead
        view={view}
        size={size}
        root={root}
        checkpoints={checkpoints.map((kept) => kept.size)}
        mayVerify={kit.session.allows(c, "verify_audit")}
      />
      <Records
        rows={entries.toReversed().map((entry) => [entry, recordView(entry, tenant)] as const)}
        from={from}
        to={to}
        size={size}
      />
    </>
  );
  return reply(c, view, "Audit", body);
}

function endOf(wanted: string | undefined, size: number): number {
  const to = Number(wanted ?? "");
  return wanted !== undefined && Number.isSafeInteger(to) && to > 0 ? Math.min(to, size) : size;
}

function TreeHead(props: {
  readonly view: View;
  readonly size: number;
  readonly root: string;
  readonly checkpoints: readonly number[];
  readonly mayVerify: boolean;
}): Html {
  const { view, size, root, checkpoints, mayVerify } = props;
  return (
    <Panel title="Head of the tree" id="head">
      <dl class="fields">
        <div>
          <dt>Records</dt>
          <dd class="number">{countText(size)}</dd>
        </div>
        <div>
          <dt>Root</dt>
          <dd>
            <Id id={root} />
          </dd>
        </div>
        <div>
          <dt>Signed checkpoints</dt>
          <dd class="number">
            {checkpoints.length === 0
              ? "none yet"
              : `${checkpoints.length}, the last over ${checkpoints.at(-1)} records`}
          </dd>
        </div>
      </dl>
      {mayVerify ? (
        <form class="row" method="post" action="/audit/verify">
          <Csrf view={view} />
          <button class="primary" type="submit">
            Verify the log
          </button>
          <span class="soft small">Reads every record and compares it with the journal.</span>
        </form>
      ) : (
        ""
      )}
    </Panel>
  );
}

function Verdict(props: { readonly verdict: StoreAuditVerdict }): Html {
  const { verdict } = props;
  if (verdict.ok) {
    return (
      <Notice tone="good" title={`The log is whole: ${countText(verdict.size)} records, each as it was written.`}>
        <p>
          Root <Id id={verdict.root} />
        </p>
        <p>
          {verdict.anchoredSize === 0
            ? "No signed checkpoint was used. Whoever can rewrite the whole store could rewrite the log with it; compare the root with one kept elsewhere."
            : `A signed checkpoint vouches for ${countText(verdict.anchoredSize)} of them.`}
        </p>
      </Notice>
    );
  }
  return (
    <Notice tone="bad" title="The log is not whole.">
      <p>
        {verdict.seq === null ? "No single record is at fault" : `First bad record: ${verdict.seq}`},{" "}
        <code>{verdict.problem}</code>
      </p>
      <Foreign text={verdict.detail} charactersMax={400} />
      {verdict.seq === null ? (
        ""
      ) : (
        <p>
          <a href={`/audit/${verdict.seq}`}>Look at record {verdict.seq}</a>
        </p>
      )}
    </Notice>
  );
}

function Records(props: {
  readonly rows: readonly (readonly [AuditEntry, RecordView])[];
  readonly from: number;
  readonly to: number;
  readonly size: number;
}): Html {
  const { rows, from, to, size } = props;
  if (rows.length === 0) {
    return <p class="panel">There are no records yet. The first run writes them.</p>;
  }
  return (
    <>
      <table class="table">
        <thead>
          <tr>
            <th scope="col" class="end">
              Record
            </th>
            <th scope="col">Time</th>
            <th scope="col">What</th>
            <th scope="col">Says</th>
            <th scope="col">Run</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([{ seq }, record]) => (
            <tr>
              <td data-label="Record" class="end number">
                <a href={`/audit/${seq}`}>{seq}</a>
              </td>
              <td data-label="Time">{record.at === undefined ? "" : <Time at={record.at} />}</td>
              <td data-label="What" class="nowrap">
                <code>{plainLine(record.type, 40)}</code>
              </td>
              <td data-label="Says">{plainLine(record.says, 120)}</td>
              <td data-label="Run" class="nowrap wide">
                {record.run === undefined ? (
                  ""
                ) : (
                  <a href={`/runs/${encodeURIComponent(record.run)}`}>
                    <Id id={record.run} charactersMax={40} />
                  </a>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <nav class="pages" aria-label="Pages">
        {from > 0 ? (
          <a class="button" href={`/audit?to=${from}`}>
            Older records
          </a>
        ) : (
          ""
        )}
        {to < size ? (
          <a class="button" href="/audit">
            Newest records
          </a>
        ) : (
          ""
        )}
      </nav>
    </>
  );
}
