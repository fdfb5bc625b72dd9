import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beginLife, type Life, type Living } from "./life.ts";
import { type Job, POINT_KINDS, type PointKind } from "./protocol.ts";
import { openWorld, type World } from "./world.ts";

/** One store, one world, and the processes that live and die over them. */
export interface Stage extends AsyncDisposable {
  readonly program: string;
  readonly folder: string;
  readonly world: World;
  readonly lives: Life[];
  begin(change?: Partial<Job>): Living;
  live(change?: Partial<Job>): Promise<Life>;
}

const LEASE_MS = 15_000;
/** From one life to the next: a lease has run out and an intent is old enough to be asked about. */
const BETWEEN_LIVES_MS = 40_000;

export async function openStage(program: string): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "belay-crash-"));
  const world = await openWorld();
  const lives: Life[] = [];
  let begun = 0;
  const begin = (change: Partial<Job> = {}): Living => {
    begun += 1;
    const living = beginLife(program, {
      store: join(folder, "store.db"),
      shelf: join(folder, "shelf.db"),
      port: world.port,
      dieAt: 0,
      kinds: POINT_KINDS,
      aheadMs: begun * BETWEEN_LIVES_MS,
      leaseMs: LEASE_MS,
      decides: false,
      revision: "1",
      worker: `w${begun}`,
      toolTimeoutMs: 20_000,
      patienceMs: 10_000,
      ...change,
    });
    const done = living.done.then((life) => {
      lives.push(life);
      return life;
    });
    return { ...living, done };
  };
  return {
    program,
    folder,
    world,
    lives,
    begin,
    live: (change) => begin(change).done,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface PlayOptions {
  /** Points at which a process dies, one after the other; each counts from the death before it. */
  readonly deaths: readonly number[];
  readonly kinds?: readonly PointKind[];
  /** Program of each life; the last one goes on. Default the first revision. */
  readonly revisionOf?: (deaths: number) => string;
  readonly change?: Partial<Job>;
}

export interface Played {
  /** The points that were passed after the last death. */
  readonly points: number;
  readonly diedAt: readonly string[];
  /** Anything but a death or a clean end of a process. */
  readonly broken: readonly string[];
}

/** More processes than any play needs that gets on. */
const LIVES_MAX = 12;

/** Lets processes live and die until the run is over: the first only drives, and another one decides what is asked. */
export async function play(stage: Stage, options: PlayOptions): Promise<Played> {
  const { deaths, kinds = POINT_KINDS, revisionOf = () => "1", change = {} } = options;
  const diedAt: string[] = [];
  const broken: string[] = [];
  let passed = 0;
  let decides = false;
  for (let count = 0; count < LIVES_MAX; count += 1) {
    const wanted = deaths[diedAt.length];
    const dieAt = wanted === undefined ? 0 : Math.max(0, wanted - passed);
    const revision = revisionOf(diedAt.length);
    const life = await stage.live({ ...change, kinds, dieAt, decides, revision });
    if (life.diedAt !== undefined && life.wasKilled) {
      diedAt.push(life.diedAt);
      passed = 0;
      continue;
    }
    if (life.over === undefined || life.failed !== undefined) {
      broken.push(life.failed ?? "a process was killed that should have lived");
      break;
    }
    passed += life.over.points;
    if (life.over.termination !== undefined) return { points: passed, diedAt, broken };
    decides = true;
  }
  if (broken.length === 0) broken.push("the run never ends");
  return { points: passed, diedAt, broken };
}
