// Renders a diff, unified or side by side, with line numbers and the words that changed.

import { type ComponentChildren, Fragment } from "preact";
import { useMemo } from "preact/hooks";
import type { CodePiece } from "../../view/code-piece.ts";
import { changedWords, type DiffLine, hunksOfDiff } from "../../view/diff-hunks.ts";
import { documentText } from "../../view/document-text.ts";
import { counted } from "../../view/numbers.ts";
import { type Words, wordChanges } from "../../view/word-changes.ts";
import { Pieces } from "./text/code.tsx";
import { Folded } from "./text/folded.tsx";
import { isLongLine, LongLine } from "./text/long-line.tsx";
import { type Highlight, useHighlight, useView } from "./view-options.tsx";

/** The properties of `Diff`. */
export type DiffProps = {
  diff: string;
  /** The language or the file extension, for syntax highlighting. */
  language?: string;
  layout?: "unified" | "split";
  first?: number;
  /** Called when the reader chooses a line, such as to comment on it. */
  onLine?: ((line: LineOfDiff) => void) | undefined;
  /** Returns content to show below a line. */
  below?: ((line: LineOfDiff) => ComponentChildren) | undefined;
};

/** `number` is the line number in the new file, or in the old file for a removed line. */
export type LineOfDiff = { number: number; sign: DiffLine["sign"]; text: string };

type Row = DiffLine & { words?: Words | undefined; pieces?: readonly CodePiece[] | undefined };

/** Shows how a text was changed. */
export function Diff({ diff, language = "", layout, first = 60, onLine, below }: DiffProps) {
  const { diffLayout } = useView();
  const highlight = useHighlight(language !== "");
  const plain = useMemo(() => hunksOfDiff(documentText(diff)).map(withWords), [diff]);
  const hunks = useMemo(
    () => (highlight && language !== "" ? plain.map((hunk) => withColours(hunk, highlight, language)) : plain),
    [plain, highlight, language],
  );
  const Lines = (layout ?? diffLayout) === "split" ? SplitHunk : UnifiedHunk;
  const added = hunks.flat().filter((line) => line.sign === "+").length;
  const removed = hunks.flat().filter((line) => line.sign === "-").length;
  const label = `${counted(added, "line")} added, ${counted(removed, "line")} removed`;
  return (
    <div class="cr-diff" role="group" aria-label={label}>
      {hunks.map((hunk, index) => (
        <Lines key={index} hunk={hunk} first={first} onLine={onLine} below={below} />
      ))}
    </div>
  );
}

function withWords(hunk: readonly DiffLine[]): Row[] {
  const words = changedWords(hunk, wordChanges);
  return hunk.map((line) => ({ ...line, words: words.get(line) }));
}

/** Highlights each side as a whole text, so that tokens spanning lines are coloured in all of them. */
function withColours(hunk: readonly Row[], highlight: Highlight, language: string): readonly Row[] {
  if (hunk.length > maxColoured || hunk.some(({ text }) => isLongLine(text))) return hunk;
  const pieces = new Map<Row, readonly CodePiece[]>();
  for (const gone of ["-", "+"] as const) {
    const side = hunk.filter(({ sign }) => sign !== gone);
    const lines = highlight(side.map(({ text }) => text).join("\n"), language);
    for (const [index, row] of side.entries()) pieces.set(row, lines[index] ?? []);
  }
  return hunk.map((row) => ({ ...row, pieces: pieces.get(row) }));
}

const maxColoured = 2000;

type HunkProps = Pick<DiffProps, "onLine" | "below"> & { hunk: readonly Row[]; first: number };

function UnifiedHunk({ hunk, first, onLine, below }: HunkProps) {
  return (
    <div class="cr-hunk">
      <Folded
        items={hunk}
        first={first}
        noun="line"
        draw={(row, index) => (
          <Fragment key={index}>
            <Line row={row} onLine={onLine} />
            {below?.(lineOfRow(row))}
          </Fragment>
        )}
      />
    </div>
  );
}

function SplitHunk({ hunk, first, onLine, below }: HunkProps) {
  return (
    <div class="cr-hunk cr-split">
      <Folded
        items={pairLines(hunk)}
        first={first}
        noun="line"
        draw={([before, after], index) => (
          <Fragment key={index}>
            <div class="cr-pair">
              <Line row={before} side="before" onLine={onLine} />
              <Line row={after} side="after" onLine={onLine} />
            </div>
            {before && before !== after && below?.(lineOfRow(before))}
            {after && below?.(lineOfRow(after))}
          </Fragment>
        )}
      />
    </div>
  );
}

type Pair = [before: Row | undefined, after: Row | undefined];

/** Pairs removed lines with the lines that replaced them. */
function pairLines(hunk: readonly Row[]): Pair[] {
  const all: Pair[] = [];
  for (let at = 0; at < hunk.length; ) {
    if (hunk[at]!.sign === " ") {
      all.push([hunk[at], hunk[at]]);
      at++;
      continue;
    }
    const removed: Row[] = [];
    const added: Row[] = [];
    while (hunk[at]?.sign === "-") removed.push(hunk[at++]!);
    while (hunk[at]?.sign === "+") added.push(hunk[at++]!);
    for (let index = 0; index < Math.max(removed.length, added.length); index++)
      all.push([removed[index], added[index]]);
  }
  return all;
}

const kinds = { "+": "cr-added", "-": "cr-removed", " ": "" } as const;

type LineProps = Pick<DiffProps, "onLine"> & { row: Row | undefined; side?: "before" | "after" };

function Line({ row, side, onLine }: LineProps) {
  if (!row) return <div class="cr-change cr-empty" />;
  const number = side === undefined ? (row.after ?? row.before) : row[side];
  const kind = kinds[row.sign];
  const Text = row.sign === "+" ? "ins" : row.sign === "-" ? "del" : "span";
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button in it handles the keys
    <div
      class={`cr-change ${kind}`.trim()}
      data-line={number}
      onClick={onLine && (() => getSelection()?.isCollapsed !== false && onLine(lineOfRow(row)))}
    >
      {onLine && (
        <button
          type="button"
          class="cr-line-button"
          aria-label={`Comment on line ${number}`}
          onClick={(event) => {
            event.stopPropagation();
            onLine(lineOfRow(row));
          }}
        >
          +
        </button>
      )}
      <span class="cr-change-sign" aria-hidden="true">
        {row.sign}
      </span>
      <Text>{isLongLine(row.text) ? <LongLine text={row.text} /> : renderText(row)}</Text>
    </div>
  );
}

function lineOfRow({ sign, text, before, after }: Row): LineOfDiff {
  return { number: after ?? before ?? 0, sign, text };
}

/** Combines syntax highlighting with the marks of changed words. */
function renderText({ text, words = [{ text, isChanged: false }], pieces = [{ text }] }: Row): ComponentChildren {
  let at = 0;
  return words.map((word, index) => {
    const wordPieces = <Pieces key={index} pieces={piecesBetween(pieces, at, at + word.text.length)} />;
    at += word.text.length;
    return word.isChanged ? <mark key={index}>{wordPieces}</mark> : wordPieces;
  });
}

function piecesBetween(pieces: readonly CodePiece[], from: number, to: number): CodePiece[] {
  let at = 0;
  return pieces.flatMap((piece) => {
    const text = piece.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += piece.text.length;
    return text === "" ? [] : [{ ...piece, text }];
  });
}
