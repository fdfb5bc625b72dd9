import { styleText } from "node:util";
import { jsonText, terminalText } from "./terminal-text.ts";

type Style = "bold" | "dim" | "green" | "red" | "yellow";

/** A piece of a line; its text is escaped before the style is put around it. */
export type Piece = string | { readonly text: string; readonly style: Style };

/** Where a command writes: data on stdout, progress and problems on stderr. */
export interface Output {
  line(...pieces: readonly Piece[]): void;
  json(value: unknown, indent?: number): void;
  progress(text: string): void;
  /** Shown on a terminal only, over the last one; an empty text removes it. */
  transient(text: string): void;
  /** Text that is the command's whole point, such as a signed note, and already safe. */
  raw(text: string): void;
}

/** Makes the output of this process. `NO_COLOR` and a stream that is no terminal turn styles off. */
export function createOutput(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Output {
  const styled = (piece: Piece) =>
    typeof piece === "string"
      ? terminalText(piece)
      : styleText(piece.style, terminalText(piece.text), { stream: stdout, validateStream: true });
  return {
    line: (...pieces) => void stdout.write(`${pieces.map(styled).join("")}\n`),
    json: (value, indent) => void stdout.write(`${jsonText(value, indent)}\n`),
    progress: (text) => void stderr.write(`${terminalText(text)}\n`),
    transient: (text) => {
      if (stderr.isTTY) {
        stderr.write(`\r\u001b[2K${terminalText(text)}`);
      }
    },
    raw: (text) => void stdout.write(text),
  };
}

/** Ends the process quietly when the reader of a pipe has gone, as `belay runs | head` does. */
export function endOnBrokenPipe(...streams: readonly NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // Every other failure of a stream means that the output is lost, which is not a success.
      process.exit(error.code === "EPIPE" ? (process.exitCode ?? 0) : 3);
    });
  }
}
