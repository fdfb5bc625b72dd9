import type { Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Html } from "../html.ts";
import type { PageDecision, PageProblem } from "../session.ts";
import { readForm } from "../shell/forms.ts";
import { Notice } from "../shell/frame.tsx";
import { notFound, type PageKit, PageRefusal, signedIn, viewOf } from "../shell/kit.ts";
import { reply } from "../shell/reply.tsx";
import { approvalStatus } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import { DecideForm, NOTE_CHARACTERS_MAX } from "./decide-form.tsx";
import { requestFacts } from "./facts.ts";
import { inboxRoute } from "./inbox.tsx";
import { RequestPage } from "./request.tsx";

const POLL_S = 5;

/** The inbox, one request, and the answer to it. */
export function approvalRoutes(app: Hono, kit: PageKit): void {
  inboxRoute(app, kit);
  app.get("/approvals/:id", async (c) => requestReply(kit, c, c.req.param("id")));
  app.post("/approvals/:id/decide", async (c) => decide(kit, c, c.req.param("id")));
}

/** What is said about an answer that was just given. */
interface Said {
  readonly status?: ContentfulStatusCode;
  readonly notice?: Html;
  readonly note?: string;
  readonly problem?: PageProblem;
}

async function requestReply(kit: PageKit, c: Context, approvalId: string, said: Said = {}): Promise<Response> {
  const me = signedIn(kit, c);
  const facts = await requestFacts(kit, me, approvalId);
  if (facts === undefined) {
    throw notFound("There is no such request.");
  }
  const view = { ...(await viewOf(kit, c)), here: `/approvals/${encodeURIComponent(approvalId)}` };
  const { row, call } = facts;
  const isOpen = approvalStatus(row, view.now) === "pending";
  const signatures = await kit.session.signatures?.(c, row);
  // While it waits, another person may answer; after a yes, the outcome is still to come.
  const isMoving = isOpen || (row.status === "approved" && call?.outcome === undefined);
  const { note, problem } = said;
  const decideForm =
    isOpen && facts.isIntact ? (
      <DecideForm
        facts={facts}
        view={view}
        refusal={kit.session.refusalToDecide(c, row)}
        signatures={signatures}
        {...(note !== undefined && { note })}
        {...(problem !== undefined && { problem })}
      />
    ) : undefined;
  const body = (
    <RequestPage
      facts={facts}
      view={view}
      {...(decideForm !== undefined && { decide: decideForm })}
      notice={said.notice}
      {...(isMoving && { pollS: POLL_S })}
    />
  );
  return reply(c, view, `${row.tool}, request from ${row.agent}`, body, said.status ?? 200);
}

async function decide(kit: PageKit, c: Context, approvalId: string): Promise<Response> {
  signedIn(kit, c);
  const field = await readForm(kit, c);
  const answer = field("answer");
  const note = field("note").trim();
  if (answer !== "approved" && answer !== "rejected") {
    const detail = "The form said neither approve nor reject.";
    throw new PageRefusal({ status: 400, code: "answer_missing", detail });
  }
  const wrong = noteProblem(answer, note);
  if (wrong !== undefined) {
    return requestReply(kit, c, approvalId, { status: wrong.status, note, problem: wrong });
  }
  const outcome = await kit.session.decide(c, {
    approvalId,
    answer,
    argsHash: field("digest"),
    ...(note !== "" && { note }),
  });
  if (outcome.ok) {
    return decided(kit, c, approvalId, outcome.value);
  }
  // With the question still there, the refusal stands beside it; otherwise it is all that there is to say.
  return requestReply(kit, c, approvalId, {
    status: outcome.problem.status,
    notice: <Notice tone="bad" title={outcome.problem.detail} />,
    note,
  });
}

function noteProblem(answer: "approved" | "rejected", note: string): PageProblem | undefined {
  if (answer === "rejected" && note === "") {
    return { status: 422, code: "reason_missing", detail: "A rejection needs a reason. Nothing was decided yet." };
  }
  if (note.length > NOTE_CHARACTERS_MAX) {
    const detail = `The reason has ${note.length} characters, the limit is ${NOTE_CHARACTERS_MAX}. Nothing was decided.`;
    return { status: 413, code: "reason_too_long", detail };
  }
  return undefined;
}

function decided(kit: PageKit, c: Context, approvalId: string, decision: PageDecision): Promise<Response> | Response {
  switch (decision.status) {
    case "recorded":
      return c.redirect(`/approvals/${encodeURIComponent(approvalId)}`, 303);
    case "counted":
      return requestReply(kit, c, approvalId, {
        notice: (
          <Notice
            tone="good"
            title={`Your yes is counted: ${decision.have} of ${decision.need}. Somebody else has to agree.`}
          />
        ),
      });
    case "already_decided": {
      const { resolvedBy, status } = decision.approval;
      const who = resolvedBy === undefined ? "Somebody" : plainLine(resolvedBy.id, 40);
      return requestReply(kit, c, approvalId, {
        status: 409,
        notice: (
          <Notice tone="bad" title={`${who} was faster: this is already ${status}.`}>
            <p>The first answer stands. Yours was not recorded and changed nothing.</p>
          </Notice>
        ),
      });
    }
    case "unknown_approval":
      throw notFound("There is no such request.");
    case "expired":
      return requestReply(kit, c, approvalId, {
        status: 410,
        notice: <Notice tone="bad" title="Too late: the request has expired. Your answer was not recorded." />,
      });
    case "not_permitted":
      return requestReply(kit, c, approvalId, {
        status: 403,
        notice: <Notice tone="bad" title={`You may not decide this: ${plainLine(decision.reason, 240)}.`} />,
      });
    case "digest_mismatch":
      return requestReply(kit, c, approvalId, {
        status: 412,
        notice: (
          <Notice
            tone="bad"
            title="These are not the arguments that you were shown. Nothing was decided; look again."
          />
        ),
      });
  }
}
