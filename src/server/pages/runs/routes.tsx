import type { Context, Hono } from "hono";
import type { RunRow } from "../../../journal/index.ts";
import { readForm } from "../shell/forms.ts";
import { Head } from "../shell/frame.tsx";
import { endLabel, notFound, type PageKit, PageRefusal, signedIn, viewOf } from "../shell/kit.ts";
import { reply } from "../shell/reply.tsx";
import { Code } from "../show/foreign.tsx";
import { runListRoute } from "./list.tsx";
import { RunPageBody } from "./run.tsx";
import { blobOf } from "./timeline.tsx";

/** The list of runs, one run, and what can be done to it. */
export function runRoutes(app: Hono, kit: PageKit): void {
  runListRoute(app, kit);
  app.get("/runs/:id", async (c) => runReply(kit, c, c.req.param("id")));
  app.get("/runs/:id/values/:sha256", async (c) => valueReply(kit, c, c.req.param("id"), c.req.param("sha256")));
  app.post("/runs/:id/cancel", async (c) => {
    const { runId } = await knownRun(kit, c, c.req.param("id"));
    const field = await readForm(kit, c);
    const note = field("note").trim();
    const outcome = await kit.session.cancel(c, { runId, ...(note !== "" && { note }) });
    return goBack(c, runId, outcome);
  });
  app.post("/runs/:id/reconcile", async (c) => {
    const { runId } = await knownRun(kit, c, c.req.param("id"));
    const field = await readForm(kit, c);
    const outcome = field("outcome");
    const note = field("note").trim();
    if (note === "" || (outcome !== "happened" && outcome !== "did_not_happen")) {
      const detail = "The form does not say what happened and how you know. Nothing was recorded.";
      throw new PageRefusal({ status: 422, code: "outcome_missing", detail });
    }
    const valueJson = field("value").trim();
    const value = outcome === "happened" && valueJson !== "" ? { valueJson } : {};
    const form = { runId, callId: field("call"), outcome, note, ...value } as const;
    return goBack(c, runId, await kit.session.reconcile(c, form));
  });
}

function goBack(
  c: Context,
  runId: string,
  outcome: { readonly ok: true } | { readonly ok: false; readonly problem: PageRefusal["problem"] },
): Response {
  if (!outcome.ok) {
    throw new PageRefusal(outcome.problem);
  }
  return c.redirect(`/runs/${encodeURIComponent(runId)}`, 303);
}

async function knownRun(kit: PageKit, c: Context, runId: string): Promise<RunRow> {
  const { tenant } = signedIn(kit, c);
  const run = await kit.deps.store.run({ tenant, runId });
  if (run === undefined) {
    throw notFound("There is no such run.");
  }
  return run;
}

async function runReply(kit: PageKit, c: Context, runId: string): Promise<Response> {
  const run = await knownRun(kit, c, runId);
  const view = await viewOf(kit, c);
  const { store } = kit.deps;
  const [entries, approvals] = await Promise.all([
    store.read(run),
    store.approvals({ tenant: run.tenant, runId: run.runId }),
  ]);
  const facts = {
    run,
    entries,
    approvals,
    label: endLabel(kit.deps, run),
    mayCancel: kit.session.allows(c, "cancel_run"),
    refusalToReconcile: kit.session.refusalToReconcile(c, run),
  };
  return reply(c, view, `Run of ${run.agent}`, <RunPageBody facts={facts} view={view} />);
}

async function valueReply(kit: PageKit, c: Context, runId: string, sha256: string): Promise<Response> {
  const run = await knownRun(kit, c, runId);
  // A value is shown only through a run that refers to it, since the store keeps the values of all tenants together.
  const entries = await kit.deps.store.read(run);
  const text = entries.some((entry) => blobOf(entry)?.sha256 === sha256)
    ? await kit.deps.store.blob(sha256)
    : undefined;
  if (text === undefined) {
    throw notFound("The run refers to no such value.");
  }
  const view = await viewOf(kit, c);
  const body = (
    <>
      <Head title="Large result">
        <a href={`/runs/${encodeURIComponent(runId)}`}>Back to the run</a>
      </Head>
      <Code text={text} />
    </>
  );
  return reply(c, view, "Large result", body);
}
