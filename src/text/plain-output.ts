// Converts command output to plain lines, without terminal control sequences.

/** Terminal strings (titles, links), sequences with parameters (colours, movements), and short ones. */
const escapes = /\x1b(?:[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\[[0-?]*[ -/]*[@-~]|[ -/]+[0-~]|[0-~])/g;

/** Returns output as plain text: of an overwritten line the last version, of several blank lines one. */
export function plainOutput(text: string): string {
  const plain = text.includes("\x1b") ? text.replace(escapes, "") : text;
  const lines = plain.includes("\r") ? plain.split("\n").map(lastWritten).join("\n") : plain;
  return lines.replace(/\n(?:[ \t]*\n){2,}/g, "\n\n");
}

function lastWritten(line: string): string {
  return line.includes("\r") ? (line.split("\r").findLast((part) => part !== "") ?? "") : line;
}

/** Returns the start and the end, in whole lines unless they are too long. */
export function headAndTail(text: string, limit: number): { text: string; isCut: boolean } {
  if (text.length <= limit) return { text, isCut: false };
  const half = Math.floor(limit / 2);
  const headEnd = text.lastIndexOf("\n", half) + 1;
  const tailStart = text.indexOf("\n", text.length - half) + 1;
  const head = text.slice(0, headEnd > half / 2 ? headEnd : wholeUntil(text, half));
  const isLate = tailStart === 0 || tailStart > text.length - half / 2;
  const tail = text.slice(isLate ? wholeUntil(text, text.length - half) : tailStart);
  const gap = `[… ${text.length - head.length - tail.length} characters omitted …]`;
  return { text: `${head}${head.endsWith("\n") ? "" : "\n"}${gap}\n${tail}`, isCut: true };
}

/** Returns an end at or before `at` that does not split a character of two UTF-16 units. */
function wholeUntil(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
