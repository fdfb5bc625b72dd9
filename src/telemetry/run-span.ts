import { type RunState, terminationCode } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { BELAY } from "./attributes.ts";
import { label, shortName, textMessage } from "./content.ts";
import { type Draft, type EventOf, type PlacedEntry, type SpanBuilder, setAttributes } from "./span-builder.ts";

export interface RunSpanOptions {
  readonly run: RunKey;
  readonly capture: boolean;
  readonly provider: string;
}

export interface RunSpan {
  take(entry: PlacedEntry): void;
  /** After everything else of the entry: closes the span when the run has ended. */
  end(entry: PlacedEntry, state: RunState): void;
}

/** `invoke_agent`: the root of a run, over all its segments and pauses. */
export function createRunSpan(builder: SpanBuilder, options: RunSpanOptions): RunSpan {
  const { names } = builder;
  let root: Draft | undefined;
  return {
    take(entry) {
      const { at, event } = entry;
      switch (event.type) {
        case "run.started":
          root = openRoot(builder, options, entry, event);
          break;
        case "segment.started": {
          const attributes = { [BELAY.worker]: shortName(event.worker), [BELAY.fence]: event.fence };
          root?.events.push({ name: "belay.segment", at, attributes });
          break;
        }
        case "limit.reached":
          root?.events.push({ name: "belay.limit", at, attributes: { [BELAY.limit]: event.limit } });
          break;
        case "run.cancel_requested":
          root?.events.push({ name: "belay.cancel_requested", at, attributes: {} });
          break;
        default:
          break;
      }
    },
    end(entry, { termination, step, answer }) {
      if (entry.event.type !== "run.ended" || root === undefined || termination === undefined) {
        return;
      }
      const code = label(terminationCode(termination));
      setAttributes(root, {
        [BELAY.termination]: code,
        [BELAY.steps]: step,
        [names.outputMessages]: options.capture && answer !== undefined ? textMessage("assistant", answer) : undefined,
      });
      builder.close(root, entry, termination.kind === "completed" ? undefined : code);
    },
  };
}

function openRoot(
  builder: SpanBuilder,
  { run, capture, provider }: RunSpanOptions,
  entry: PlacedEntry,
  event: EventOf<"run.started">,
): Draft {
  const { names } = builder;
  const agent = shortName(event.agent.name);
  return builder.open(entry, {
    name: `invoke_agent ${agent}`,
    role: "AGENT",
    subject: "invoke_agent",
    attributes: {
      [names.operation]: "invoke_agent",
      [names.provider]: provider,
      [names.agentName]: agent,
      [names.agentVersion]: shortName(event.agent.revision),
      [names.conversationId]: event.conversationId,
      [BELAY.runId]: run.runId,
      [BELAY.tenant]: run.tenant,
      [BELAY.principalKind]: event.principal.kind,
      [BELAY.principalId]: capture ? shortName(event.principal.id) : undefined,
      [names.inputMessages]: capture ? textMessage("user", event.input) : undefined,
    },
  });
}
