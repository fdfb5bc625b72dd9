export { argsHash } from "../tool/index.ts";
export { checkApprovalRules, isNamed, ruleFor } from "./approval-rules.ts";
export { refusalToDecide } from "./may-decide.ts";
