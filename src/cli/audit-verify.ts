import { type AuditEvidence, type AuditVerdict, type ChainVerdict, verifyChain, verifyLog } from "../audit/index.ts";
import { type StoreAuditVerdict, verifyStoreAudit } from "../journal/index.ts";
import { recordOf } from "./audit-source.ts";
import { type Command, type CommandInput, DATABASE_OPTIONS, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { readText } from "./read-text.ts";
import { findSigner } from "./signing-key.ts";
import { usageError } from "./usage.ts";

type Verdict = StoreAuditVerdict | AuditVerdict | ChainVerdict;

export const auditVerifyCommand: Command = {
  name: "audit verify",
  summary: "check every record of the audit log, and that journal, blobs and derived tables are what it says",
  positionals: [],
  options: {
    file: { type: "string", value: "file", help: "check an export instead of the database" },
    checkpoint: { type: "string", value: "file", help: "signed note that was kept elsewhere" },
    key: { type: "string", value: "key", help: "verifier key of the note, beside that of the project's own key" },
    "key-file": {
      type: "string",
      value: "file",
      help: "the project's own key (default audit-key.pem beside the database)",
    },
    ...JSON_OPTION,
    ...DATABASE_OPTIONS,
  },
  examples: [
    "audit verify",
    "audit verify --checkpoint monday.note --key belay/audit+…",
    "audit verify --file export.jsonl",
  ],
  run: async (input) => {
    const verdict = await verdictOf(input);
    if (hasFlag(input, "json")) {
      input.output.json(verdict, 2);
    } else {
      printVerdict(input, verdict);
    }
    return verdict.ok ? 0 : 1;
  },
};

async function verdictOf(input: CommandInput): Promise<Verdict> {
  const place = placeOf(input);
  const file = textOption(input, "file");
  const note = textOption(input, "checkpoint");
  const ownKey = findSigner(input, place)?.verifierKey;
  const key = textOption(input, "key");
  if (key !== undefined && note === undefined) {
    throw usageError("--key is the key that signed a checkpoint, and there is none. Give --checkpoint <file> too.");
  }
  const verifierKeys = [key, ownKey].filter((key) => key !== undefined);
  if (note !== undefined && verifierKeys.length === 0) {
    throw usageError("A checkpoint is worth nothing without the key that signed it. Give --key <key>.");
  }
  const evidence: AuditEvidence = {
    verifierKeys,
    ...(note !== undefined && { checkpoint: readText(input.cwd, note, "checkpoint") }),
  };
  if (file !== undefined) {
    return verifyExport(readText(input.cwd, file, "file"), evidence);
  }
  return withStore(openStore(place), async (store) => {
    // The project's own notes can be rewritten together with the log, but whoever does so needs the key too.
    const own = ownKey === undefined ? [] : (await store.audit.checkpoints()).map((kept) => kept.note);
    return verifyStoreAudit(store, { ...evidence, trustedCheckpoints: own, signal: input.signal });
  });
}

function verifyExport(text: string, evidence: AuditEvidence): Promise<AuditVerdict> | ChainVerdict {
  if (/^\{"hash":/.test(text)) {
    if (evidence.checkpoint !== undefined) {
      throw usageError("A checkpoint vouches for the jsonl format, not for a chain. Export with --format jsonl.");
    }
    return verifyChain(text);
  }
  return verifyLog(parsedLines(text), evidence);
}

/** A line that is not JSON goes on as text, so that the verifier names its place. */
function* parsedLines(text: string): Generator<never> {
  for (const line of text.split("\n").filter((each) => each !== "")) {
    yield recordOf(line) as never;
  }
}

function printVerdict({ output }: CommandInput, verdict: Verdict): void {
  if (!verdict.ok) {
    output.line({ text: "audit log NOT intact", style: "red" }, `: ${problemText(verdict)}`);
    return;
  }
  const root = "root" in verdict ? `, root ${verdict.root}` : "";
  output.line({ text: "audit log intact", style: "green" }, `: ${verdict.size} records${root}`);
  if ("anchoredSize" in verdict) {
    output.line(`  a signed checkpoint vouches for ${verdict.anchoredSize} of them`);
  }
}

function problemText(verdict: Extract<Verdict, { readonly ok: false }>): string {
  if ("line" in verdict) {
    return `${verdict.problem} at line ${verdict.line + 1}`;
  }
  const place = verdict.seq === null ? "" : ` at record ${verdict.seq}`;
  // An intact log beside a damaged table is another thing than a damaged log, and the detail says which.
  return `${verdict.problem}${place}: ${verdict.detail}`;
}
