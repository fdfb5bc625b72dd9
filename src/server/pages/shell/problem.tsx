import type { Context } from "hono";
import type { Html } from "../html.ts";
import type { PageProblem } from "../session.ts";
import { plainLine } from "../show/code-points.ts";
import { Foreign } from "../show/foreign.tsx";
import { Head, Notice } from "./frame.tsx";
import { type PageKit, type View, viewOf } from "./kit.ts";
import { reply } from "./reply.tsx";
import { themeOf } from "./theme.ts";

/** What a status means for the one who reads it, and what can be done. */
const WORDS: Readonly<Record<ShownProblem["status"], readonly [title: string, remedy: string]>> = {
  400: ["That could not be read", "Go back, check what you entered and send it again."],
  401: ["Please sign in", "Open your sign-in link, or enter its token on the sign-in page."],
  403: [
    "You may not do this",
    "Your role does not allow it. Somebody with the right role can, or an administrator can change yours.",
  ],
  404: ["There is nothing here", "The link may be old, or what it names belongs to somebody else."],
  405: ["That cannot be done here", "Nothing was changed. Go back and use the buttons of the page."],
  408: ["That took too long", "Nothing was changed. Check your connection and send it again."],
  409: ["Somebody was faster", "Nothing was changed by you. What stands was decided before."],
  410: ["Too late", "The time for this has passed and nothing was done. Start again if it is still needed."],
  412: ["It is not the same any more", "Nothing was done. Look at it again before you decide."],
  413: ["That is too long", "Shorten it and send it again."],
  421: ["This server does not answer for that name", "Open it by the address that the operator gave you."],
  422: ["Something is missing", "Go back, fill it in and send it again."],
  429: ["Too many requests", "Wait a moment and try again. Nothing was lost."],
  500: ["Something went wrong", "Nothing that was acknowledged is lost. Try again, and tell the operator if it stays."],
  503: ["Not available at the moment", "Try again in a moment."],
};

/** A refusal, or a failure that is the server's own. */
export type ShownProblem = Omit<PageProblem, "status"> & {
  readonly status: PageProblem["status"] | 405 | 408 | 421 | 500;
};

/** A refusal or a failure as a page of its own, with its status. */
export async function problemReply(kit: PageKit, c: Context, problem: ShownProblem): Promise<Response> {
  return send(c, await viewOf(kit, c), problem);
}

/**
 * The same page without a look at sessions or the store, for what a server refuses before it knows who asks: too many
 * requests, a body that is too large.
 */
export function problemPage(c: Context, problem: ShownProblem): Promise<Response> {
  return send(c, { csrf: { field: "", token: "" }, theme: themeOf(c), here: "/", waiting: 0, now: 0 }, problem);
}

function send(c: Context, view: View, problem: ShownProblem): Promise<Response> {
  const [title] = WORDS[problem.status];
  if (problem.retryAfterS !== undefined) {
    c.header("Retry-After", String(problem.retryAfterS));
  }
  return reply(c, { ...view, here: "" }, title, <ProblemBody problem={problem} />, problem.status);
}

function ProblemBody(props: { readonly problem: ShownProblem }): Html {
  const { status, code, detail, retryAfterS } = props.problem;
  const [title, remedy] = WORDS[status];
  return (
    <div class="narrow">
      <Head title={title} />
      <Notice tone="bad" title={remedy}>
        <Foreign text={detail} charactersMax={400} linesMax={4} />
        {retryAfterS === undefined ? "" : <p>You can try again in {retryAfterS} s.</p>}
      </Notice>
      <p class="soft">
        Status {status}, code <code>{plainLine(code, 64)}</code>
      </p>
      <p>
        <a href="/">Back to the overview</a>
      </p>
    </div>
  );
}
