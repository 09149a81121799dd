// Extracts the error from a program's stderr, without the banners before it and the stack trace below it.

const colours = /\u001b\[[\d;]*m/g;

/** Matches lines of a stack trace, and the error fields that Node prints. */
const trace = /^\s+at\s|^\s*File ".*", line \d+|^Traceback|^\s*[[\]{}],?$|^ {2,}\w+: |^Node\.js v|^\s*\^+$/;
const failure = /^\s*(?:[\w/.-]+: )?\[?(?:\w*(?:Error|Exception)|error|fatal|panic|thread '.*' panicked)\b/i;
const remark = /^\s*\[?(?:warn(?:ing)?|info|debug|note|hint)\b/i;

export function causeIn(stderr: string): string {
  const lines = stderr
    .replace(colours, "")
    .split("\n")
    .map((line) => line.replace(/\s+\{?$/, ""))
    .filter((line) => line.trim() !== "" && !trace.test(line));
  const first = lines.findIndex((line) => failure.test(line));
  const candidates = first === -1 ? lines.filter((line) => !remark.test(line)) : lines.slice(first);
  return (candidates.length > 0 ? candidates : lines).join("\n").trim();
}
