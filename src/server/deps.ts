import type { Clock } from "../clock.ts";
import type { Person } from "../config.ts";
import type { Harness } from "../engine/index.ts";
import type { Store } from "../journal/index.ts";

export type Role = Person["roles"][number];

/** One app that the server runs: its harness over the shared store, and how to speak of it. */
export interface ServedApp {
  readonly name: string;
  readonly description: string;
  readonly harness: Harness;
  /** The agent's word for a termination code of the run index. */
  readonly labelOf: (code: string) => string;
}

/** Who is signed in; made from a token or a session cookie, never from anything a page or a model says. */
export interface SignedIn {
  readonly person: Person;
  readonly tenant: string;
  /** `agent`: the credential of a program. It can start runs and never decide, whatever roles it has. */
  readonly kind?: "person" | "agent";
}

/** What routes and pages are built from. Pages read through `store` and `apps` and never write but through the API's functions. */
export interface ServerDeps {
  readonly store: Store;
  readonly apps: ReadonlyMap<string, ServedApp>;
  readonly clock: Clock;
  /** Folder of stored evaluation results (JSON documents), for the evaluation pages. */
  readonly resultsFolder?: string;
}
