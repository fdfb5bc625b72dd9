import { termsOf } from "./terms.ts";

/** A document that was found, with its place in the list that was indexed. */
interface Hit<Document> {
  readonly document: Document;
  readonly index: number;
  readonly score: number;
}

/** Finds every document that has at least one word of the query, the best first and equals in the order of the list. */
export type Search<Document> = (query: string) => readonly Hit<Document>[];

// The usual constants of Okapi BM25: how soon more of the same word stops counting, and how much length does.
const K1 = 1.5;
const B = 0.75;

/**
 * Indexes documents for ranking by Okapi BM25 (Robertson and Zaragoza, 2009), with the inverse document frequency that
 * is never negative: ln(1 + (N - n + 0.5) / (n + 0.5)).
 */
export function createSearch<Document>(
  documents: readonly Document[],
  textOf: (document: Document) => string,
): Search<Document> {
  const counts = documents.map((document) => countTerms(termsOf(textOf(document))));
  const lengths = counts.map((terms) => [...terms.values()].reduce((sum, count) => sum + count, 0));
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, documents.length);
  const documentsWith = new Map<string, number>();
  for (const terms of counts) {
    for (const term of terms.keys()) {
      documentsWith.set(term, (documentsWith.get(term) ?? 0) + 1);
    }
  }
  const weightOf = (term: string): number => {
    const found = documentsWith.get(term) ?? 0;
    return Math.log(1 + (documents.length - found + 0.5) / (found + 0.5));
  };
  const scoreOf = (term: string, index: number): number => {
    const count = counts[index]?.get(term) ?? 0;
    const length = lengths[index] ?? 0;
    return (weightOf(term) * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / meanLength));
  };
  return (query) => {
    const terms = new Set(termsOf(query));
    return documents
      .map((document, index) => ({
        document,
        index,
        score: [...terms].reduce((sum, term) => sum + scoreOf(term, index), 0),
      }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score || one.index - other.index);
  };
}

function countTerms(terms: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) {
    counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return counts;
}
