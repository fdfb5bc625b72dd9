export { argsHash } from "./args-hash.ts";
export { refusalToDecide } from "./may-decide.ts";
