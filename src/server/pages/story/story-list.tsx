import type { Html } from "../html.ts";
import { Badge } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import { Foreign, ForeignLine, Payload } from "../show/foreign.tsx";
import { headlineOf } from "../show/headline.ts";
import { ClockTime } from "../show/times.tsx";
import type { StoryItem } from "./story.ts";

/** The items of a run in order; `withPayloads` puts each entry as it is stored behind a fold. */
export function StoryList(props: {
  readonly items: readonly StoryItem[];
  readonly runId: string;
  readonly withPayloads?: boolean;
  readonly label: string;
}): Html {
  const { items, runId, withPayloads = false, label } = props;
  return (
    <ol class="story" aria-label={label} id={`story-${plainLine(runId, 128)}-${items[0]?.seq ?? 0}`} data-nested="">
      {items.map((item, index) => (
        <li
          id={`e-${plainLine(runId, 128)}-${item.seq}-${index}`}
          class={`story-item edge-${item.tone}${withPayloads ? " told" : ""}`}
        >
          <StoryLine item={item} />
          {withPayloads ? (
            <details>
              <summary>
                Entry {item.seq}: <code>{item.event.type}</code>
              </summary>
              <Payload value={item.event} />
            </details>
          ) : (
            ""
          )}
        </li>
      ))}
    </ol>
  );
}

/** One item on its line: when, what, which call, why, and by which rule. */
export function StoryLine(props: { readonly item: StoryItem }): Html {
  const { item } = props;
  return (
    <div class="story-line">
      <ClockTime at={item.at} />
      <Badge tone={item.tone} text={item.mark} />
      <div class="story-text">
        {item.call === undefined ? (
          ""
        ) : (
          <span>
            <CallName tool={item.call.tool} args={item.call.args} />
          </span>
        )}
        {item.why === undefined || item.why === "" ? (
          ""
        ) : (
          <div class={item.call === undefined ? "why" : "why soft"}>
            <Foreign text={item.why} charactersMax={400} linesMax={4} />
          </div>
        )}
        {item.code === undefined ? (
          ""
        ) : (
          <div class="codes">
            <code>{plainLine(item.code, 64)}</code>
            {item.ruleId === undefined ? "" : <span class="soft"> rule {plainLine(item.ruleId, 64)}</span>}
          </div>
        )}
      </div>
    </div>
  );
}

/** What is kept on one line, such as an order's number. */
const SHORT_CHARACTERS = 20;

/** A call in a few words: the tool, the amount, for whom. */
export function CallName(props: { readonly tool: string; readonly args: StoryArgs }): Html {
  const { amount, recipient } = headlineOf(props.args);
  return (
    <>
      <strong class="tool">{plainLine(props.tool, 64)}</strong>
      {amount === undefined ? "" : <span class="number"> {amount.text}</span>}
      {recipient === undefined ? (
        ""
      ) : (
        <>
          {" "}
          <span class={recipient.text.length <= SHORT_CHARACTERS ? "short" : ""}>
            <ForeignLine text={recipient.text} charactersMax={48} />
          </span>
        </>
      )}
    </>
  );
}

type StoryArgs = Parameters<typeof headlineOf>[0];
