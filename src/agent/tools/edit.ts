// Edit: replaces parts of a file, each found by its text. Either all edits of a call are made, or none.
import * as v from "valibot";
import { changeResult } from "../diff.ts";
import { absolutePath, changeFile } from "../files.ts";
import { decodeText, encodeText, lineEndingOf, withCarriages, withNewlines } from "../text-file.ts";
import { pathArgument, pathSpellings, tool } from "./define.ts";
import { findNearest } from "./nearest.ts";
import { findSlip } from "./slips.ts";
import { failure } from "./tool.ts";

const replacement = v.object({
  oldText: v.pipe(v.string(), v.description("Exact text, with indentation; must occur once unless replaceAll")),
  newText: v.string(),
  replaceAll: v.optional(v.boolean()),
});

type Replacement = v.InferOutput<typeof replacement>;

export const edit = tool({
  name: "Edit",
  wire: "edit",
  aliases: ["StrReplace", "str_replace", "MultiEdit"],
  description: "Replace exact pieces of a file's text. Edits are made in order, all or none.",
  readOnly: false,
  args: v.object({
    path: pathArgument(),
    edits: v.pipe(
      v.array(replacement),
      v.check((edits) => edits.length > 0, "must not be empty"),
    ),
  }),
  spellings: pathSpellings,
  reshape: normalizeArguments,
  wireArgs(args, context) {
    const [first, ...more] = args.edits;
    const change =
      more.length === 0
        ? { strReplace: replacementOnWire(first!) }
        : { multiStrReplace: { edits: args.edits.map(replacementOnWire) } };
    const streamContent = args.edits.map((each) => each.newText).join("\n");
    return { path: absolutePath(args.path, context), streamContent, ...change };
  },
  needs: (args, context) => [{ kind: "Write", target: absolutePath(args.path, context), reads: true }],
  async run(args, context) {
    const path = absolutePath(args.path, context);
    let before = "";
    let result = { text: "", notes: [] as string[] };
    await changeFile(path, context, (bytes) => {
      if (bytes === undefined)
        throw failure(`File not found: ${path}. Create it with Write, or find it with Glob.`, { path });
      const old = decodeText(bytes);
      if (!old)
        throw failure(
          `${path} is not text in UTF-8, UTF-16 or Windows-1252, so Edit cannot change it safely. Use Shell.`,
          { path },
        );
      before = old.text;
      result = applyEdits(old.text, args.edits, path);
      return encodeText(result.text, old, path);
    });
    const message = `The file ${path} has been updated.`;
    return changeResult({ path, before, after: result.text, message }, context, result.notes.join(" "));
  },
});

/** Returns the text after all edits. Throws a failure for the model about the first edit that cannot be made. */
function applyEdits(text: string, edits: readonly Replacement[], path: string): { text: string; notes: string[] } {
  // Normalize uniform CRLF line endings and restore them after the edit. In a mixed file, each line keeps its own
  // ending.
  const carriages = lineEndingOf(text) === "\r\n";
  let current = carriages ? withNewlines(text) : text;
  const notes: string[] = [];
  for (const [index, given] of edits.entries()) {
    const name = edits.length === 1 ? "" : `Edit ${index + 1} of ${edits.length}: `;
    const fail = (sentence: string) => failure(`${name}${sentence} The file ${path} is unchanged.`, { path });
    const each = carriages
      ? { ...given, oldText: withNewlines(given.oldText), newText: withNewlines(given.newText) }
      : given;
    if (each.oldText === "") {
      throw fail(
        "oldText is empty. To insert, quote a neighbouring line and repeat it in newText; to replace all, use Write.",
      );
    }
    if (each.oldText === each.newText) throw fail("oldText and newText are the same.");

    const found = find(current, each);
    if (!found) throw fail(notFound(current, each));
    if (found.ranges.length > 1 && !each.replaceAll) {
      const lines = found.ranges.map((range) => lineAt(current, range.start));
      const list = lines.length > 10 ? `${lines.slice(0, 10).join(", ")}, …` : lines.join(", ");
      throw fail(
        `oldText occurs ${lines.length} times (lines ${list}). Add neighbouring lines to make it unique, or set replaceAll.`,
      );
    }
    if (found.note) notes.push(name + found.note);
    current = replaceRanges(current, found.ranges, found.newText);
  }
  return { text: carriages ? withCarriages(current) : current, notes };
}

type TextRange = { start: number; end: number };
type FoundText = { ranges: TextRange[]; newText: string; note?: string };

/**
 * Finds the text to replace: first exactly, then with the file's line endings, then ignoring trailing spaces,
 * indentation or quote style if only one place matches.
 */
function find(text: string, each: Replacement): FoundText | undefined {
  for (const spell of [(part: string) => part, withNewlines, withCarriages]) {
    const ranges = findOccurrences(text, spell(each.oldText));
    if (ranges.length > 0) return { ranges, newText: spell(each.newText) };
  }
  const ranges = looseOccurrences(text, each.oldText);
  const slip = ranges.length === 0 && !each.replaceAll ? findSlip(text, each) : undefined;
  if (slip) return { ranges: [slip], newText: slip.newText, note: slip.note };
  if (ranges.length !== 1) return undefined;
  return { ranges, newText: each.newText, note: "(oldText differed from the file only in trailing spaces.)" };
}

function findOccurrences(text: string, part: string): TextRange[] {
  const ranges: TextRange[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) {
    ranges.push({ start: at, end: at + part.length });
  }
  return ranges;
}

function looseOccurrences(text: string, part: string): TextRange[] {
  const lines = withNewlines(part).split("\n");
  if (lines.every((line) => line.trim() === "")) return [];
  const wanted = lines.map((line) => line.trimEnd().replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const endsBlank = lines.at(-1) !== "" && /\s$/.test(lines.at(-1)!);
  // Anchor a match that begins with blanks at the first of them, so that a long run of blanks is scanned once.
  const start = wanted[0] === "" ? "(?<![ \\t])" : "";
  const pattern = new RegExp(start + wanted.join("[ \\t]*\\r?\\n") + (endsBlank ? "(?=[ \\t]*\\r?$)" : ""), "gm");
  return [...text.matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
}

function replaceRanges(text: string, ranges: readonly TextRange[], newText: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end } of ranges) {
    pieces.push(text.slice(from, start), newText);
    from = end;
  }
  return pieces.join("") + text.slice(from);
}

function notFound(text: string, each: Replacement): string {
  if (each.newText.trim() !== "" && text.includes(each.newText)) {
    return `oldText was not found, but newText is there (line ${lineAt(text, text.indexOf(each.newText))}): the edit may already be made.`;
  }
  const near = findNearest(withNewlines(text).split("\n"), withNewlines(each.oldText).split("\n"));
  if (!near) return "oldText was not found, nor anything like it. Read the file again.";
  const how = near.differs === "indentation" ? "Text that differs only in indentation" : "The most similar text";
  return `oldText was not found. ${how} is at line ${near.line}:\n${near.lines.join("\n")}\nCopy oldText exactly from the file.`;
}

function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

function replacementOnWire(each: Replacement) {
  return { oldText: each.oldText, newText: each.newText, replaceAll: each.replaceAll ?? false };
}

/** Accepts a single replacement that is not in a list, and the argument names of other agents. */
function normalizeArguments(input: Record<string, unknown>): Record<string, unknown> {
  const { path, edits, ...flat } = input;
  if (Array.isArray(edits)) return { path, edits: edits.map(renameEditFields) };
  return edits === undefined && Object.keys(flat).length > 0 ? { path, edits: [renameEditFields(flat)] } : input;
}

function renameEditFields(each: unknown): unknown {
  if (typeof each !== "object" || each === null) return each;
  const { old_string, new_string, old_str, new_str, replace_all, ...ours } = each as Record<string, unknown>;
  return {
    oldText: old_string ?? old_str,
    newText: new_string ?? new_str,
    replaceAll: replace_all ?? undefined,
    ...ours,
  };
}
