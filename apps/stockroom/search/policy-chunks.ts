import { readFileSync } from "node:fs";
import { BelayError } from "belay-harness";

/** One section of a policy document. */
export interface PolicyChunk {
  /** File and number of the section, such as `restock_policy.md#4`; 0 is what stands before the first section. */
  readonly id: string;
  readonly document: string;
  readonly title: string;
  readonly section: string;
  readonly text: string;
}

const DOCUMENTS = [
  "returns_policy.md",
  "shipping_policy.md",
  "restock_policy.md",
  "warranty_policy.md",
  "stockroom_glossary.md",
  "supplier_lead_times.md",
];

/**
 * Reads the six policy documents of a folder and splits them into sections. Throws `BELAY_FILE_UNREADABLE`.
 */
export function readPolicyChunks(folder: URL): readonly PolicyChunk[] {
  return DOCUMENTS.flatMap((document) => splitDocument(document, readDocument(new URL(document, folder))));
}

/** Splits a document at its `## N. Heading` lines. */
export function splitDocument(document: string, markdown: string): readonly PolicyChunk[] {
  const [preamble = "", ...sections] = markdown.replaceAll("\r\n", "\n").split(/^## (?=\d+\. )/m);
  const [, title = document, introduction = ""] = /^# (.*)\n([\s\S]*)$/.exec(preamble) ?? [];
  return [
    { id: `${document}#0`, document, title, section: "Introduction", text: introduction.trim() },
    ...sections.map((part) => {
      const [, number = "", section = "", text = ""] = /^(\d+)\. (.*)\n([\s\S]*)$/.exec(part) ?? [];
      return { id: `${document}#${number}`, document, title, section, text: text.trim() };
    }),
  ];
}

function readDocument(file: URL): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new BelayError(
      "BELAY_FILE_UNREADABLE",
      `the policy document ${file.pathname} cannot be read; put it back, or correct dataDir`,
      { cause },
    );
  }
}
