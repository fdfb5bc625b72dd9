import type { AuditEntry } from "../../../audit/index.ts";

/** What of a record may be shown to a person of a tenant. */
export interface RecordView {
  /** Whether its text may be shown. */
  readonly isOwn: boolean;
  readonly type: string;
  readonly at?: number;
  readonly run?: string;
  /** The record in a line. */
  readonly says: string;
}

/** Fields that say what a record is about, in the order in which they are told. */
const TELLING = ["verdict", "answer", "by", "status", "code", "ruleId", "limit", "termination", "agent", "callId"];

/** Reads a record for a table. The tree is common to all tenants; of another's record only its place is shown. */
export function recordView({ text }: AuditEntry, tenant: string): RecordView {
  const record = parsed(text);
  if (record === undefined) {
    return { isOwn: false, type: "unreadable", says: "the record cannot be read" };
  }
  if (record["tenant"] !== tenant) {
    return { isOwn: false, type: "other tenant", says: "" };
  }
  const { type, at, run } = record;
  return {
    isOwn: true,
    type: typeof type === "string" ? type : "unknown",
    ...(typeof at === "number" && { at }),
    ...(typeof run === "string" && { run }),
    says: TELLING.flatMap((name) => sayOf(name, record[name])).join(" · ") || callsOf(record["calls"]),
  };
}

function sayOf(name: string, value: unknown): readonly string[] {
  if (typeof value === "string") {
    return [value];
  }
  const { name: agent, id } = (typeof value === "object" && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >;
  const named = name === "agent" ? agent : id;
  return typeof named === "string" && named !== "" ? [named] : [];
}

function callsOf(calls: unknown): string {
  return Array.isArray(calls) ? calls.map((call: { readonly tool?: unknown }) => String(call?.tool)).join(", ") : "";
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
