// Renders code with line numbers, if known, and subdued highlighting.

import type { CodePiece } from "../../../view/code-piece.ts";
import { documentText } from "../../../view/document-text.ts";
import { useHighlight } from "../view-options.tsx";
import { Folded } from "./folded.tsx";
import { isLongLine, LongLine } from "./long-line.tsx";

type CodeProps = {
  text: string;
  /** The language or the file extension. */
  language?: string;
  /** The number of the first line; without it, lines are not numbered. */
  start?: number;
  /** How many lines are shown before the rest is folded. */
  first?: number;
};

/** Shows code with syntax highlighting. */
export function Code({ text, language = "", start, first = 40 }: CodeProps) {
  const highlight = useHighlight(language !== "");
  const shown = documentText(text).replace(/\n$/, "");
  const plain = shown.split("\n");
  const isDiff = language === "diff" || language === "patch";
  const isColoured = language !== "" && !plain.some(isLongLine);
  const lines: CodePiece[][] =
    highlight && isColoured ? highlight(shown, language) : plain.map((line) => [{ text: line }]);
  return (
    <pre class="cr-code">
      <Folded
        items={lines}
        first={first}
        noun="line"
        areLines
        draw={(pieces, index) => (
          <span
            key={index}
            class={isDiff ? diffLine(pieces[0]?.text ?? "") : "cr-line"}
            data-line={start === undefined ? undefined : start + index}
          >
            {pieces.length === 1 && isLongLine(pieces[0]!.text) ? (
              <LongLine text={pieces[0]!.text} />
            ) : (
              <Pieces pieces={pieces} />
            )}
            {"\n"}
          </span>
        )}
      />
    </pre>
  );
}

/** Returns the class of a line of a diff, by its first sign; the names of the files above it have three. */
function diffLine(text: string): string {
  const isChange = /^[+-](?!--|\+\+)/.test(text);
  return isChange ? `cr-line ${text.startsWith("+") ? "cr-bg-green" : "cr-bg-red"}` : "cr-line";
}

/** Shows JSON, on a single line if it fits. */
export function Json({ value }: { value: unknown }) {
  const line = JSON.stringify(value) ?? "";
  return <Code text={line.length <= 88 ? line : JSON.stringify(value, null, 2)} language="json" first={20} />;
}

/** Maps the highlighter's many token kinds to a few classes. */
const classes: Record<string, string> = Object.fromEntries(
  Object.entries({
    "cr-keyword": "keyword tag selector atrule important",
    "cr-string": "string template-string attr-value char regex url",
    "cr-number": "number boolean constant symbol",
    "cr-comment": "comment prolog doctype cdata shebang",
    "cr-type": "class-name builtin attr-name property function key",
    "cr-strong": "heading title bold",
  }).flatMap(([name, kinds]) => kinds.split(" ").map((kind) => [kind, name])),
);

export function Pieces({ pieces }: { pieces: readonly CodePiece[] }) {
  return pieces.map(({ text, kind }) => {
    const name = kind === undefined ? undefined : classes[kind];
    return name ? <span class={name}>{text}</span> : text;
  });
}

/** Returns the file extension, which highlighters accept as a language. */
export function languageForPath(path: string): string {
  return /(?:^|\/)dockerfile$/i.test(path) ? "docker" : (/\.([a-z0-9]{1,12})$/i.exec(path)?.[1]?.toLowerCase() ?? "");
}
