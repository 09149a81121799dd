// Copies text to the clipboard: by the system's own program, or by the terminal where the user asked for it.
import { findProgram } from "../process/find-program.ts";
import { runProgram } from "../process/run-program.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `needs`: a variable without which it cannot reach any clipboard. */
type Copier = { command: readonly string[]; needs?: string };

/** In this order; the first that is there and works. */
const copiers: readonly Copier[] = [
  { command: ["pbcopy"] },
  { command: ["wl-copy"], needs: "WAYLAND_DISPLAY" },
  { command: ["xclip", "-selection", "clipboard", "-in"], needs: "DISPLAY" },
  { command: ["xsel", "--clipboard", "--input"], needs: "DISPLAY" },
  { command: ["clip.exe"] },
];

export type Copied = { type: "copied"; by: string } | { type: "failed"; message: string };

export async function copyText(text: string, { env, cwd }: { env: Environment; cwd: string }): Promise<Copied> {
  const problems: string[] = [];
  for (const { command, needs } of copiers) {
    if ((needs && !env[needs]) || !findProgram(command[0]!, { ...env })) continue;
    // It stays behind to serve what it was given: what outlives it is not to be ended.
    const end = await runProgram({ command, cwd, env: { ...env }, input: text, timeoutMs: 5000, leftovers: "ignore" });
    if (end.exitCode === 0) return { type: "copied", by: command[0]! };
    problems.push(`${command[0]} ${end.timedOut ? "did not answer" : `failed: ${end.stderr.trim() || end.exitCode}`}`);
  }
  return {
    type: "failed",
    message: problems.join("; ") || "No program for the clipboard was found (wl-copy, xclip, pbcopy).",
  };
}

/** Most of a text that terminals take. */
const mostBytes = 74_994;

/**
 * OSC 52, by which a terminal copies, also through ssh. Only for a command of the user: what a model says never gets this far.
 * Undefined: the text is longer than terminals take.
 */
export function terminalCopy(text: string): string | undefined {
  const bytes = Buffer.from(text, "utf8");
  return bytes.length > mostBytes ? undefined : `\x1b]52;c;${bytes.toString("base64")}\x07`;
}
