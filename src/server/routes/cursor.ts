import { HttpProblem } from "../http/problem.ts";

/** A place in a list: a time and the id of the row that was last there. */
export interface Cursor {
  readonly at: number;
  readonly id: string;
}

export function encodeCursor({ at, id }: Cursor): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

/** Throws `BELAY_REQUEST_INVALID` for what `encodeCursor` did not write. */
export function decodeCursor(text: string): Cursor {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (Array.isArray(value) && value.length === 2 && Number.isSafeInteger(value[0]) && typeof value[1] === "string") {
      return { at: Number(value[0]), id: value[1] };
    }
  } catch {
    // Told below, like every other text that is no cursor.
  }
  throw new HttpProblem("BELAY_REQUEST_INVALID", "the cursor is not one that this server gave; leave it out", {
    members: { errors: [{ in: "query", path: "cursor", message: "not a cursor" }] },
  });
}
