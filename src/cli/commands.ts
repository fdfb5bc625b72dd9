import { ablateCommand } from "./ablate.ts";
import { approvalsCommand } from "./approvals.ts";
import { auditCheckpointCommand } from "./audit-checkpoint.ts";
import { auditExportCommand } from "./audit-export.ts";
import { auditShowCommand } from "./audit-show.ts";
import { auditVerifyCommand } from "./audit-verify.ts";
import type { Command } from "./command.ts";
import { approveCommand, rejectCommand } from "./decide.ts";
import { doctorCommand } from "./doctor.ts";
import { evalCommand } from "./eval.ts";
import { gateCommand } from "./gate.ts";
import { gcCommand } from "./gc.ts";
import { judgeCommand } from "./judge.ts";
import { liveCommand } from "./live.ts";
import { mcpServeCommand } from "./mcp-serve.ts";
import {
  peopleAddCommand,
  peopleLinkCommand,
  peopleListCommand,
  peopleRevokeCommand,
  peopleTokenCommand,
} from "./people.ts";
import { pricesFetchCommand, pricesShowCommand } from "./prices.ts";
import { reconcileCommand } from "./reconcile.ts";
import { recoverCommand } from "./recover.ts";
import { redTeamCommand } from "./red-team.ts";
import { replayCommand } from "./replay.ts";
import { reportCommand } from "./report.ts";
import { rollbackCommand } from "./rollback.ts";
import { runCommand } from "./run.ts";
import { runsCommand } from "./runs.ts";
import { serveCommand, workCommand } from "./serve.ts";
import { showCommand } from "./show.ts";
import { traceCommand } from "./trace.ts";
import { usageError } from "./usage.ts";
import { vacuityCommand } from "./vacuity.ts";
import { workerCommand } from "./worker.ts";

export const COMMANDS: readonly Command[] = [
  runCommand,
  runsCommand,
  showCommand,
  approvalsCommand,
  approveCommand,
  rejectCommand,
  recoverCommand,
  reconcileCommand,
  rollbackCommand,
  auditVerifyCommand,
  auditShowCommand,
  auditCheckpointCommand,
  auditExportCommand,
  doctorCommand,
  gcCommand,
  evalCommand,
  gateCommand,
  ablateCommand,
  vacuityCommand,
  judgeCommand,
  redTeamCommand,
  reportCommand,
  liveCommand,
  traceCommand,
  replayCommand,
  mcpServeCommand,
  pricesShowCommand,
  pricesFetchCommand,
  serveCommand,
  workCommand,
  workerCommand,
  peopleAddCommand,
  peopleListCommand,
  peopleLinkCommand,
  peopleTokenCommand,
  peopleRevokeCommand,
];

/** Finds the command that the first one or two words name; throws `BELAY_USAGE`. */
export function findCommand(args: readonly string[]): { readonly command: Command; readonly rest: readonly string[] } {
  const [first = "", second = ""] = args;
  const command = COMMANDS.find(({ name }) => name === (name.includes(" ") ? `${first} ${second}` : first));
  if (command !== undefined) {
    return { command, rest: args.slice(command.name.split(" ").length) };
  }
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) =>
    name.slice(first.length + 1),
  );
  if (group.length > 0) {
    throw usageError(`belay ${first} needs one of ${group.join(", ")}${second && `, not ${JSON.stringify(second)}`}.`);
  }
  throw usageError(
    first === "" ? "No command. See belay --help." : `There is no command ${JSON.stringify(first)}. See belay --help.`,
  );
}

/** Commands of a group, such as `audit`; empty for a name that is none. */
export function commandsOfGroup(name: string): readonly Command[] {
  return COMMANDS.filter((command) => command.name.startsWith(`${name} `));
}
