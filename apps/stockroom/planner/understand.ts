import { keywordsOf } from "./keywords.ts";
import { isAboutPolicy, looksForProducts, REVEAL, SEARCH_VERB } from "./phrases.ts";

/** One thing that the user wants, in words and numbers of their own. */
export type Task =
  | { readonly intent: "search"; readonly query: string }
  | { readonly intent: "stock"; readonly sku: string; readonly isAboutReorder: boolean }
  | { readonly intent: "order"; readonly orderId: string }
  | { readonly intent: "policy"; readonly query: string }
  | {
      readonly intent: "restock";
      readonly sku: string;
      readonly quantity: number;
      readonly priority?: "urgent" | "standard";
      /** Only when the stock that was looked up before is at or below its reorder point. */
      readonly isConditional: boolean;
    };

export type Understood =
  | { readonly kind: "tasks"; readonly tasks: readonly Task[] }
  /** Something is missing; the text asks for it. */
  | { readonly kind: "unclear"; readonly question: string }
  | { readonly kind: "outside" };

const SKU = /\bSKU-\d{4}\b/gi;
const ORDER = /\bORD-\d{4}\b/gi;

/** Reads a message sentence by sentence; a sentence without an article is about the last one that was named. */
export function understand(message: string): Understood {
  if (REVEAL.test(message)) {
    return { kind: "outside" };
  }
  const tasks: Task[] = [];
  let lastSku: string | undefined;
  for (const sentence of message.split(/(?<=[.?!])\s+/)) {
    const skus = idsIn(sentence, SKU);
    lastSku = skus.at(-1) ?? lastSku;
    tasks.push(...tasksOf(sentence, skus, lastSku));
  }
  return tasks.length > 0 ? { kind: "tasks", tasks } : withoutTask(message);
}

function tasksOf(sentence: string, skus: readonly string[], lastSku: string | undefined): readonly Task[] {
  const restock = lastSku === undefined ? undefined : restockOf(sentence, lastSku);
  if (restock !== undefined) {
    return [restock];
  }
  const orders = idsIn(sentence, ORDER);
  if (orders.length > 0) {
    return orders.map((orderId) => ({ intent: "order", orderId }));
  }
  if (skus.length > 0) {
    const isAboutReorder = /reorder point/i.test(sentence);
    return skus.map((sku) => ({ intent: "stock", sku, isAboutReorder }));
  }
  if (isAboutPolicy(sentence)) {
    return [{ intent: "policy", query: keywordsOf(sentence) }];
  }
  return looksForProducts(sentence) ? searchesOf(sentence) : [];
}

function restockOf(sentence: string, sku: string): Task | undefined {
  // "Reorder point" is no wish, and a question about a request is none either.
  if (!/\b(?:restock|reorder(?! point)|replenish)\b/i.test(sentence) || /^(?:what|which|why|when)\b/i.test(sentence)) {
    return undefined;
  }
  const [, digits] = /\b(\d[\d,]*)\b(?!-)/.exec(sentence.replace(SKU, "")) ?? [];
  if (digits === undefined) {
    return undefined;
  }
  const isUrgent = /\burgent(?:ly)?\b/i.test(sentence);
  return {
    intent: "restock",
    sku,
    quantity: Number(digits.replaceAll(",", "")),
    ...(isUrgent && { priority: "urgent" }),
    isConditional: /^(?:if so|if it is|in that case)\b/i.test(sentence),
  };
}

/** "Packaging stock and cleaning stock" are two searches; "mop and bucket" is one. */
function searchesOf(sentence: string): readonly Task[] {
  const wanted = sentence.replace(SEARCH_VERB, "").replace(/[.?!]+$/, "");
  const parts = wanted.split(/,\s*(?:and\s+)?|\s+and\s+/);
  const isList = parts.length > 1 && parts.every((part) => /\b(?:stock|products|supplies|range)$/i.test(part.trim()));
  return (isList ? parts : [wanted]).map((part) => ({ intent: "search", query: keywordsOf(part) }));
}

function withoutTask(message: string): Understood {
  if (/\border\b/i.test(message)) {
    return { kind: "unclear", question: "Which order do you mean? Please give its order id, such as ORD-1001." };
  }
  return /\b(?:stock|units|left|restock|reorder|article|item)\b/i.test(message)
    ? { kind: "unclear", question: "Which article do you mean? Please give its SKU, such as SKU-1001." }
    : { kind: "outside" };
}

function idsIn(sentence: string, pattern: RegExp): readonly string[] {
  return [...new Set((sentence.match(pattern) ?? []).map((id) => id.toUpperCase()))];
}
