import type { Context, Hono } from "hono";
import { type ApprovalRow, type ApprovalsQuery, approvalIsIntact } from "../../../journal/index.ts";
import type { Html } from "../html.ts";
import { Head } from "../shell/frame.tsx";
import { type PageKit, signedIn, type View, viewOf } from "../shell/kit.ts";
import { reply } from "../shell/reply.tsx";
import { ApprovalBadge } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import { ForeignLine } from "../show/foreign.tsx";
import { headlineOf, labelOf } from "../show/headline.ts";
import { Age, Countdown } from "../show/times.tsx";

/** Rows of one look at the inbox; with 100,000 waiting it must still open at once. */
const ROWS_MAX = 100;
const POLL_S = 15;

const LISTS = [
  { id: "waiting", name: "Waiting", status: "pending" },
  { id: "approved", name: "Approved", status: "approved" },
  { id: "rejected", name: "Rejected", status: "rejected" },
  { id: "expired", name: "Expired", status: "expired" },
] as const;

type List = (typeof LISTS)[number];

/** The inbox: what waits for a person, oldest first. */
export function inboxRoute(app: Hono, kit: PageKit): void {
  app.get("/approvals", async (c) => inboxPage(kit, c));
}

async function inboxPage(kit: PageKit, c: Context): Promise<Response> {
  const { tenant } = signedIn(kit, c);
  const view = await viewOf(kit, c);
  const list = LISTS.find(({ id }) => id === c.req.query("list")) ?? LISTS[0];
  const after = cursorOf(c);
  const rows = await kit.deps.store.approvals({
    tenant,
    status: list.status,
    limit: ROWS_MAX + 1,
    ...(after !== undefined && { after }),
  });
  const last = rows.length > ROWS_MAX ? rows[ROWS_MAX - 1] : undefined;
  const refusals = new Map(rows.map((row) => [row.approvalId, kit.session.refusalToDecide(c, row)]));
  const body = (
    <>
      <Head title="Approvals" />
      <nav class="row lists" aria-label="Lists of approvals">
        {LISTS.map(({ id, name }) => (
          <a class="button" href={`/approvals?list=${id}`} {...(id === list.id ? { "aria-current": "page" } : {})}>
            {name}
          </a>
        ))}
      </nav>
      <div id="inbox" {...(list.status === "pending" ? { "data-poll-s": String(POLL_S) } : {})}>
        <Rows rows={rows.slice(0, ROWS_MAX)} list={list} view={view} refusals={refusals} />
        <nav class="pages" id="inbox-pages" aria-label="Pages">
          {after === undefined ? (
            ""
          ) : (
            <a class="button" href={`/approvals?list=${list.id}`}>
              First page
            </a>
          )}
          {last === undefined ? (
            ""
          ) : (
            <a class="button" href={`/approvals?${pageQuery(list, last)}`}>
              Next {ROWS_MAX}
            </a>
          )}
        </nav>
      </div>
    </>
  );
  return reply(c, view, "Approvals", body);
}

/** The last row of the page before. */
function cursorOf(c: Context): ApprovalsQuery["after"] {
  const requestedAt = Number(c.req.query("after"));
  const approvalId = c.req.query("id");
  return approvalId !== undefined && Number.isSafeInteger(requestedAt) ? { requestedAt, approvalId } : undefined;
}

function pageQuery(list: List, { requestedAt, approvalId }: ApprovalRow): URLSearchParams {
  return new URLSearchParams({ list: list.id, after: String(requestedAt), id: approvalId });
}

function Rows(props: {
  readonly rows: readonly ApprovalRow[];
  readonly list: List;
  readonly view: View;
  readonly refusals: ReadonlyMap<string, string | undefined>;
}): Html {
  const { rows, list, view, refusals } = props;
  if (rows.length === 0) {
    return (
      <p class="panel" id="inbox-empty">
        {list.status === "pending" ? "Nothing waits for a person." : "There are none."}
      </p>
    );
  }
  return (
    <table class="table" id="inbox-rows">
      <thead>
        <tr>
          <th scope="col" class="end">
            Amount
          </th>
          <th scope="col">Request</th>
          <th scope="col">Why</th>
          <th scope="col">Asked by</th>
          <th scope="col">Age</th>
          <th scope="col">{list.status === "pending" ? "Expires in" : "State"}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row row={row} view={view} refusal={refusals.get(row.approvalId)} />
        ))}
      </tbody>
    </table>
  );
}

function Row(props: { readonly row: ApprovalRow; readonly view: View; readonly refusal: string | undefined }): Html {
  const { row, view, refusal } = props;
  // What was changed in the file is not shown as the question; its own page says what is the matter.
  const isIntact = approvalIsIntact(row);
  const { amount, recipient } = isIntact ? headlineOf(row.args) : {};
  return (
    <tr class={isIntact ? "" : "changed"}>
      <td data-label="Amount" class="end amount">
        {amount?.text ?? "none"}
      </td>
      <td data-label="Request">
        <a href={`/approvals/${encodeURIComponent(row.approvalId)}`}>
          {plainLine(row.tool, 64)}
          {recipient === undefined ? (
            ""
          ) : (
            <>
              {", "}
              {plainLine(labelOf(recipient.name).replace(/ id$/, ""), 40)}{" "}
              <ForeignLine text={recipient.text} charactersMax={48} />
            </>
          )}
        </a>
        <div class="soft small">
          {plainLine(row.agent, 40)}
          {refusal === undefined || row.status !== "pending" || !isIntact ? "" : " · not yours to decide"}
          {isIntact ? "" : " · changed in the store since it was asked; nobody can decide it"}
        </div>
      </td>
      <td data-label="Why">
        <ForeignLine text={row.reason} charactersMax={120} />
        <div class="small">
          <code>{plainLine(row.code, 64)}</code>
        </div>
      </td>
      <td data-label="Asked by" class="nowrap">
        {plainLine(row.requester.id, 32)}
      </td>
      <td data-label="Age">
        <Age at={row.requestedAt} now={view.now} />
      </td>
      <td data-label={row.status === "pending" ? "Expires in" : "State"}>
        {row.status === "pending" ? (
          <Countdown until={row.expiresAt} now={view.now} />
        ) : (
          <>
            <ApprovalBadge row={row} now={view.now} />
            {row.resolvedBy === undefined ? "" : <div class="small">by {plainLine(row.resolvedBy.id, 40)}</div>}
          </>
        )}
      </td>
    </tr>
  );
}
