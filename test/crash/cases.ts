import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { AFTER_REDEPLOY, EFFECTS, type Expected, problemsOf } from "./check.ts";
import { openStage, play, type Stage } from "./play.ts";
import { type FreezePoint, type Job, LATER_REVISION, RUN } from "./protocol.ts";

/** A story of one run over one world; it gives what was broken. */
export interface Case {
  readonly name: string;
  readonly tell: (program: string) => Promise<readonly string[]>;
}

const DONE: Expected = { ends: ["completed"] };
const IN_DOUBT: Expected = { ends: ["outcome_unknown"] };
/** A worker that was told that nobody knows must not find the money gone when the other one wakes up. */
const NOT_WIRED: Expected = { ...IN_DOUBT, effects: EFFECTS.filter((what) => what !== "wire fee") };
const [KEYED, QUERYABLE, OPAQUE] = ["c1.2", "c1.3", "c2.3"] as const;

/** The world of a case is real time: a lease and a tool's time are short, and no clock is put forward. */
const IN_REAL_TIME: Partial<Job> = { aheadMs: 0, leaseMs: 1500, toolTimeoutMs: 1500, patienceMs: 20_000 };

const on =
  (work: (stage: Stage) => Promise<readonly string[]>): Case["tell"] =>
  async (program) => {
    await using stage = await openStage(program);
    return await work(stage);
  };

/** A process dies at a point that is named, and the next ones finish the run. */
function dying(name: string, diesAt: string, expected: Expected = {}): Case {
  return {
    name,
    tell: on(async (stage) => {
      const first = await stage.live({ diesAt });
      const second = first.diedAt === undefined ? await stage.live({ diesAt, decides: true }) : first;
      if (second.diedAt === undefined) return [`nobody died at: ${diesAt}`];
      const { broken } = await play(stage, { deaths: [] });
      return broken.length > 0 ? broken : problemsOf(stage, expected);
    }),
  };
}

/** Two workers on one run: the first stands still, the second takes over and finishes, the first wakes up. */
function freezing(name: string, freezesAt: FreezePoint, freezesCall: string, expected: Expected = DONE): Case {
  return {
    name,
    tell: on(async (stage) => {
      // The calls of the second turn are those that a person is asked about.
      const decides = freezesCall.startsWith("c2");
      if (decides) await stage.live(IN_REAL_TIME);
      const first = stage.begin({ ...IN_REAL_TIME, decides, freezesAt, freezesCall });
      await first.frozen;
      try {
        const second = await stage.live(IN_REAL_TIME);
        const third = await stage.live({ ...IN_REAL_TIME, decides: true });
        if (third.over?.termination === undefined) return [`nobody took over: ${second.failed ?? third.failed}`];
      } finally {
        first.child.kill("SIGCONT");
      }
      const woken = await first.done;
      if (woken.failed !== undefined) return [`the woken worker failed: ${woken.failed}`];
      return problemsOf(stage, expected);
    }),
  };
}

/** A worker stands still with the file's lock in its hand: the other one is told so and does nothing. */
const locking: Case = {
  name: "frozen inside of a commit",
  tell: on(async (stage) => {
    const first = stage.begin({ ...IN_REAL_TIME, freezesAt: "inside" });
    await first.frozen;
    const second = await stage.live(IN_REAL_TIME);
    first.child.kill("SIGCONT");
    const woken = await first.done;
    if (second.failed?.includes("is locked") !== true) return [`the second worker was told: ${second.failed}`];
    if (woken.failed !== undefined) return [`the woken worker failed: ${woken.failed}`];
    const { broken } = await play(stage, { deaths: [], change: IN_REAL_TIME });
    return broken.length > 0 ? broken : problemsOf(stage, DONE);
  }),
};

/** A process dies with a queryable request on its way; the world takes its time with it. */
async function leaveUnderWay(stage: Stage, change: Partial<Job>): Promise<readonly string[]> {
  stage.world.manner = ({ tool, what, attempt, op }) =>
    op === "effect" && tool === "ship" && what === "small" && attempt === 1 ? { appliesAfterMs: 3500 } : {};
  const first = stage.begin(change);
  const hasArrived = (): boolean => stage.world.arrived.some(({ tool, op }) => tool === "ship" && op === "effect");
  for (let waited = 0; waited < 2000 && !hasArrived(); waited += 1) await tick();
  first.child.kill("SIGKILL");
  await first.done;
  return hasArrived() ? [] : ["the request never arrived"];
}

/** The answer of a request comes when its process is long dead, and its effect not much earlier. */
const slowDeath: Case = {
  name: "a slow world: the request takes effect after its process died",
  tell: on(async (stage) => {
    const slow: Partial<Job> = { ...IN_REAL_TIME, leaseMs: 200, toolTimeoutMs: 4000 };
    const problems = await leaveUnderWay(stage, slow);
    if (problems.length > 0) return problems;
    const { broken } = await play(stage, { deaths: [], change: slow });
    return broken.length > 0 ? broken : problemsOf(stage);
  }),
};

/** The program that finds a call in doubt has less patience than the one that began it. */
const hastier: Case = {
  name: "a slow world: the next revision gives the tool less time",
  tell: on(async (stage) => {
    const slow: Partial<Job> = { ...IN_REAL_TIME, leaseMs: 200, toolTimeoutMs: 4000 };
    const problems = await leaveUnderWay(stage, slow);
    if (problems.length > 0) return problems;
    const { broken } = await play(stage, { deaths: [], change: { ...slow, toolTimeoutMs: 1500 } });
    return broken.length > 0 ? broken : problemsOf(stage, { questionsMax: 1 });
  }),
};

/** The effect is there in time, the answer is not: the tool's time is over and the process lives. */
const slowAnswer: Case = {
  name: "a slow world: answers come after the tool's time",
  tell: on(async (stage) => {
    stage.world.manner = ({ op, what, attempt }) =>
      op === "effect" && (what === "small" || what === "fee") && attempt === 1 ? { answersAfterMs: 3000 } : {};
    const { broken } = await play(stage, { deaths: [], change: { toolTimeoutMs: 1500 } });
    // What is opaque is in doubt, because nobody can be asked.
    return broken.length > 0 ? broken : problemsOf(stage, IN_DOUBT);
  }),
};

/** The world changes between the question and its answer. */
const closing: Case = {
  name: "the world closes between a question and its answer",
  tell: on(async (stage) => {
    await stage.live();
    stage.world.facts.set("closed", "yes");
    const { broken } = await play(stage, { deaths: [] });
    const effects = EFFECTS.filter((what) => what !== "book big one");
    return broken.length > 0 ? broken : problemsOf(stage, { effects, ends: ["completed"] });
  }),
};

/** The program is another one when the person answers: what they said yes to is not what would run. */
const redeploying: Case = {
  name: "the program is redeployed between a question and its answer",
  tell: on(async (stage) => {
    await stage.live();
    const { broken } = await play(stage, { deaths: [], revisionOf: () => LATER_REVISION });
    if (broken.length > 0) return broken;
    await using store = await openSqliteStore(`${stage.folder}/store.db`);
    const questions = await store.approvals({ tenant: RUN.tenant, runId: RUN.runId });
    const asked = questions.map(({ tool, reason }) => `${tool}${reason.includes("changed after") ? " again" : ""}`);
    const wanted = ["book", "book again", "wire"];
    const problems = await problemsOf(stage, { ...DONE, ...AFTER_REDEPLOY, effects: [...EFFECTS, "thank all"] });
    return asked.toSorted().join() === wanted.join()
      ? problems
      : [...problems, `the questions were ${asked.join(", ")}`];
  }),
};

const untouched: Case = {
  name: "nobody dies",
  tell: on(async (stage) => {
    const { broken } = await play(stage, { deaths: [] });
    return broken.length > 0 ? broken : problemsOf(stage, DONE);
  }),
};

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

export const CASES: readonly Case[] = [
  untouched,
  dying("dies before the intent is durable", "before model.replied", DONE),
  dying("dies before the effect of a keyed call", "effect before book small", DONE),
  dying("dies in the middle of a keyed call", "effect middle of book small", DONE),
  dying("dies before the effect of a queryable call", "effect before ship small", DONE),
  dying("dies in the middle of a queryable call", "effect middle of ship small", DONE),
  dying("dies in the transaction of a call", "effect in the transaction", DONE),
  dying("dies after the transaction of a call", "effect after the transaction", DONE),
  dying("dies before the effect of an opaque call", "effect before wire", IN_DOUBT),
  dying("dies in the middle of an opaque call", "effect middle of wire", IN_DOUBT),
  dying("dies between a run and the one that a message starts", "before run.followed", DONE),
  dying("dies with an answer recorded and not told", "after approval.resolved", DONE),
  closing,
  redeploying,
  slowDeath,
  hastier,
  slowAnswer,
  locking,
  freezing("frozen before a keyed request goes out", "request", KEYED),
  freezing("frozen with the answer of a keyed call in hand", "answer", KEYED),
  freezing("frozen with the outcome of a keyed call to record", "commit", KEYED),
  freezing("frozen between the intent and the effect of a queryable call", "committed", QUERYABLE),
  freezing("frozen with the answer of a queryable call in hand", "answer", QUERYABLE),
  freezing("frozen with the outcome of a queryable call to record", "commit", QUERYABLE),
  freezing("frozen between the intent and the effect of an opaque call", "committed", OPAQUE, NOT_WIRED),
  freezing("frozen with the answer of an opaque call in hand", "answer", OPAQUE, IN_DOUBT),
  freezing("frozen with the outcome of an opaque call to record", "commit", OPAQUE, IN_DOUBT),
];
