export { type Envelope, envelopeProblems, readEnvelope } from "./envelope.ts";
export {
  ATTACK_CATEGORIES,
  type AttackCategory,
  formatRedTeam,
  type RedTeam,
  type RedTeamResult,
  redTeamIds,
  runRedTeam,
} from "./red-team.ts";
