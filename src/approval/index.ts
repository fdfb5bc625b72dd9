export { checkApprovalRules, isNamed, ruleFor } from "./approval-rules.ts";
export { argsHash } from "./args-hash.ts";
export { refusalToDecide } from "./may-decide.ts";
