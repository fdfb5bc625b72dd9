import { type CallState, callsInDoubt, type RunState } from "../../../core/index.ts";
import type { RunRow } from "../../../journal/index.ts";
import type { Html } from "../html.ts";
import { Csrf } from "../shell/frame.tsx";
import type { View } from "../shell/kit.ts";
import { plainLine } from "../show/code-points.ts";
import { Foreign, Id, Payload } from "../show/foreign.tsx";
import { Time } from "../show/times.tsx";
import { CallName } from "../story/story-list.tsx";

const NOTE_CHARACTERS_MAX = 1000;
const VALUE_CHARACTERS_MAX = 20_000;

/** The calls of a run of which nobody knew whether they happened, with the form to say it, or with what was said. */
export function UnknownOutcomes(props: {
  readonly run: RunRow;
  readonly state: RunState | undefined;
  readonly view: View;
  readonly refusal: string | undefined;
}): Html {
  const { run, state, view, refusal } = props;
  const open = state === undefined ? [] : callsInDoubt(state);
  const settled = [...(state?.earlierCalls ?? []), ...(state?.turn ?? [])].filter(
    ({ reconciled }) => reconciled !== undefined,
  );
  return (
    <>
      {open.map((call) => (
        <InDoubt call={call} run={run} view={view} refusal={refusal} />
      ))}
      {settled.map((call) => (
        <Settled call={call} />
      ))}
    </>
  );
}

function InDoubt(props: {
  readonly call: CallState;
  readonly run: RunRow;
  readonly view: View;
  readonly refusal: string | undefined;
}): Html {
  const { run, view, refusal } = props;
  const { call, idempotencyKey } = props.call;
  const id = plainLine(call.callId, 128);
  return (
    <section class="panel edge-bad in-doubt" aria-labelledby={`doubt-${id}`}>
      <h2 id={`doubt-${id}`}>Nobody knows whether this happened</h2>
      <p>
        <CallName tool={call.tool} args={call.args} /> was started and its outcome was lost. Look it up in the system
        that it acts on
        {idempotencyKey === undefined ? "" : " by its key "}
        {idempotencyKey === undefined ? "" : <Id id={idempotencyKey} />}, then say what you found. The first word stands
        and is kept for good.
      </p>
      <Payload value={call.args} />
      {refusal === undefined ? (
        <form class="stack" method="post" action={`/runs/${encodeURIComponent(run.runId)}/reconcile`}>
          <Csrf view={view} />
          <input type="hidden" name="call" value={call.callId} />
          <label for={`note-${id}`}>How you know</label>
          <textarea id={`note-${id}`} name="note" required maxlength={NOTE_CHARACTERS_MAX}></textarea>
          <label for={`value-${id}`}>What it gave, as JSON, if it happened and you know it</label>
          <textarea
            id={`value-${id}`}
            name="value"
            class="code-input"
            spellcheck={false}
            maxlength={VALUE_CHARACTERS_MAX}
            aria-describedby={`value-help-${id}`}
          ></textarea>
          <p id={`value-help-${id}`} class="soft small">
            Such as {'{"refund_id": "R-7"}'}. Without it the call cannot be taken back later.
          </p>
          <div class="row">
            <button type="submit" name="outcome" value="happened">
              It happened
            </button>
            <button type="submit" name="outcome" value="did_not_happen">
              It did not happen
            </button>
          </div>
        </form>
      ) : (
        <p class="soft">You cannot say it: {plainLine(refusal, 240)}.</p>
      )}
    </section>
  );
}

function Settled(props: { readonly call: CallState }): Html {
  const { call, reconciled } = props.call;
  const happened = reconciled?.outcome === "happened";
  return (
    <section class="panel edge-info" aria-label={`What became of ${plainLine(call.tool, 64)}`}>
      <h2>{happened ? "Found to have happened" : "Found not to have happened"}</h2>
      <p>
        <CallName tool={call.tool} args={call.args} />
      </p>
      <Foreign text={reconciled?.note ?? ""} />
      <p class="soft">
        {plainLine(reconciled?.by.id ?? "unknown", 40)}, <Time at={reconciled?.at ?? Number.NaN} />
      </p>
      {reconciled?.value?.json === undefined ? "" : <Payload value={reconciled.value.json} />}
    </section>
  );
}
