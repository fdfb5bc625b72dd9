import type { CallOutcome, JsonValue } from "../../../core/index.ts";
import { type Html, NOTHING } from "../html.ts";
import { Notice } from "../shell/frame.tsx";
import { approvalStatus } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import { FieldChanges, Fields } from "../show/fields.tsx";
import { Foreign } from "../show/foreign.tsx";
import { Time } from "../show/times.tsx";
import type { RequestFacts } from "./facts.ts";

/** What was answered and what has come of it; nothing while the question is open. */
export function RequestOutcome(props: { readonly facts: RequestFacts; readonly now: number }): Html {
  const { facts, now } = props;
  const { row } = facts;
  switch (approvalStatus(row, now)) {
    case "pending":
      return NOTHING;
    case "approved":
      return (
        <>
          <Notice tone="good" title="Approved">
            <Answered facts={facts} />
          </Notice>
          <AfterApproval facts={facts} />
        </>
      );
    case "rejected":
      return (
        <Notice tone="bad" title="Rejected. Nothing was done, and this call can never run.">
          <Answered facts={facts} />
        </Notice>
      );
    case "expired":
      return (
        <Notice tone="wait" title="Expired. Nothing was done.">
          <p>
            Nobody answered before <Time at={row.expiresAt} />. An answer that comes later is refused, because what the
            rules read then may not be true any more. If it is still wanted, ask the agent again.
          </p>
        </Notice>
      );
    case "void":
      return (
        <Notice tone="info" title="Void. Nothing was done.">
          <p>The run ended before anybody answered, so the question has nothing to decide any more.</p>
        </Notice>
      );
  }
}

function Answered(props: { readonly facts: RequestFacts }): Html {
  const { row } = props.facts;
  return (
    <>
      <p>
        By <strong>{plainLine(row.resolvedBy?.id ?? "unknown", 40)}</strong>
        {row.resolvedAt === undefined ? (
          ""
        ) : (
          <>
            {" at "}
            <Time at={row.resolvedAt} />
          </>
        )}
      </p>
      {row.note === undefined || row.note === "" ? "" : <Foreign text={row.note} />}
    </>
  );
}

function AfterApproval(props: { readonly facts: RequestFacts }): Html {
  const { call, asked, recheck } = props.facts;
  const outcome = call?.outcome;
  if (outcome === undefined) {
    return <Notice tone="info" title="The rules look at the facts once more, and then it is done." />;
  }
  if (outcome.status === "world_changed") {
    return <WorldChanged outcome={outcome} before={asked?.reads} after={recheck?.reads} />;
  }
  if (outcome.status === "ok") {
    return <Notice tone="good" title="It was done, once." />;
  }
  return (
    <Notice
      tone="bad"
      title={outcome.status === "unknown" ? "Nobody knows whether it happened." : "It was approved and was not done."}
    >
      <Foreign text={outcome.error.message} />
      <p>
        <code>{plainLine(outcome.error.code, 64)}</code>
      </p>
    </Notice>
  );
}

function WorldChanged(props: {
  readonly outcome: Extract<CallOutcome, { readonly error: unknown }>;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}): Html {
  const { outcome, before, after } = props;
  return (
    <Notice tone="bad" title="The facts had changed. Nothing was done.">
      <p>
        It was approved, the rules looked at today's facts before acting, and they say no. An approval is good for the
        facts that it was given on, and for no others.
      </p>
      <Foreign text={outcome.error.message} />
      <p>
        <code>{plainLine(outcome.error.code, 64)}</code>
      </p>
      <FactsNow before={before} after={after} />
    </Notice>
  );
}

function FactsNow(props: { readonly before: JsonValue | undefined; readonly after: JsonValue | undefined }): Html {
  const { before, after } = props;
  if (after === undefined) {
    return NOTHING;
  }
  if (before !== undefined) {
    return <FieldChanges before={before} after={after} />;
  }
  return (
    <>
      <h3>What the rule read then</h3>
      <Fields value={after} />
    </>
  );
}
