import type { CallState, Entry, JsonValue, RunEvent, RunState } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import type { LookupOutcome, ReconcileOutcome, ReconcileRequest } from "./harness.ts";
import { lookUp } from "./indefinite.ts";
import type { Kit } from "./kit.ts";

const NOTE_CHARACTERS_MAX = 2000;
/** An answer that was found and could not be read: no word that nothing happened. */
const NOT_READABLE = "result_not_json";
/** Longest value that a person may give, as canonical JSON in characters. */
const VALUE_CHARACTERS_MAX = 1_000_000;

/**
 * Records what a person found out about a call whose outcome nobody knew, by compare-and-set: the first word stands.
 *
 * What was reserved for the call is spent or given back in the same commit. The run stays ended. Throws
 * BELAY_DECISION_INVALID for a request that is not one.
 */
export async function reconcileCall(context: EngineContext, request: ReconcileRequest): Promise<ReconcileOutcome> {
  const { kit } = context;
  const { core } = kit;
  checkRequest(kit, request);
  const { tenant, runId } = request.run;
  const run: RunKey = { tenant, runId };
  for (;;) {
    const entries = await context.store.read(run);
    const state = core.fold(entries);
    if (state === undefined) return { status: "unknown_run" };
    const found = refused(state, request);
    if (found !== undefined) return found;
    const { blobs, event } = reconciledEvent(kit, request);
    const added = withBudgets(core, state, { at: Math.max(context.clock.now(), state.lastAt), event });
    if (added === undefined) return { status: "not_in_doubt" };
    const head = entries.length;
    const result = await context.store.commit({ run, head, entries: added, ...(blobs === undefined ? {} : { blobs }) });
    if (result.status !== "committed") continue;
    context.publish(
      run,
      added.map((entry, index) => ({ ...entry, seq: head + 1 + index, schema: core.EVENT_SCHEMA })),
    );
    return { status: "recorded", run, callId: request.callId, outcome: request.outcome };
  }
}

/** Why nothing is recorded: asked first by whom, so that nobody learns of a call who may not speak about it. */
function refused(state: RunState, { by, callId }: ReconcileRequest): ReconcileOutcome | undefined {
  if (by.kind !== "person") {
    const reason = `only a person says what became of a call, and '${by.id}' is known as: ${by.kind}`;
    return { status: "not_permitted", reason };
  }
  const { principal } = state;
  if (principal.kind === "person" && plain(principal.id) === plain(by.id)) {
    return { status: "not_permitted", reason: `${by.id} asked for this run; another person has to look` };
  }
  const call = findAnyCall(state, callId);
  if (call === undefined) return { status: "unknown_call" };
  if (call.reconciled === undefined) return call.outcome?.status === "unknown" ? undefined : { status: "not_in_doubt" };
  const { at, by: first, outcome, note } = call.reconciled;
  return { status: "already_reconciled", outcome, by: first, at, note };
}

/** One person under two spellings is still one person. */
function plain(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase();
}

function findAnyCall(state: RunState, callId: string): CallState | undefined {
  return [...state.turn, ...state.earlierCalls].find(({ call }) => call.callId === callId);
}

function reconciledEvent(
  kit: Kit,
  { callId, outcome, value, by, note, source }: ReconcileRequest,
): {
  readonly event: RunEvent;
  readonly blobs?: ReadonlyMap<string, string>;
} {
  const text = value === undefined ? undefined : canonicalText(kit, value);
  const stored = text === undefined ? undefined : kit.storedValue(text);
  const event: RunEvent = {
    type: "call.reconciled",
    callId,
    outcome,
    ...(stored === undefined ? {} : { value: stored.value }),
    by: { kind: by.kind, id: by.id.toWellFormed() },
    note: note.toWellFormed().slice(0, NOTE_CHARACTERS_MAX).toWellFormed(),
    ...(source === undefined ? {} : { source }),
  };
  return stored?.blobs === undefined ? { event } : { event, blobs: stored.blobs };
}

/** The event with what follows from it for the budgets, or `undefined` when it does not apply. */
function withBudgets(
  { accepts, effectsOf, transition }: Kit["core"],
  state: RunState,
  entry: Entry,
): readonly Entry[] | undefined {
  if (!accepts(state, entry).ok) return undefined;
  const after = transition(state, entry)[0] ?? state;
  const before = new Set(
    effectsOf(state).flatMap((effect) => ("reservationId" in effect ? [effect.reservationId] : [])),
  );
  const closing = effectsOf(after).flatMap((effect): readonly RunEvent[] => {
    if (effect.type === "settle_budget" && !before.has(effect.reservationId)) {
      const { reservationId, budget, amount } = effect;
      return [{ type: "budget.settled", reservationId, budget, amount }];
    }
    if (effect.type === "release_budget" && !before.has(effect.reservationId)) {
      return [{ type: "budget.released", reservationId: effect.reservationId, budget: effect.budget }];
    }
    return [];
  });
  return [entry, ...closing.map((event) => ({ at: entry.at, event }))];
}

/** Asks the tool's own `lookup` what became of a call in doubt; records nothing. */
export async function lookUpOutcome(
  context: EngineContext,
  run: RunKey,
  callId: string,
  signal: AbortSignal,
): Promise<LookupOutcome> {
  const { core, openSession } = context.kit;
  if (core.fold(await context.store.read(run)) === undefined) return { status: "unknown_run" };
  const session = await openSession(context, run);
  const known = findAnyCall(session.state, callId);
  if (known === undefined) return { status: "unknown_call" };
  const call = core.callsInDoubt(session.state).find((each) => each.call.callId === callId);
  if (call === undefined) return { status: "not_in_doubt" };
  const contract = context.contracts.get(call.call.tool);
  if (contract === undefined || !hasLookup(context, call.call.tool)) return { status: "no_lookup" };
  const found = await lookUp(context, session, call, signal);
  switch (found.status) {
    case "unavailable":
      return { status: "unavailable" };
    case "absent": {
      // Until then the attempt may begin, and once begun it may be under way for as long as the tool may take.
      const overAfterMs = call.overAfterMs ?? context.kit.startWithinMs(context) + contract.timeoutMs;
      const notBefore = (call.startedAt ?? 0) + overAfterMs;
      if (context.clock.now() < notBefore) return { status: "too_early", notBefore };
      return { status: "found", outcome: "did_not_happen" };
    }
    case "found": {
      const { result } = found;
      if (result.ok) return { status: "found", outcome: "happened", value: result.value };
      return result.error.code === NOT_READABLE
        ? { status: "unavailable" }
        : { status: "found", outcome: "did_not_happen" };
    }
  }
}

function hasLookup(context: EngineContext, name: string): boolean {
  return (
    context.contracts.get(name)?.recovery === "queryable" ||
    context.agent.tools.some((tool) => tool.name === name && tool.lookup !== undefined)
  );
}

/** Types are gone at run time; a word about money is checked there too. Throws BELAY_DECISION_INVALID. */
function checkRequest(kit: Kit, { outcome, by, note, value }: ReconcileRequest): void {
  const isPerson = typeof by === "object" && by !== null && typeof by.id === "string" && by.id.trim() !== "";
  if (!isPerson || typeof by.kind !== "string" || typeof note !== "string" || note.trim() === "") {
    throw invalid(kit, "it needs who says so, { kind, id } with a name, and a note on how they know");
  }
  if (outcome !== "happened" && outcome !== "did_not_happen") {
    throw invalid(kit, "its outcome is 'happened' or 'did_not_happen'");
  }
  if (value === undefined) return;
  if (outcome === "did_not_happen") throw invalid(kit, "what did not happen gave no value");
  canonicalText(kit, value);
}

function canonicalText(kit: Kit, value: JsonValue): string {
  const canonical = kit.core.canonicalize(value);
  if (!canonical.ok) throw invalid(kit, `its value is not JSON at ${canonical.path}: ${canonical.problem}`);
  if (canonical.text.length <= VALUE_CHARACTERS_MAX) return canonical.text;
  throw invalid(kit, `its value has ${canonical.text.length} characters, more than ${VALUE_CHARACTERS_MAX}`);
}

function invalid({ BelayError }: Kit, problem: string): Error {
  return new BelayError("BELAY_DECISION_INVALID", `nothing was reconciled: ${problem}`);
}
