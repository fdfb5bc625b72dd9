import type { Output } from "./output.ts";
import { terminalLines } from "./terminal-text.ts";

/** Prints a text whose every line ends with a line end, each line made safe for the terminal. */
export function printText(output: Output, text: string): void {
  for (const line of terminalLines(text).slice(0, -1)) {
    output.line(line);
  }
}
