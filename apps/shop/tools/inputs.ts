import { z } from "zod";

/** Exactly the shop's order numbers, such as `O-1001`. */
export const orderId: z.ZodString = z
  .string()
  .regex(/^O-[0-9]{4}$/, "must be an order number such as O-1001")
  .meta({ description: "Order number, such as O-1001" });

export const amountPaise: z.ZodInt = z
  .int()
  .positive()
  .meta({ description: "Amount in paise as a whole number; Rs 1,500 is 150000" });

const KEY_LENGTH_MIN = 8;
const KEY_LENGTH_MAX = 64;

export const idempotencyKey: z.ZodString = z.string().min(KEY_LENGTH_MIN).max(KEY_LENGTH_MAX).meta({
  description: "Your own key for this action; send the same key again when you repeat it, and it happens once",
});

/** One printable line: a line break in a subject could add headers to a mail. */
export const line = (lengthMax: number): z.ZodString =>
  z
    .string()
    .min(1)
    .max(lengthMax)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, "must be one line without control characters");
