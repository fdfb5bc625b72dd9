import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalize, type JsonValue } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import type { ModelReply } from "../../model/index.ts";
import { anyJson, anyOf, count, filledText, listOf, oneOf, record, text } from "../field-check.ts";
import { hashOf, type RecordedRequest } from "./request-hash.ts";

const RECORDING_SCHEMA = "belay.recording/1";

/** One reply of a model and what it answered. */
interface Recording extends RecordedRequest {
  readonly schema: typeof RECORDING_SCHEMA;
  readonly reply: ModelReply;
}

const USAGE = record(
  {},
  { inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count, reasoningTokens: count },
);
const CALL = record({ tool: text, args: anyOf(record({ text }), record({ json: anyJson })) });
const REPLY = anyOf(
  record({ kind: oneOf("final"), text }, { usage: USAGE }),
  record({ kind: oneOf("calls"), text, calls: listOf(CALL) }, { usage: USAGE, providerData: anyJson }),
  record({ kind: oneOf("unreadable"), problem: text }, { usage: USAGE }),
);
const RECORDING = record({ schema: oneOf(RECORDING_SCHEMA), model: filledText, request: anyJson, reply: REPLY });

/**
 * Writes one recording, whole or not at all; a later reply to the same request takes the place of the earlier one.
 *
 * Throws `BELAY_RECORDING_INVALID` for a reply that JSON cannot hold.
 */
export function writeRecording(folder: string, recorded: RecordedRequest, reply: ModelReply): void {
  const plain = plainReply(reply);
  const recording = { schema: RECORDING_SCHEMA, ...recorded, reply: plain };
  const problem = RECORDING.check(recording as unknown as JsonValue, "");
  if (problem !== undefined) {
    throw invalid(`the reply of ${recorded.model}`, `${problem.path} ${problem.problem}`);
  }
  mkdirSync(folder, { recursive: true });
  const file = fileOf(folder, hashOf(recorded));
  // A reader must never meet half a file, whenever this process ends.
  const draft = `${file}.${randomUUID()}.part`;
  writeFileSync(draft, `${JSON.stringify(recording, null, 2)}\n`);
  renameSync(draft, file);
}

/** The recorded reply, or `undefined`. Throws `BELAY_RECORDING_INVALID` for a file that is not what its name says. */
export function readRecording(folder: string, hash: string): ModelReply | undefined {
  const file = fileOf(folder, hash);
  return existsSync(file) ? parseRecording(file, hash).reply : undefined;
}

/** The id of the model whose replies lie in a folder; `undefined` for an empty one. Throws `BELAY_RECORDING_INVALID`. */
export function recordedModel(folder: string): string | undefined {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.json$/.test(name)) : [];
  const models = new Set(names.map((name) => parseRecording(join(folder, name), name.slice(0, 64)).model));
  if (models.size > 1) {
    throw invalid(folder, `it has the replies of ${[...models].sort().join(" and ")}; keep a folder for each model`);
  }
  return [...models][0];
}

function parseRecording(file: string, hash: string): Recording {
  const value = parseJson(file);
  const problem = RECORDING.check(value, "");
  if (problem !== undefined) {
    throw invalid(file, `${problem.path || "it"} ${problem.problem}`);
  }
  // Checked field by field just above.
  const { model, request, ...recording } = value as unknown as Recording;
  if (hashOf({ model, request }) !== hash) {
    throw invalid(file, "its request is not the one that its name stands for");
  }
  return { model, request, ...recording };
}

/** Not strictly: a model may well send a number that loses digits, and the harness must see it again. */
function parseJson(file: string): JsonValue {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as JsonValue;
  } catch {
    throw invalid(file, "it cannot be read as JSON");
  }
}

/** What a model gives is foreign: only plain JSON is kept. */
function plainReply(reply: ModelReply): JsonValue {
  const { usage } = reply;
  const known = Object.entries(usage ?? {}).filter(([, value]) => Number.isSafeInteger(value) && value >= 0);
  const { usage: _usage, ...rest } = reply;
  const canonical = canonicalize(usage === undefined ? rest : { ...rest, usage: Object.fromEntries(known) });
  if (!canonical.ok) {
    throw invalid("the reply", `${canonical.path} ${canonical.problem}`);
  }
  return JSON.parse(canonical.text) as JsonValue;
}

function fileOf(folder: string, hash: string): string {
  return join(folder, `${hash}.json`);
}

function invalid(what: string, problem: string): BelayError {
  return new BelayError("BELAY_RECORDING_INVALID", `${what} is no recording: ${problem}. Record it again.`);
}
