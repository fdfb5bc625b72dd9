import { styleText } from "node:util";

type Style = "bold" | "dim" | "green" | "red" | "yellow";

/** A word that starts a line of the story, with the colour in which it is shown. */
const MARKS = {
  customer: "bold",
  agent: "bold",
  allowed: "green",
  approved: "green",
  done: "green",
  checked: "green",
  waiting: "yellow",
  refused: "red",
  found: "red",
  process: "dim",
  note: "dim",
} as const satisfies Readonly<Record<string, Style>>;

export type Mark = keyof typeof MARKS;

const MARK_WIDTH = 9;

/** Writes the story of the demonstration, a line for each thing that happened. */
export interface Printer {
  heading(text: string): void;
  line(mark: Mark, what: string, why?: string): void;
}

/** Coloured on a terminal unless `NO_COLOR` is set; plain everywhere else, so that a pipe gets text alone. */
export function createPrinter(
  stream: { write(text: string): unknown; readonly isTTY?: boolean },
  noColor: string | undefined = process.env["NO_COLOR"],
): Printer {
  const isColoured = stream.isTTY === true && !noColor;
  const styled = (style: Style, text: string): string =>
    isColoured ? styleText(style, text, { validateStream: false }) : text;
  return {
    heading: (text) => {
      stream.write(`\n${styled("bold", text)}\n`);
    },
    line: (mark, what, why) => {
      const reason = why === undefined ? "" : `  ${styled("dim", why)}`;
      stream.write(`  ${styled(MARKS[mark], mark.padEnd(MARK_WIDTH))} ${what}${reason}\n`);
    },
  };
}
