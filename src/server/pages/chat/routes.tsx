import type { Context, Hono } from "hono";
import type { RunRow } from "../../../journal/index.ts";
import type { Html } from "../html.ts";
import type { PageProblem } from "../session.ts";
import { readForm } from "../shell/forms.ts";
import { Head, Notice } from "../shell/frame.tsx";
import { appOf, endLabel, notFound, type PageKit, signedIn, type View, viewOf } from "../shell/kit.ts";
import { reply } from "../shell/reply.tsx";
import { RunBadge } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import { ForeignLine } from "../show/foreign.tsx";
import { Age } from "../show/times.tsx";
import { Composer } from "./composer.tsx";
import { Conversation, type Turn } from "./conversation.tsx";

const RECENT_RUNS = 200;
const RECENT_SHOWN = 25;
const INPUT_CHARACTERS_MAX = 4000;

/** Chat: new conversations, and the one that is open. */
export function chatRoutes(app: Hono, kit: PageKit): void {
  app.get("/chat", async (c) => startPage(kit, c));
  app.post("/chat", async (c) => {
    signedIn(kit, c);
    const field = await readForm(kit, c);
    const form = { app: field("app"), text: field("text"), idempotencyKey: field("key") };
    const outcome = await kit.session.startRun(c, form);
    return outcome.ok
      ? c.redirect(`/chat/${encodeURIComponent(outcome.value.conversationId)}`, 303)
      : startPage(kit, c, { problem: outcome.problem, text: form.text });
  });
  app.get("/chat/:conversation", async (c) => conversationPage(kit, c, c.req.param("conversation")));
  app.post("/chat/:conversation", async (c) => {
    signedIn(kit, c);
    const conversationId = c.req.param("conversation");
    const field = await readForm(kit, c);
    const form = { conversationId, text: field("text"), idempotencyKey: field("key") };
    const outcome = await kit.session.sendMessage(c, form);
    return outcome.ok
      ? c.redirect(`/chat/${encodeURIComponent(conversationId)}`, 303)
      : conversationPage(kit, c, conversationId, { problem: outcome.problem, text: form.text });
  });
}

interface Unsent {
  readonly problem: PageProblem;
  readonly text: string;
}

async function startPage(kit: PageKit, c: Context, unsent?: Unsent): Promise<Response> {
  const { tenant } = signedIn(kit, c);
  const view = { ...(await viewOf(kit, c)), here: "/chat" };
  const runs = await kit.deps.store.runs({ tenant, limit: RECENT_RUNS });
  const apps = [...kit.deps.apps.values()];
  const mayStart = kit.session.allows(c, "start_run") && apps.length > 0;
  const charactersMax = Math.max(0, ...apps.map(({ harness }) => charactersOf(harness.agent.inputCharactersMax)));
  const body = (
    <>
      <Head title="Chat" />
      {mayStart ? (
        <Composer view={view} action="/chat" apps={apps} charactersMax={charactersMax} {...unsent} />
      ) : (
        <Notice tone="info" title="You can read conversations; your role starts none." />
      )}
      <Recent kit={kit} view={view} runs={latestOfConversations(runs).slice(0, RECENT_SHOWN)} />
    </>
  );
  return reply(c, view, "Chat", body, unsent?.problem.status ?? 200);
}

function latestOfConversations(newestFirst: readonly RunRow[]): readonly RunRow[] {
  return [...new Map(newestFirst.toReversed().map((run) => [run.conversationId, run])).values()].sort(
    (one, other) => other.startedAt - one.startedAt,
  );
}

function Recent(props: { readonly kit: PageKit; readonly view: View; readonly runs: readonly RunRow[] }): Html {
  const { kit, view, runs } = props;
  return (
    <section aria-labelledby="recent">
      <h2 id="recent">Latest conversations</h2>
      {runs.length === 0 ? (
        <p class="soft">There are none yet. The first message starts one.</p>
      ) : (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Last message</th>
              <th scope="col">Who</th>
              <th scope="col">Agent</th>
              <th scope="col">State</th>
              <th scope="col">Ago</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr>
                <td data-label="Last message">
                  <a href={`/chat/${encodeURIComponent(run.conversationId)}`}>
                    <ForeignLine text={run.input} charactersMax={90} />
                  </a>
                </td>
                <td data-label="Who" class="nowrap">
                  {plainLine(run.principal.id, 32)}
                </td>
                <td data-label="Agent" class="wide">
                  {plainLine(run.agent, 32)}
                </td>
                <td data-label="State">
                  <RunBadge run={run} label={endLabel(kit.deps, run)} />
                </td>
                <td data-label="Ago">
                  <Age at={run.startedAt} now={view.now} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

async function conversationPage(kit: PageKit, c: Context, conversationId: string, unsent?: Unsent): Promise<Response> {
  const { tenant } = signedIn(kit, c);
  const { store } = kit.deps;
  const view = { ...(await viewOf(kit, c)), here: `/chat/${encodeURIComponent(conversationId)}` };
  const runs = await store.conversation(tenant, conversationId);
  const last = runs.at(-1);
  if (last === undefined) {
    throw notFound("There is no such conversation.");
  }
  const turns = await Promise.all(
    runs.map(
      async (run): Promise<Turn> => ({
        run,
        entries: await store.read(run),
        label: endLabel(kit.deps, run),
        pending: run.status === "waiting" ? await store.approvals({ tenant, runId: run.runId, status: "pending" }) : [],
      }),
    ),
  );
  const isBusy = last.termination === undefined;
  const charactersMax = charactersOf(appOf(kit.deps, last.agent)?.harness.agent.inputCharactersMax);
  const action = `/chat/${encodeURIComponent(conversationId)}`;
  const body = (
    <>
      <Head title={`Conversation with ${last.agent}`}>
        <a href="/chat">All conversations</a>
      </Head>
      <Conversation turns={turns} now={view.now} />
      <noscript>
        <p>
          <a href={action}>Look again</a> to see what has happened since.
        </p>
      </noscript>
      {kit.session.allows(c, "start_run") ? (
        <Composer view={view} action={action} charactersMax={charactersMax} isBusy={isBusy} {...unsent} />
      ) : (
        ""
      )}
    </>
  );
  return reply(c, view, `Conversation with ${last.agent}`, body, unsent?.problem.status ?? 200);
}

function charactersOf(max: number | undefined): number {
  return max ?? INPUT_CHARACTERS_MAX;
}
