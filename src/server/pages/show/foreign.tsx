import type { Html } from "../html.ts";
import { codePointName, cutPieces, cutText, plainLine, type TextPiece, textPieces } from "./code-points.ts";

const CHARACTERS_MAX = 600;
const LINES_MAX = 8;

/** Text of a customer, a model or a tool: isolated from its surroundings, the unseen named, long ones cut. */
export function Foreign(props: {
  readonly text: string;
  readonly charactersMax?: number;
  readonly linesMax?: number;
}): Html {
  const { text, charactersMax = CHARACTERS_MAX, linesMax = LINES_MAX } = props;
  const pieces = textPieces(text);
  const cut = cutPieces(pieces, charactersMax, linesMax);
  if (cut === pieces) {
    return (
      <div class="foreign">
        <Pieces pieces={pieces} />
      </div>
    );
  }
  return (
    <div class="foreign">
      <Pieces pieces={cut} />
      <span class="cut">… cut here</span>
      <details>
        <summary>Show all {text.length.toLocaleString("en")} characters</summary>
        <div class="foreign whole">
          <Pieces pieces={pieces} />
        </div>
      </details>
    </div>
  );
}

/** Foreign text on a single line, for tables and headings. */
export function ForeignLine(props: { readonly text: string; readonly charactersMax?: number }): Html {
  const { text, charactersMax = 80 } = props;
  const pieces = textPieces(text).map((piece): TextPiece => (piece.kind === "line_end" ? SPACE : piece));
  const cut = cutPieces(pieces, charactersMax, 1);
  return (
    <bdi class="foreign-line">
      <Pieces pieces={cut} />
      {cut === pieces ? "" : "…"}
    </bdi>
  );
}

/** JSON of a payload, indented; strings keep their own escapes. */
export function Payload(props: { readonly value: unknown; readonly charactersMax?: number }): Html {
  const { value, charactersMax = 4000 } = props;
  const text = JSON.stringify(value, undefined, 2) ?? "null";
  const cut = cutText(text, charactersMax, Number.POSITIVE_INFINITY);
  if (cut === text) {
    return <Code text={text} />;
  }
  return (
    <div>
      <Code text={`${cut}…`} />
      <details>
        <summary>Show all {text.length.toLocaleString("en")} characters</summary>
        <Code text={text} />
      </details>
    </div>
  );
}

/** Foreign text that is kept line by line, such as JSON. */
export function Code(props: { readonly text: string }): Html {
  return (
    <pre class="code">
      <code>
        {props.text.split("\n").map((line, index) => (
          <>
            {index === 0 ? "" : "\n"}
            <Pieces pieces={textPieces(line)} />
          </>
        ))}
      </code>
    </pre>
  );
}

const SPACE: TextPiece = { kind: "text", text: " " };

function Pieces(props: { readonly pieces: readonly TextPiece[] }): Html {
  return <>{props.pieces.map(shownPiece)}</>;
}

function shownPiece(piece: TextPiece): Html | string {
  switch (piece.kind) {
    case "text":
      return piece.text;
    case "line_end":
      return <br />;
    case "code_point":
      return <span class="code-point">{codePointName(piece.codePoint, piece.count)}</span>;
  }
}

/** An id that people compare and copy. */
export function Id(props: { readonly id: string; readonly charactersMax?: number }): Html {
  return <code class="id">{plainLine(props.id, props.charactersMax ?? 128)}</code>;
}
