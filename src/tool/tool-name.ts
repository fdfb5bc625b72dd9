/** Exactly ASCII letters, digits, `_` and `-`, 1 to 64 of them; nothing is trimmed, folded or normalised first. */
export function isToolName(name: unknown): name is string {
  return typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name);
}
