export type Yaml = string | readonly Yaml[] | { readonly [key: string]: Yaml };

interface Line {
  readonly indent: number;
  readonly text: string;
  readonly number: number;
}

/**
 * Reads the part of YAML that the workflows are written in: block maps and lists, plain and double-quoted scalars, and
 * literal blocks (`|`). Every scalar stays a text. Throws for anything else, so that nothing is read wrongly.
 */
export function parseYaml(text: string): Yaml {
  const lines = text.split("\n").map((line, at) => {
    if (line.includes("\t")) throw new Error(`line ${at + 1}: a tab`);
    const indent = line.length - line.trimStart().length;
    return { indent, text: line.slice(indent), number: at + 1 };
  });
  const reader = { lines, at: 0 };
  const value = readBlock(reader, 0);
  skip(reader);
  if (reader.at < lines.length) throw new Error(`line ${lines[reader.at]?.number}: not read`);
  return value;
}

interface Reader {
  readonly lines: readonly Line[];
  at: number;
}

function skip(reader: Reader): Line | undefined {
  for (; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at];
    if (line !== undefined && line.text !== "" && !line.text.startsWith("#")) return line;
  }
  return undefined;
}

function readBlock(reader: Reader, indent: number): Yaml {
  const first = skip(reader);
  if (first === undefined || first.indent < indent) return "";
  return first.text.startsWith("- ") ? readList(reader, first.indent) : readMap(reader, first.indent);
}

function readList(reader: Reader, indent: number): readonly Yaml[] {
  const items: Yaml[] = [];
  for (let line = skip(reader); line?.indent === indent && line.text.startsWith("- "); line = skip(reader)) {
    // The rest of the line is a map of its own, two columns further in.
    const rest = { ...line, indent: indent + 2, text: line.text.slice(2) };
    const inner: Reader = { lines: reader.lines.with(reader.at, rest), at: reader.at };
    items.push(/^[\w-]+:(?: |$)/.test(rest.text) ? readMap(inner, indent + 2) : scalar(rest.text, line.number));
    reader.at = Math.max(inner.at, reader.at + 1);
  }
  return items;
}

function readMap(reader: Reader, indent: number): Yaml {
  const entries = new Map<string, Yaml>();
  for (let line = skip(reader); line?.indent === indent; line = skip(reader)) {
    const [, key, rest = ""] = /^([\w-]+):(?: (.*))?$/.exec(line.text) ?? [];
    if (key === undefined) throw new Error(`line ${line.number}: neither a key nor a list: ${line.text}`);
    if (entries.has(key)) throw new Error(`line ${line.number}: ${key} is there twice`);
    reader.at += 1;
    entries.set(
      key,
      rest === "|"
        ? readLiteral(reader, indent)
        : rest === ""
          ? readBlock(reader, indent + 1)
          : scalar(rest, line.number),
    );
  }
  const after = skip(reader);
  if (after !== undefined && after.indent > indent) throw new Error(`line ${after.number}: indented too far`);
  return Object.fromEntries(entries);
}

function readLiteral(reader: Reader, indent: number): string {
  const body: string[] = [];
  let own: number | undefined;
  for (; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at];
    if (line === undefined || (line.text !== "" && line.indent <= indent)) break;
    own ??= line.indent;
    body.push(`${" ".repeat(Math.max(0, line.indent - own))}${line.text}`);
  }
  return `${body.join("\n").trimEnd()}\n`;
}

function scalar(text: string, number: number): string {
  if (text.startsWith('"')) return JSON.parse(text) as string;
  if (/^[[\]{}&*!|>'%@`]/.test(text) || / #|: /.test(text))
    throw new Error(`line ${number}: not of the subset: ${text}`);
  return text;
}
