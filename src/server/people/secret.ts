import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export type SecretKind = "token" | "link" | "session";

const PREFIX: Readonly<Record<SecretKind, string>> = { token: "belay_tok_", link: "belay_lnk_", session: "belay_ses_" };
const SECRET = /^belay_(?:tok|lnk|ses)_[A-Za-z0-9_-]{43}$/;

/** Makes a secret of 256 random bits; its prefix lets scanners of leaked secrets find it. */
export function newSecret(kind: SecretKind): string {
  return PREFIX[kind] + randomBytes(32).toString("base64url");
}

/** Whether a text has the form of a secret of this kind, so that nothing else reaches the database. */
export function isSecret(kind: SecretKind, text: string): boolean {
  return SECRET.test(text) && text.startsWith(PREFIX[kind]);
}

/** What is stored of a secret. A plain SHA-256 is enough for 256 random bits, which nobody can guess. */
export function hashOfSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Compares two texts in a time that does not tell where they differ. */
export function isSameText(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}

/** A token for the forms of one session, made from its secret, which it does not reveal. */
export function formToken(secret: string): string {
  return createHash("sha256").update(`belay form\n${secret}`).digest("base64url");
}
