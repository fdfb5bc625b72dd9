import type { ApprovalRow, RunRow } from "../../../journal/index.ts";
import type { Html } from "../html.ts";
import { codeText } from "../story/words.ts";
import { plainLine } from "./code-points.ts";

export type Tone = "good" | "wait" | "bad" | "info" | "quiet";

/** A state in a word; the colour only repeats it. */
export function Badge(props: { readonly tone: Tone; readonly text: string }): Html {
  return <span class={`badge tone-${props.tone}`}>{props.text}</span>;
}

export function RunBadge(props: { readonly run: RunRow; readonly label: string | undefined }): Html {
  const { run, label } = props;
  switch (run.status) {
    case "running":
      return <Badge tone="info" text="running" />;
    case "waiting":
      return <Badge tone="wait" text="waiting for a person" />;
    case "done":
      return <Badge tone="good" text={plainLine(codeText(label ?? "completed"), 40)} />;
    case "failed":
      return <Badge tone="bad" text={plainLine(codeText(label ?? "stopped"), 40)} />;
  }
}

/** The state of a question; one whose time has passed is expired, whether or not a worker has looked at it since. */
export function approvalStatus(row: ApprovalRow, now: number): ApprovalRow["status"] {
  return row.status === "pending" && row.expiresAt <= now ? "expired" : row.status;
}

export function ApprovalBadge(props: { readonly row: ApprovalRow; readonly now: number }): Html {
  const status = approvalStatus(props.row, props.now);
  switch (status) {
    case "pending":
      return <Badge tone="wait" text="waiting" />;
    case "approved":
      return <Badge tone="good" text="approved" />;
    case "rejected":
      return <Badge tone="bad" text="rejected" />;
    case "expired":
      return <Badge tone="quiet" text="expired" />;
    case "void":
      return <Badge tone="quiet" text="void" />;
  }
}
