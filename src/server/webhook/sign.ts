import { createHmac } from "node:crypto";
import { isSameText } from "../people/secret.ts";

/** Header `Belay-Signature: t=<seconds>,v1=<HMAC-SHA256 in hex of "<seconds>.<body>">`. */
export const SIGNATURE_HEADER = "belay-signature";
const TOLERANCE_S = 300;

export function signWebhook(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${macOf(secret, seconds, body)}`;
}

/**
 * Checks a webhook's signature, for those who receive one.
 *
 * False for another secret, a changed body, a time more than five minutes away and anything malformed.
 */
export function verifyWebhook(secret: string, body: string, signature: string, nowMs: number): boolean {
  const [, time = "", mac = ""] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  const seconds = Number(time);
  if (mac === "" || Math.abs(nowMs / 1000 - seconds) > TOLERANCE_S) return false;
  return isSameText(mac, macOf(secret, seconds, body));
}

function macOf(secret: string, seconds: number, body: string): string {
  return createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
}
