// Attaches what a mention names: the text of a file, the names in a folder, or an image.
import { isAbsolute, join, resolve } from "node:path";
import { isInside, realOrSame, shownPath } from "../../policy/paths.ts";
import { wholeLength } from "../../process/bounded-bytes.ts";
import { imageKind, largestImage } from "../../protocol/image.ts";
import type { Part } from "../../protocol/message.ts";
import { oneLine } from "../../text/one-line.ts";
import { entriesAt } from "../folder-handle.ts";
import { block } from "./block.ts";
import { type LineRange, splitLines } from "./mentions.ts";
import { hiddenReason, readBytes, readProblem, readText, statOrNothing } from "./read-text.ts";

/** The maximum number of bytes of one attached file that the model receives. */
const largestAttachment = 20 * 1024;
/** How many bytes of a file are read to find the mentioned lines. */
const furthestLine = 8 * 1024 * 1024;
const maxNames = 300;

export type AttachContext = {
  workspace: string;
  roots: readonly string[];
  /** Returns true for paths that ignore files or deny rules hide from the agent. */
  isIgnored?(path: string): boolean;
};

export type MentionTarget = { path: string; real: string; kind: "file" | "folder"; lines?: LineRange };

export type Attachment = {
  type: "file" | "folder" | "image";
  path: string;
  parts: Part[];
  bytes: number;
  warnings: string[];
};

/** Finds the file or folder of a mention. Relative targets are resolved against `bases` in order; the first match wins. */
export function findTarget(target: string, bases: readonly string[]): MentionTarget | undefined {
  const ranged = splitLines(target);
  return lookUp(target, bases) ?? (ranged && withLines(lookUp(ranged.path, bases), ranged.lines));
}

/** Returns why the target may not be attached, or undefined. */
export function attachRefusal(found: MentionTarget, context: AttachContext): string | undefined {
  const roots = [context.workspace, ...context.roots];
  if (![...roots, ...roots.map(realOrSame)].some((root) => isInside(found.real, root))) {
    return "it is outside the workspace; add its directory with --add-dir";
  }
  const isIgnored = context.isIgnored?.(found.path) || (found.real !== found.path && context.isIgnored?.(found.real));
  return isIgnored ? hiddenReason : undefined;
}

export function attach(found: MentionTarget, context: AttachContext): Attachment {
  const { path, kind } = found;
  const shown = shownPath(path, context.workspace);
  const type = kind === "file" && !found.lines && /\.(?:png|jpe?g|gif|webp)$/i.test(path) ? "image" : kind;
  const made = attachers[type](found, shown, context);
  if (typeof made !== "string") return { type, path, warnings: [], ...made };
  return { type, path, parts: [], bytes: 0, warnings: [`${shown} was not attached: ${made}.`] };
}

/** The parts to attach, or a string that says why nothing can be attached. */
type AttachResult = Pick<Attachment, "parts" | "bytes"> & { warnings?: string[] };

const attachers: Record<
  Attachment["type"],
  (found: MentionTarget, shown: string, context: AttachContext) => AttachResult | string
> = {
  file: attachFile,
  folder: attachFolder,
  image: attachImage,
};

function attachFile(found: MentionTarget, shown: string): AttachResult | string {
  const limit = found.lines ? furthestLine : largestAttachment;
  const read = readText(found.real, { limit, within: [found.real] });
  if (read.type !== "text") return unreadableReason(read);
  const picked = found.lines
    ? pickLines(read.text, found.lines)
    : { text: read.text, range: undefined, isCut: read.isCut };
  if (!picked) return `it has no line ${found.lines!.first}`;
  const parts = [block("file", { path: shown, lines: picked.range }, picked.text)];
  const warnings: string[] = [];
  if (picked.isCut) {
    const next = (found.lines?.first ?? 1) + picked.text.split("\n").length - 1;
    parts.push(
      `[Cut: ${oneLine(shown)} has ${read.size} bytes, only ${largestAttachment} fit here. Read it from line ${next} for the rest.]`,
    );
    warnings.push(
      `${shown} is larger than ${largestAttachment} bytes; only its start was attached. Mention lines, as in @${shown}:${next}-${next + 99}, for another part.`,
    );
  }
  return { ...textPart(parts.join("\n")), warnings };
}

function textPart(text: string): AttachResult {
  return { parts: [{ type: "text", text }], bytes: Buffer.byteLength(text) };
}

function unreadableReason(read: { type: string; reason?: string }): string {
  return read.reason ?? "it is gone";
}

/** Returns as many of the lines as fit into one attachment; of a single longer line its start. Undefined if there is no such line. */
function pickLines(text: string, lines: LineRange): { text: string; range: string; isCut: boolean } | undefined {
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  if (lines.first > all.length) return undefined;
  const bytes = Buffer.from(`${all.slice(lines.first - 1, lines.last).join("\n")}\n`);
  const head = bytes.subarray(0, largestAttachment);
  const fitting = head.toString("utf8", 0, wholeLength(head));
  const picked = fitting.slice(0, fitting.lastIndexOf("\n") + 1) || fitting;
  const end = lines.first + Math.max(picked.split("\n").length - 2, 0);
  return { text: picked, range: `${lines.first}-${end}`, isCut: bytes.length > head.length };
}

function attachFolder(found: MentionTarget, shown: string, context: AttachContext): AttachResult | string {
  let names: string[];
  try {
    names = entriesAt(found.real)
      .filter((entry) => entry.name !== ".git" && !context.isIgnored?.(join(found.path, entry.name)))
      .map((entry) => oneLine(entry.name) + (entry.isDirectory() ? "/" : ""))
      .sort();
  } catch (error) {
    return unreadableReason(readProblem(error));
  }
  const left = names.length - maxNames;
  const more = left > 0 ? `\n[${left} more; use LS or Glob.]` : "";
  return textPart(block("folder", { path: shown }, names.slice(0, maxNames).join("\n") + more));
}

function attachImage(found: MentionTarget, shown: string): AttachResult | string {
  const read = readBytes(found.real, { limit: largestImage + 1, within: [found.real] });
  if (read.type !== "bytes") return unreadableReason(read);
  if (read.size > largestImage) return "images may be at most 3.75 MB. Resize it first";
  const mime = imageKind(read.bytes);
  if (!mime) return "it is not a PNG, JPEG, GIF or WebP image, whatever its name says";
  const label = `<image path="${oneLine(shown).replaceAll('"', "&quot;")}"/>`;
  const image = { type: "image" as const, mime, base64: read.bytes.toString("base64") };
  return { parts: [{ type: "text", text: label }, image], bytes: label.length };
}

function lookUp(target: string, bases: readonly string[]): MentionTarget | undefined {
  if (target.includes("\0")) return undefined;
  for (const path of isAbsolute(target) ? [resolve(target)] : bases.map((base) => resolve(base, target))) {
    const stat = statOrNothing(path);
    if (stat?.isFile()) return { path, real: realOrSame(path), kind: "file" };
    if (stat?.isDirectory()) return { path, real: realOrSame(path), kind: "folder" };
  }
  return undefined;
}

function withLines(found: MentionTarget | undefined, lines: LineRange): MentionTarget | undefined {
  return found?.kind === "file" ? { ...found, lines } : undefined;
}
