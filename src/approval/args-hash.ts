// One implementation: the journal checks with it what it shows to people.
export { argsHash } from "../journal/index.ts";
