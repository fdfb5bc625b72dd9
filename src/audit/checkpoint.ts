import { BelayError } from "../errors.ts";
import { EMPTY_ROOT, type HashHex, isHash, isSize } from "./merkle-hash.ts";
import { hasControlCharacter, type NoteRefusal, openNote } from "./note.ts";
import { fromBase64 } from "./note-key.ts";
import type { NoteSigner } from "./signer.ts";

/** What a log says about itself at one moment: whoever keeps it can later prove any change of those records. */
export interface Checkpoint {
  /** Names the log, such as `example.com/audit`. */
  readonly origin: string;
  /** Number of records. */
  readonly size: number;
  /** Merkle tree root of those records, in hexadecimal. */
  readonly root: HashHex;
  /** Further lines, opaque to verifiers; not recommended by the specification. */
  readonly extensions?: readonly string[];
}

export type OpenedCheckpoint = { readonly ok: true; readonly checkpoint: Checkpoint } | NoteRefusal;

/**
 * Writes a checkpoint as a signed note (C2SP tlog-checkpoint in signed-note).
 *
 * Throws `BELAY_AUDIT_INVALID` for a checkpoint that the format cannot hold. The signer's name should be the origin.
 */
export function signCheckpoint(checkpoint: Checkpoint, signer: NoteSigner): string {
  const { origin, size, root, extensions = [] } = checkpoint;
  const isOddLine = (line: string) =>
    line === "" || line.includes("\n") || hasControlCharacter(line) || !line.isWellFormed();
  const oddLine = [origin, ...extensions].find(isOddLine);
  if (oddLine !== undefined) {
    throw invalid(`the line ${JSON.stringify(oddLine.slice(0, 80))} is empty or holds a control character`);
  }
  if (!isSize(size) || !isHash(root) || (size === 0) !== (root === EMPTY_ROOT)) {
    throw invalid(`size ${size} and root ${String(root).slice(0, 80)} are not those of a tree`);
  }
  const lines = [origin, String(size), Buffer.from(root, "hex").toString("base64"), ...extensions];
  const text = `${lines.join("\n")}\n`;
  return `${text}\n${signer.signatureLine(text)}`;
}

/**
 * Reads a signed checkpoint and checks its signature with the given verifier keys.
 *
 * Give `origin` when you know which log it must come from. Never throws for a bad note; throws `BELAY_AUDIT_INVALID`
 * for a bad verifier key.
 */
export function openCheckpoint(
  note: string,
  verifierKeys: readonly string[],
  options: { readonly origin?: string } = {},
): OpenedCheckpoint {
  const opened = openNote(note, verifierKeys);
  if (!opened.ok) {
    return opened;
  }
  const checkpoint = parseBody(opened.text);
  if (checkpoint === undefined) {
    return refuse("unreadable", "the text is not: origin, size without leading zeros, base64 root");
  }
  if (options.origin !== undefined && options.origin !== checkpoint.origin) {
    return refuse("bad_signature", `it vouches for the log ${checkpoint.origin}, not for ${options.origin}`);
  }
  return { ok: true, checkpoint };
}

function parseBody(text: string): Checkpoint | undefined {
  const [origin, decimal = "", encoded = "", ...extensions] = text.slice(0, -1).split("\n");
  const root = fromBase64(encoded)?.toString("hex");
  const size = /^(0|[1-9][0-9]*)$/.test(decimal) ? Number(decimal) : undefined;
  if (!origin || !isSize(size) || !isHash(root) || extensions.includes("")) {
    return undefined;
  }
  if ((size === 0) !== (root === EMPTY_ROOT)) {
    return undefined;
  }
  return { origin, size, root, ...(extensions.length > 0 ? { extensions } : {}) };
}

function refuse(problem: NoteRefusal["problem"], detail: string): NoteRefusal {
  return { ok: false, problem, detail };
}

function invalid(reason: string): BelayError {
  return new BelayError(
    "BELAY_AUDIT_INVALID",
    `The checkpoint cannot be signed: ${reason}. Pass one line of origin, and size and rootOf() of one frontier.`,
  );
}
