export { checkApprovalRules, isNamed, type RuleFound, ruleFor } from "./approval-rules.ts";
export { argsHash } from "./args-hash.ts";
export { refusalToDecide } from "./may-decide.ts";
