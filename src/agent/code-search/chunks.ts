// Cuts a file into chunks where its structure allows: at definitions with the comments before them, at headings, at blank lines.

/** Lines count from 1, both ends included. Offsets are in bytes. */
export type Chunk = { startLine: number; endLine: number; from: number; to: number };

const minLines = 8;
/** After this many lines, the next blank line ends the chunk. */
const usualLines = 30;
const maxLines = 70;

/** These match the start of a definition, at the top level or inside a class. */
const modifiers =
  /^(?: {0,4}|\t)(?:(?:export|default|declare|pub|public|private|protected|static|abstract|async|override|final|get|set)\s)*/;
const definition =
  /^(?:function\b|class\b|interface\b|type\s+\w|enum\b|struct\b|trait\b|impl\b|def\s|fn\s|func\s|module\s|namespace\s|const\s+\w+\s*=\s*(?:async\s*)?(?:\(|function|\w+\s*=>))/;
const method = /^[A-Za-z_$#][\w$]*\s*\(/;
const control = /^\s*(?:if|for|while|switch|catch|else|return|do|try|with)\b/;
const comment = /^\s*(?:\/\/|\/\*|\*|#(?!include|define)|--|"""|'''|@)/;
const heading = /^#{1,4}\s|^(?:=+|-{3,})\s*$/;

export function cutIntoChunks(bytes: Uint8Array, path: string): Chunk[] {
  const lines = splitSourceLines(bytes);
  const isProse = /\.(?:md|mdx|markdown|rst|adoc)$/i.test(path);
  const chunks: Chunk[] = [];
  let start = 0;
  const end = (next: number): void => {
    if (next <= start) return;
    const from = lines[start]!.from;
    const to = next < lines.length ? lines[next]!.from : bytes.length;
    chunks.push({ startLine: start + 1, endLine: next, from, to });
    start = next;
  };
  for (let at = 1; at < lines.length; at++) {
    const length = at - start;
    if (length < minLines) continue;
    const { text } = lines[at]!;
    if (length >= maxLines) end(at);
    else if (isProse ? heading.test(text) : isOpening(text)) end(beforeComments(lines, at, start));
    else if (length >= usualLines && text.trim() === "" && /^\S/.test(lines[at + 1]?.text ?? "")) end(at + 1);
  }
  end(lines.length);
  return chunks;
}

/** Returns whether a line starts a definition. Done in steps, since one large expression could be very slow. */
function isOpening(text: string): boolean {
  const found = modifiers.exec(text);
  if (!found || control.test(text)) return false;
  const rest = text.slice(found[0].length);
  return definition.test(rest) || (method.test(rest) && text.trimEnd().endsWith("{"));
}

/** Moves a chunk's start above the comment that directly precedes its definition. */
function beforeComments(lines: readonly SourceLine[], at: number, start: number): number {
  let first = at;
  while (first - 1 > start && comment.test(lines[first - 1]!.text)) first -= 1;
  return first - start >= minLines / 2 ? first : at;
}

type SourceLine = { from: number; text: string };

const longestLine = 300;

function splitSourceLines(bytes: Uint8Array): SourceLine[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lines: SourceLine[] = [];
  for (let from = 0; from < buffer.length; ) {
    const found = buffer.indexOf(10, from);
    const to = found === -1 ? buffer.length : found;
    lines.push({ from, text: buffer.toString("utf8", from, Math.min(to, from + longestLine)) });
    from = to + 1;
  }
  return lines;
}

const importStart =
  /^(?:import\b|export\b.*\bfrom\b|from\s+\S+\s+import\b|use\s+[\w:]+|using\s+[\w.]+;|#\s*include\b|package\s+[\w.]+;?\s*$|require(?:_relative)?\b|(?:const|let|var)\b.*=\s*require\()/;

/** Drops leading imports from the chunks, since they answer no question. A file of imports alone is unchanged. */
export function withoutImports<Cut extends Chunk>(chunks: readonly Cut[], bytes: Uint8Array): readonly Cut[] {
  const rest = chunks.flatMap((chunk): Cut[] => {
    const lines = splitSourceLines(bytes.subarray(chunk.from, chunk.to));
    const after = endOfImports(lines);
    if (after === 0) return [chunk];
    if (after === lines.length) return [];
    return [{ ...chunk, startLine: chunk.startLine + after, from: chunk.from + lines[after]!.from }];
  });
  return rest.length > 0 ? rest : chunks;
}

/** Returns how many lines the imports take at the start, including what is before and between them. */
function endOfImports(lines: readonly SourceLine[]): number {
  let after = 0;
  let open = 0;
  for (const [index, { text }] of lines.entries()) {
    if (open === 0 && !importStart.test(text)) {
      if (text.trim() === "" || comment.test(text)) continue;
      break;
    }
    open = Math.max(0, open + (text.match(/[({]/g)?.length ?? 0) - (text.match(/[)}]/g)?.length ?? 0));
    after = index + 1;
  }
  while (after > 0 && lines[after]?.text.trim() === "") after += 1;
  return after;
}
