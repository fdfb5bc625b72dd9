import { z } from "zod";

export const sku: z.ZodString = z
  .string()
  .regex(/^SKU-\d{4}$/)
  .meta({ description: "Stock keeping unit, such as SKU-1001" });

export const orderId: z.ZodString = z
  .string()
  .regex(/^ORD-\d{4}$/)
  .meta({ description: "Order id, such as ORD-1001" });

export const searchQuery = (description: string): z.ZodString => z.string().min(1).max(200).meta({ description });
