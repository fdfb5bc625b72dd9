import { fold, type RunState } from "../../../core/index.ts";
import type { ApprovalRow, RunRow, StoredEntry } from "../../../journal/index.ts";
import { metricsOf } from "../../../telemetry/index.ts";
import { type Html, NOTHING } from "../html.ts";
import { Csrf, Head, Notice, Panel } from "../shell/frame.tsx";
import type { View } from "../shell/kit.ts";
import { ApprovalBadge, RunBadge } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import { Foreign, ForeignLine, Id } from "../show/foreign.tsx";
import { costText, countText } from "../show/numbers.ts";
import { durationText, Time } from "../show/times.tsx";
import { CallName } from "../story/story-list.tsx";
import { streamAttributes } from "../story/stream.ts";
import { endWords } from "../story/words.ts";
import { Timeline } from "./timeline.tsx";
import { UnknownOutcomes } from "./unknown-outcomes.tsx";

/** What the page of one run shows and offers. */
export interface RunFacts {
  readonly run: RunRow;
  readonly entries: readonly StoredEntry[];
  readonly approvals: readonly ApprovalRow[];
  readonly label: string | undefined;
  readonly mayCancel: boolean;
  /** Why the reader may not say what became of a call in doubt. */
  readonly refusalToReconcile: string | undefined;
}

/** One run: its numbers, its words, its questions, and everything that happened. */
export function RunPageBody(props: { readonly facts: RunFacts; readonly view: View }): Html {
  const { facts, view } = props;
  const { run, entries, approvals, label } = facts;
  const state = fold(entries);
  const isOpen = run.termination === undefined;
  return (
    <div id="run" {...(isOpen ? { ...streamAttributes(run, entries.length), "data-poll-s": "5" } : {})}>
      <div id="run-head">
        <Head title={`Run of ${run.agent}`}>
          <RunBadge run={run} label={label} />
          <a href="/runs">All runs</a>
        </Head>
      </div>
      <div id="run-figures">
        <Figures run={run} entries={entries} />
        {run.termination === undefined || run.termination === "completed" ? "" : <End termination={run.termination} />}
      </div>
      <div id="run-unknown" data-keep="">
        <UnknownOutcomes run={run} state={state} view={view} refusal={facts.refusalToReconcile} />
      </div>
      <div id="run-words">
        <Words run={run} />
        <Questions approvals={approvals} view={view} />
      </div>
      <Timeline entries={entries} run={run} />
      <div class="columns" id={isOpen ? "run-about-open" : "run-about-ended"} data-keep="">
        <About run={run} state={state} />
        {isOpen && facts.mayCancel ? <CancelForm run={run} view={view} /> : ""}
      </div>
    </div>
  );
}

function End(props: { readonly termination: string }): Html {
  return (
    <Notice tone="bad" title={endWords(props.termination)}>
      <p>
        <code>{plainLine(props.termination, 80)}</code>
      </p>
    </Notice>
  );
}

function Words(props: { readonly run: RunRow }): Html {
  const { run } = props;
  return (
    <div class="columns">
      <Panel title="Message" id="message">
        <Foreign text={run.input} charactersMax={1000} linesMax={12} />
        <p class="soft">
          {plainLine(run.principal.id, 40)} ({run.principal.kind}), <Time at={run.startedAt} />
        </p>
      </Panel>
      <Panel title="Answer" id="answer">
        {run.answer === undefined ? (
          <p class="soft">{run.termination === undefined ? "Not yet." : "None."}</p>
        ) : (
          <Foreign text={run.answer} charactersMax={1000} linesMax={12} />
        )}
      </Panel>
    </div>
  );
}

function Figures(props: { readonly run: RunRow; readonly entries: readonly StoredEntry[] }): Html {
  const { run, entries } = props;
  const metrics = metricsOf(entries);
  const verdicts = metrics.verdicts;
  const refused = (verdicts.deny ?? 0) + (verdicts.halt ?? 0) + (metrics.dispositions.invalid ?? 0);
  const figures: readonly (readonly [string, string])[] = [
    ["Steps", countText(metrics.modelCalls)],
    ["Allowed", countText(verdicts.allow ?? 0)],
    ["Refused", countText(refused)],
    ["Asked a person", countText(metrics.approvalMs.length)],
    ["Tokens in / out", `${countText(metrics.inputTokens)} / ${countText(metrics.outputTokens)}`],
    ["Cost", costText(metrics.costNanoUsd)],
    ["Worked", durationText(metrics.workedMs[0] ?? 0)],
    [run.termination === undefined ? "So far" : "Took", durationText(metrics.runMs[0] ?? 0)],
  ];
  return (
    <dl class="figures eight">
      {figures.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd class="number">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Questions(props: { readonly approvals: readonly ApprovalRow[]; readonly view: View }): Html {
  const { approvals, view } = props;
  if (approvals.length === 0) {
    return NOTHING;
  }
  return (
    <Panel title="Questions to people" id="questions">
      <ul class="plain-list">
        {approvals.map((row) => (
          <li class="row">
            <ApprovalBadge row={row} now={view.now} />
            <a href={`/approvals/${encodeURIComponent(row.approvalId)}`}>
              <CallName tool={row.tool} args={row.args} />
            </a>
            <span class="soft">
              <ForeignLine text={row.reason} charactersMax={120} />
              {row.resolvedBy === undefined ? "" : `, by ${plainLine(row.resolvedBy.id, 40)}`}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function About(props: { readonly run: RunRow; readonly state: RunState | undefined }): Html {
  const { run, state } = props;
  const facts: readonly (readonly [string, string])[] = [
    ["Run", run.runId],
    ["Conversation", run.conversationId],
    ["Agent", `${run.agent}, revision ${state?.agent.revision ?? "unknown"}`],
    ["Policy", state?.agent.policyHash ?? "unknown"],
    ["Tenant", run.tenant],
  ];
  return (
    <Panel title="About" id="about">
      <dl class="fields">
        {facts.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>
              <Id id={value} />
            </dd>
          </div>
        ))}
      </dl>
      <p>
        <a href={`/chat/${encodeURIComponent(run.conversationId)}`}>The conversation</a>
      </p>
    </Panel>
  );
}

function CancelForm(props: { readonly run: RunRow; readonly view: View }): Html {
  const { run, view } = props;
  return (
    <Panel title="Cancel" id="cancel">
      <form class="stack" method="post" action={`/runs/${encodeURIComponent(run.runId)}/cancel`}>
        <Csrf view={view} />
        <p class="soft">Nothing new starts. What is running is waited for and recorded.</p>
        <label for="cancel-note">Reason</label>
        <input id="cancel-note" name="note" maxlength={1000} />
        <div>
          <button class="danger" type="submit">
            Cancel the run
          </button>
        </div>
      </form>
    </Panel>
  );
}
