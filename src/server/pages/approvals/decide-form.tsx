import type { Html } from "../html.ts";
import type { PageProblem, Signatures } from "../session.ts";
import { Csrf, Notice } from "../shell/frame.tsx";
import type { View } from "../shell/kit.ts";
import { plainLine } from "../show/code-points.ts";
import { Time } from "../show/times.tsx";
import type { RequestFacts } from "./facts.ts";

export const NOTE_CHARACTERS_MAX = 1000;

/** Yes or no, with a reason; or why the reader cannot say it. */
export function DecideForm(props: {
  readonly facts: RequestFacts;
  readonly view: View;
  readonly refusal: string | undefined;
  readonly signatures: Signatures | undefined;
  readonly note?: string;
  readonly problem?: PageProblem;
}): Html {
  const { facts, view, refusal, signatures, note = "", problem } = props;
  const { row } = facts;
  return (
    <section class="panel" aria-labelledby="decide">
      <h2 id="decide">Decide</h2>
      {signatures === undefined ? "" : <Signed signatures={signatures} />}
      {problem === undefined ? "" : <Notice tone="bad" title={problem.detail} />}
      {refusal === undefined ? (
        <form class="stack decide" method="post" action={`/approvals/${encodeURIComponent(row.approvalId)}/decide`}>
          <Csrf view={view} />
          <input type="hidden" name="digest" value={row.argsHash} />
          <label for="note">Reason</label>
          <textarea id="note" name="note" maxlength={NOTE_CHARACTERS_MAX} aria-describedby="note-help">
            {note}
          </textarea>
          <p id="note-help" class="soft small">
            Kept with your decision for good. A rejection needs one.
          </p>
          <div class="buttons">
            <button class="primary" type="submit" name="answer" value="approved">
              Approve
            </button>
            <button class="danger" type="submit" name="answer" value="rejected">
              Reject
            </button>
          </div>
        </form>
      ) : (
        <p>You cannot decide this: {plainLine(refusal, 240)}.</p>
      )}
    </section>
  );
}

function Signed(props: { readonly signatures: Signatures }): Html {
  const { need, given } = props.signatures;
  return (
    <>
      <p>
        Needs {need} people; {given.length} {given.length === 1 ? "has" : "have"} said yes.
      </p>
      {given.length === 0 ? (
        ""
      ) : (
        <ul class="plain-list">
          {given.map(({ personId, at }) => (
            <li>
              {plainLine(personId, 40)}, <Time at={at} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
