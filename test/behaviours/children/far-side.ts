/** A payment service in a file: it outlives the process that calls it, and drops what it has done under a key. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

export interface Payment {
  readonly key: string;
  readonly to: string;
}

export function paymentsIn(path: string): readonly Payment[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Payment);
}

/** `dropsDuplicates`: what a far side with idempotency keys does. */
export function pay(path: string, payment: Payment, dropsDuplicates: boolean): void {
  if (dropsDuplicates && paymentsIn(path).some(({ key }) => key === payment.key)) return;
  appendFileSync(path, `${JSON.stringify(payment)}\n`);
}
