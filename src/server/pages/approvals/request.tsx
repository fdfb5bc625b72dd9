import type { Child } from "hono/jsx";
import type { JsonValue } from "../../../core/index.ts";
import { type Html, NOTHING } from "../html.ts";
import { Head, Notice, Panel } from "../shell/frame.tsx";
import type { View } from "../shell/kit.ts";
import { ApprovalBadge } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import { Fields } from "../show/fields.tsx";
import { Foreign, ForeignLine, Id, Payload } from "../show/foreign.tsx";
import { headlineOf, labelOf } from "../show/headline.ts";
import { Age, Countdown, Time } from "../show/times.tsx";
import { storyOf } from "../story/story.ts";
import { CallName, StoryList } from "../story/story-list.tsx";
import { LEVEL_WORDS, RECOVERY_WORDS } from "../story/words.ts";
import type { RequestFacts } from "./facts.ts";
import { RequestOutcome } from "./outcome.tsx";

/** One request: first how much and for whom, then everything that was read and said. */
export function RequestPage(props: {
  readonly facts: RequestFacts;
  readonly view: View;
  /** What has just become of the reader's answer. */
  readonly notice?: Child;
  readonly decide?: Child;
  /** Seconds after which the page looks again by itself. */
  readonly pollS?: number;
}): Html {
  const { facts, view, notice, decide, pollS } = props;
  const { row } = facts;
  return (
    <>
      {notice ?? ""}
      <div id="request" {...(pollS === undefined ? {} : { "data-poll-s": String(pollS) })}>
        <div id="request-title">
          <Head title={`Request from ${row.agent}`}>
            <ApprovalBadge row={row} now={view.now} />
            <a href="/approvals">All approvals</a>
          </Head>
        </div>
        <div id="request-body" class={decide === undefined ? "" : "main-aside"} data-nested="">
          <div id="request-headline">
            {facts.isIntact ? <Headline facts={facts} now={view.now} /> : <Tampered callId={row.callId} />}
          </div>
          {decide === undefined ? (
            ""
          ) : (
            <aside id="decision" aria-label="Decision" data-keep="">
              {decide}
            </aside>
          )}
          <div id="request-facts" data-nested="">
            <div id="outcome">
              <RequestOutcome facts={facts} now={view.now} />
            </div>
            <RequestFactsPart facts={facts} />
            <StoryPanel facts={facts} />
            <BindingPanel facts={facts} />
          </div>
        </div>
      </div>
    </>
  );
}

function RequestFactsPart(props: { readonly facts: RequestFacts }): Html {
  const { facts } = props;
  const { row, run } = facts;
  return (
    <div id="request-reasons">
      <Panel
        title={row.requester.kind === "customer" ? "In the customer's own words" : "In the words of who asked"}
        id="words"
      >
        <div class="quote">
          <Foreign text={run.input} charactersMax={1000} linesMax={12} />
        </div>
        <p class="soft">
          {plainLine(row.requester.id, 40)} ({row.requester.kind}), <Time at={run.startedAt} />
        </p>
      </Panel>
      <WhyPanel facts={facts} />
      <Panel title={facts.isIntact ? "Exact arguments" : "What the store shows now; not what was asked"} id="arguments">
        <Fields value={row.args} />
        <details>
          <summary>As JSON, as the tool receives it</summary>
          <Payload value={row.args} />
        </details>
      </Panel>
      <LookedUpPanel facts={facts} />
      <ChangePanel facts={facts} />
    </div>
  );
}

function StoryPanel(props: { readonly facts: RequestFacts }): Html {
  const { row, run, entries } = props.facts;
  return (
    <div id="request-story">
      <Panel title="What the run did so far" id="so-far">
        <StoryList
          items={storyOf(entries).filter(({ isGate }) => isGate)}
          runId={row.runId}
          label="What the run did so far"
        />
        <p>
          <a href={`/runs/${encodeURIComponent(row.runId)}`}>Everything about this run</a>
          {" · "}
          <a href={`/chat/${encodeURIComponent(run.conversationId)}`}>The conversation</a>
        </p>
      </Panel>
    </div>
  );
}

function Tampered(props: { readonly callId: string }): Html {
  return (
    <Notice tone="bad" title="This request was changed in the store since it was asked. Nobody can decide it.">
      <p>
        Tool and arguments do not match the digest that the answer would be bound to. The call{" "}
        <code>{plainLine(props.callId, 64)}</code> is as it was asked in the journal of the run. Tell the operator, who
        verifies the log and rebuilds the inbox with <code>belay doctor --rebuild</code>.
      </p>
    </Notice>
  );
}

function Headline(props: { readonly facts: RequestFacts; readonly now: number }): Html {
  const { row } = props.facts;
  const { amount, recipient } = headlineOf(row.args);
  return (
    <section class="panel request-head" aria-label="The request in short">
      <div class="soft">{plainLine(row.tool, 64)}</div>
      {amount === undefined ? "" : <div class="amount number">{amount.text}</div>}
      {recipient === undefined ? (
        ""
      ) : (
        <div class="recipient">
          {plainLine(labelOf(recipient.name).replace(/ id$/, ""), 40)}{" "}
          <strong>
            <ForeignLine text={recipient.text} charactersMax={64} />
          </strong>
        </div>
      )}
      <div class="soft small">
        {amount?.exact === undefined ? "" : `${amount.exact} · `}
        asked <Age at={row.requestedAt} now={props.now} /> ago
        {row.status === "pending" ? (
          <>
            {" · expires in "}
            <Countdown until={row.expiresAt} now={props.now} />
          </>
        ) : (
          ""
        )}
      </div>
    </section>
  );
}

function WhyPanel(props: { readonly facts: RequestFacts }): Html {
  const { row, asked } = props.facts;
  const reads: JsonValue | undefined = asked?.reads;
  return (
    <Panel title="Why a person must decide" id="why">
      <Foreign text={row.reason} />
      <p class="codes">
        <code>{plainLine(row.code, 64)}</code> <span class="soft">rule {plainLine(row.ruleId, 64)}</span>
      </p>
      <h3>What the rule read</h3>
      {reads === undefined ? (
        <p class="soft">The rule that asked read nothing but the arguments.</p>
      ) : (
        <Fields value={reads} />
      )}
    </Panel>
  );
}

/** What tools had told the run: the facts behind the request, as far as the run knows them. */
function LookedUpPanel(props: { readonly facts: RequestFacts }): Html {
  const { lookups } = props.facts;
  if (lookups.length === 0) {
    return NOTHING;
  }
  return (
    <Panel title="What the run had looked up" id="looked-up">
      {lookups.map(({ tool, args, value }) => (
        <>
          <h3>
            <CallName tool={tool} args={args} />
          </h3>
          <Fields value={value} />
        </>
      ))}
    </Panel>
  );
}

function ChangePanel(props: { readonly facts: RequestFacts }): Html {
  const { tool, row } = props.facts;
  return (
    <Panel title="What will change" id="change">
      {tool === undefined ? (
        <p class="soft">This server does not run the agent {plainLine(row.agent, 64)} and cannot describe its tool.</p>
      ) : (
        <>
          <p>{plainLine(tool.description, 400)}</p>
          <p>
            <strong>{LEVEL_WORDS[tool.level]}</strong> {RECOVERY_WORDS[tool.recovery]}
          </p>
        </>
      )}
      <p class="soft">After a yes the rules look at the facts once more; if they have changed, nothing is done.</p>
    </Panel>
  );
}

function BindingPanel(props: { readonly facts: RequestFacts }): Html {
  const { row, call } = props.facts;
  const pins = call?.approval;
  return (
    <div id="request-pins">
      <Panel title="What an answer is bound to" id="bound">
        <dl class="fields">
          <div>
            <dt>Request</dt>
            <dd>
              <Id id={row.approvalId} />
            </dd>
          </div>
          <div>
            <dt>Digest of tool and arguments</dt>
            <dd>
              <Id id={row.argsHash} />
            </dd>
          </div>
          {pins === undefined
            ? ""
            : (
                [
                  ["Contract of the tool", pins.contractHash],
                  ["Policy", pins.policyHash],
                  ["Revision of the agent", pins.revision],
                ] as const
              ).map(([name, value]) => (
                <div>
                  <dt>{name}</dt>
                  <dd>
                    <Id id={value} />
                  </dd>
                </div>
              ))}
          <div>
            <dt>Expires</dt>
            <dd>
              <Time at={row.expiresAt} />
            </dd>
          </div>
        </dl>
      </Panel>
    </div>
  );
}
