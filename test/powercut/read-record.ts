/** What reached the files of the folder, as `recorder.c` wrote it down. */
export type DiskOp =
  | { readonly kind: "write"; readonly name: string; readonly offset: number; readonly data: Buffer }
  | { readonly kind: "truncate"; readonly name: string; readonly size: number }
  | { readonly kind: "sync"; readonly name: string }
  | { readonly kind: "unlink"; readonly name: string }
  | { readonly kind: "rename"; readonly name: string; readonly to: string }
  | { readonly kind: "sync_folder" };

export interface RecordedOp {
  readonly op: DiskOp;
  /** Size of the record once this entry was in it; what was acknowledged at a smaller size was acknowledged before. */
  readonly end: number;
}

const NEWLINE = 10;

/** Reads a record whole. Throws for one that `recorder.c` did not write. */
export function readRecord(bytes: Buffer): readonly RecordedOp[] {
  const ops: RecordedOp[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf(NEWLINE, at);
    const [kind, name = "", offset, length] = bytes.toString("utf8", at, lineEnd).split(" ");
    const hasData = kind === "W" || kind === "R";
    const end = lineEnd + 1 + (hasData ? Number(length) : 0);
    ops.push({ op: toOp(kind, name, Number(offset), bytes.subarray(lineEnd + 1, end)), end });
    at = end;
  }
  return ops;
}

function toOp(kind: string | undefined, name: string, offset: number, data: Buffer): DiskOp {
  switch (kind) {
    case "W":
      return { kind: "write", name, offset, data };
    case "T":
      return { kind: "truncate", name, size: offset };
    case "S":
      return { kind: "sync", name };
    case "U":
      return { kind: "unlink", name };
    case "R":
      return { kind: "rename", name, to: data.toString("utf8") };
    case "D":
      return { kind: "sync_folder" };
    default:
      throw new Error(`the record has an entry ${JSON.stringify(kind)}, which the recorder does not write`);
  }
}
