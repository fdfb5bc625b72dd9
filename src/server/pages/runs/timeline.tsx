import type { CallOutcome } from "../../../core/index.ts";
import type { RunRow, StoredEntry } from "../../../journal/index.ts";
import { type Html, NOTHING } from "../html.ts";
import { plainLine } from "../show/code-points.ts";
import { type StoryItem, storyOf } from "../story/story.ts";
import { StoryList } from "../story/story-list.tsx";

/** More entries than this make a page that no browser likes; the API has them all. */
const ENTRIES_SHOWN_MAX = 2000;

/** Everything that happened in a run, by steps, each entry as it is stored behind a fold. */
export function Timeline(props: { readonly entries: readonly StoredEntry[]; readonly run: RunRow }): Html {
  const { entries, run } = props;
  const steps = stepsOf(storyOf(entries.slice(0, ENTRIES_SHOWN_MAX)));
  return (
    <section id="timeline" class="panel" aria-labelledby="timeline-title" data-nested="">
      <h2 id="timeline-title">Timeline</h2>
      {steps.map(({ title, items }, index) => (
        <div class="story-step" id={`step-${index}`} data-nested="">
          <h3 id={`step-${index}-title`}>{title}</h3>
          <StoryList items={items} runId={run.runId} withPayloads label={title} />
        </div>
      ))}
      <BlobLinks entries={entries} run={run} />
      {entries.length > ENTRIES_SHOWN_MAX ? (
        <p class="soft" id="timeline-more">
          The first {ENTRIES_SHOWN_MAX} of {entries.length} entries are shown. The API has them all:{" "}
          <code>/v1/runs/{plainLine(run.runId, 128)}/events</code>
        </p>
      ) : (
        ""
      )}
    </section>
  );
}

interface Step {
  readonly title: string;
  readonly items: StoryItem[];
}

/** A step starts with each model call; what comes before the first is the start. */
function stepsOf(items: readonly StoryItem[]): readonly Step[] {
  const steps: Step[] = [{ title: "Start", items: [] }];
  for (const item of items) {
    if (item.event.type === "model.requested") {
      steps.push({ title: `Step ${steps.length}`, items: [] });
    }
    steps.at(-1)?.items.push(item);
  }
  return steps.filter((step) => step.items.length > 0);
}

/** Large results lie beside the journal; each has a page of its own. */
function BlobLinks(props: { readonly entries: readonly StoredEntry[]; readonly run: RunRow }): Html {
  const blobs = props.entries.flatMap((entry) => blobOf(entry) ?? []);
  return blobs.length === 0 ? (
    NOTHING
  ) : (
    <ul class="plain-list" id="blobs">
      {blobs.map(({ sha256, bytes }) => (
        <li>
          <a href={`/runs/${encodeURIComponent(props.run.runId)}/values/${sha256}`}>
            Large result, {bytes.toLocaleString("en")} bytes
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The large value that an entry refers to. */
export function blobOf({ event }: StoredEntry): { readonly sha256: string; readonly bytes: number } | undefined {
  const outcome: CallOutcome | undefined =
    event.type === "call.settled" || event.type === "call.outcome_observed" ? event.outcome : undefined;
  return outcome?.status === "ok" ? outcome.value.blob : undefined;
}
