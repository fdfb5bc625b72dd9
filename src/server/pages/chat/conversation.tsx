import type { ApprovalRow, RunRow, StoredEntry } from "../../../journal/index.ts";
import type { Html } from "../html.ts";
import { RunBadge } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import { Foreign } from "../show/foreign.tsx";
import { Countdown, Time } from "../show/times.tsx";
import { type StoryItem, storyOf } from "../story/story.ts";
import { StoryLine } from "../story/story-list.tsx";
import { streamAttributes } from "../story/stream.ts";
import { endWords } from "../story/words.ts";

/** One message with everything that has come of it. */
export interface Turn {
  readonly run: RunRow;
  readonly entries: readonly StoredEntry[];
  readonly label: string | undefined;
  readonly pending: readonly ApprovalRow[];
}

/** How often a page looks by itself where no stream tells it to, in seconds. */
const POLL_S = 3;

/** A conversation from its first message on; the part of the page that is live. */
export function Conversation(props: { readonly turns: readonly Turn[]; readonly now: number }): Html {
  const { turns, now } = props;
  const open = turns.find(({ run }) => run.termination === undefined);
  // A queued message starts the next run; between the two there is no run to follow.
  const isMoving = open !== undefined || turns.some(({ run }) => run.nextRunId !== undefined);
  return (
    <div
      id="conversation"
      class="chat"
      role="log"
      aria-label="Conversation"
      {...(isMoving ? { "data-poll-s": String(POLL_S) } : {})}
      {...(open === undefined ? {} : streamAttributes(open.run, open.entries.length))}
    >
      {turns.map((turn) => (
        <TurnPart turn={turn} now={now} />
      ))}
    </div>
  );
}

function TurnPart(props: { readonly turn: Turn; readonly now: number }): Html {
  const { turn, now } = props;
  const { run, entries, label } = turn;
  const id = plainLine(run.runId, 128);
  const gates = storyOf(entries).filter(({ isGate }) => isGate);
  return (
    <div class="turn" id={`turn-${id}`} data-nested="">
      <div class="said user" id={`said-${id}`}>
        <div class="who">
          {plainLine(run.principal.id, 40)} · <Time at={run.startedAt} />
        </div>
        <Foreign text={run.input} charactersMax={2000} linesMax={30} />
      </div>
      <Gates id={id} gates={gates} run={run} label={label} />
      {turn.pending.map((row) => (
        <Question row={row} now={now} />
      ))}
      <QueuedMessages entries={entries} id={id} run={run} />
      <div id={`draft-${id}`} class="said draft" data-draft="" data-keep="" aria-live="off" hidden></div>
      <Answer id={id} run={run} />
    </div>
  );
}

function Gates(props: {
  readonly id: string;
  readonly gates: readonly StoryItem[];
  readonly run: RunRow;
  readonly label: string | undefined;
}): Html {
  const { id, gates, run, label } = props;
  return (
    <div class="gates" id={`gates-${id}`} data-nested="">
      <div class="spread small" id={`state-${id}`}>
        <RunBadge run={run} label={label} />
        <a href={`/runs/${encodeURIComponent(run.runId)}`}>Everything about this run</a>
      </div>
      <ol class="story" id={`story-${id}`} aria-label="What the gates said" data-nested="">
        {gates.map((item, index) => (
          <li id={`gate-${id}-${item.seq}-${index}`} class={`story-item edge-${item.tone}`}>
            <StoryLine item={item} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Question(props: { readonly row: ApprovalRow; readonly now: number }): Html {
  const { row, now } = props;
  return (
    <div class="notice edge-wait" id={`ask-${plainLine(row.approvalId, 128)}`}>
      <strong>This waits for a person.</strong>
      <div>
        <a href={`/approvals/${encodeURIComponent(row.approvalId)}`}>Look at the request</a>
        <span class="soft">
          {" "}
          · expires in <Countdown until={row.expiresAt} now={now} />
        </span>
      </div>
    </div>
  );
}

function QueuedMessages(props: {
  readonly entries: readonly StoredEntry[];
  readonly id: string;
  readonly run: RunRow;
}): Html {
  const { entries, id, run } = props;
  const isFollowed = entries.some(({ event }) => event.type === "run.followed");
  const queued = isFollowed ? [] : entries.flatMap(({ event }) => (event.type === "message.queued" ? [event] : []));
  return (
    <div id={`queue-${id}`} class="turn">
      {queued.map((message) => (
        <div class="said user">
          <div class="who">
            {plainLine(message.principal.id, 40)} · waits until the run {run.termination === undefined ? "" : "that "}
            ends; it answers no question
          </div>
          <Foreign text={message.text} />
        </div>
      ))}
    </div>
  );
}

function Answer(props: { readonly id: string; readonly run: RunRow }): Html {
  const { id, run } = props;
  if (run.termination === undefined) {
    return <div id={`answer-${id}`} hidden></div>;
  }
  return (
    <div class="said" id={`answer-${id}`}>
      <div class="who">
        {plainLine(run.agent, 40)} · <Time at={run.updatedAt} />
      </div>
      {run.answer === undefined ? (
        <p>{endWords(run.termination)}</p>
      ) : (
        <Foreign text={run.answer} charactersMax={4000} linesMax={60} />
      )}
    </div>
  );
}
