import type { DiskOp } from "./read-record.ts";

/**
 * What the power cut does to writes that no sync has covered yet.
 *
 * `lost`: none arrived. `kept`: all did, which is no more than kill -9. `torn`: of each file, those up to some moment,
 * the last of them in part. The others: each sector of so many bytes arrived as it was at a moment of its own.
 */
export const CUT_MODES = ["lost", "kept", "torn", "sectors_512", "sectors_4096"] as const;

export type CutMode = (typeof CUT_MODES)[number];

/** A number from 0 up to 1. */
export type Random = () => number;

type Pending = Extract<DiskOp, { readonly kind: "write" | "truncate" }>;

/** Bytes of a file; beyond `size` there is room, which is all zeros. */
interface Content {
  bytes: Buffer;
  size: number;
}

/** A file apart from its name, as it is on the disk for certain, and what may or may not have got there since. */
interface Inode {
  readonly durable: Content;
  pending: Pending[];
}

type NameChange =
  | { readonly kind: "bind"; readonly name: string; readonly inode: Inode }
  | { readonly kind: "unbind"; readonly name: string };

export interface Disk {
  apply(op: DiskOp): void;
  /** The files as a machine could find them when the power comes back. */
  image(mode: CutMode, random: Random): ReadonlyMap<string, Buffer>;
}

/**
 * Creates an empty disk that promises no more than POSIX does: a write is there for certain after a sync of its file, a
 * name after a sync of its folder, and the order of what was not synced means nothing, save that names keep theirs (a
 * journaled file system writes its folders in order).
 */
export function createDisk(): Disk {
  const names = new Map<string, Inode>();
  const durableNames = new Map<string, Inode>();
  let changes: NameChange[] = [];
  const change = (next: NameChange): void => {
    changes.push(next);
    applyChange(names, next);
  };
  const inodeOf = (name: string): Inode => {
    const found = names.get(name);
    if (found !== undefined) return found;
    const inode: Inode = { durable: { bytes: Buffer.alloc(4096), size: 0 }, pending: [] };
    change({ kind: "bind", name, inode });
    return inode;
  };
  return {
    apply(op) {
      switch (op.kind) {
        case "write":
        case "truncate":
          inodeOf(op.name).pending.push(op);
          return;
        case "sync": {
          const inode = inodeOf(op.name);
          writeAll(inode.durable, inode.pending);
          inode.pending = [];
          return;
        }
        case "unlink":
          change({ kind: "unbind", name: op.name });
          return;
        case "rename":
          change({ kind: "bind", name: op.to, inode: inodeOf(op.name) });
          change({ kind: "unbind", name: op.name });
          return;
        case "sync_folder":
          for (const next of changes) applyChange(durableNames, next);
          changes = [];
      }
    },
    image(mode, random) {
      const found = new Map(durableNames);
      for (const next of changes.slice(0, momentOf(mode, changes.length, random))) applyChange(found, next);
      return new Map([...found].map(([name, inode]) => [name, contentOf(inode, mode, random)]));
    },
  };
}

function applyChange(names: Map<string, Inode>, change: NameChange): void {
  if (change.kind === "bind") names.set(change.name, change.inode);
  else names.delete(change.name);
}

/** How many of so many changes, in their order, got there. */
function momentOf(mode: CutMode, count: number, random: Random): number {
  if (mode === "lost") return 0;
  return mode === "kept" ? count : Math.floor(random() * (count + 1));
}

function contentOf({ durable, pending }: Inode, mode: CutMode, random: Random): Buffer {
  const content: Content = { bytes: Buffer.from(durable.bytes), size: durable.size };
  switch (mode) {
    case "lost":
      break;
    case "kept":
      writeAll(content, pending);
      break;
    case "torn":
      writeTorn(content, pending, random);
      break;
    case "sectors_512":
      writeSectors(content, pending, 512, random);
      break;
    case "sectors_4096":
      writeSectors(content, pending, 4096, random);
      break;
  }
  return content.bytes.subarray(0, content.size);
}

function writeTorn(content: Content, pending: readonly Pending[], random: Random): void {
  const count = Math.floor(random() * (pending.length + 1));
  writeAll(content, pending.slice(0, count));
  const last = pending[count];
  if (last?.kind === "write") {
    const end = Math.floor((last.offset + random() * last.data.length) / 512) * 512;
    if (end > last.offset) write(content, last.offset, last.data.subarray(0, end - last.offset));
  }
}

/** Each sector as it was at some moment since the sync: the cache holds one state of it, and writes that whole. */
function writeSectors(content: Content, pending: readonly Pending[], sectorBytes: number, random: Random): void {
  const moments = new Map<number, number>();
  const momentOfSector = (sector: number): number => {
    const known = moments.get(sector);
    if (known !== undefined) return known;
    const [luck, moment] = [random(), Math.floor(random() * (pending.length + 1))];
    const chosen = luck < 0.4 ? 0 : luck < 0.8 ? pending.length : moment;
    moments.set(sector, chosen);
    return chosen;
  };
  for (const [index, op] of pending.entries()) {
    if (op.kind === "truncate") {
      // The size is the inode's, a sector of its own.
      if (index < momentOfSector(-1)) resize(content, op.size);
      continue;
    }
    for (let at = op.offset; at < op.offset + op.data.length; ) {
      const sector = Math.floor(at / sectorBytes);
      const end = Math.min((sector + 1) * sectorBytes, op.offset + op.data.length);
      if (index < momentOfSector(sector)) write(content, at, op.data.subarray(at - op.offset, end - op.offset));
      at = end;
    }
  }
}

function writeAll(content: Content, pending: readonly Pending[]): void {
  for (const op of pending) {
    if (op.kind === "truncate") resize(content, op.size);
    else write(content, op.offset, op.data);
  }
}

function write(content: Content, offset: number, data: Buffer): void {
  if (offset + data.length > content.size) resize(content, offset + data.length);
  data.copy(content.bytes, offset);
}

function resize(content: Content, size: number): void {
  if (size > content.bytes.length) {
    const grown = Buffer.alloc(Math.max(size, content.bytes.length * 2));
    content.bytes.copy(grown, 0, 0, content.size);
    content.bytes = grown;
  } else if (size < content.size) {
    content.bytes.fill(0, size, content.size);
  }
  content.size = size;
}
