export { checkRules, policyHash } from "./check-rules.ts";
export {
  type DecideContext,
  decideCall,
  decideCallSync,
} from "./decide.ts";
export { riskRule } from "./risk-rule.ts";
export {
  allow,
  ask,
  defineRule,
  deny,
  halt,
  type Rule,
  type RuleCall,
  type RuleContext,
  type Verdict,
} from "./rule.ts";
