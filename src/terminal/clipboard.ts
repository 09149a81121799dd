// Copies text to the clipboard: with a system program, or through the terminal (OSC 52) when the user asked for it.
import { findProgram } from "../process/find-program.ts";
import { runProgram } from "../process/run-program.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `needs` is an environment variable without which the program cannot reach a clipboard. */
type Copier = { command: readonly string[]; needs?: string };

/** Tried in this order; the first that exists and works is used. */
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
    // The program stays in the background to serve the clipboard, so its leftover processes must not be killed.
    const end = await runProgram({ command, cwd, env: { ...env }, input: text, timeoutMs: 5000, leftovers: "ignore" });
    if (end.exitCode === 0) return { type: "copied", by: command[0]! };
    problems.push(`${command[0]} ${end.timedOut ? "did not answer" : `failed: ${end.stderr.trim() || end.exitCode}`}`);
  }
  return {
    type: "failed",
    message: problems.join("; ") || "No program for the clipboard was found (wl-copy, xclip, pbcopy).",
  };
}

/** The maximum number of bytes that terminals accept for the clipboard. */
const maxBytes = 74_994;

/**
 * Returns the OSC 52 sequence by which a terminal copies text, also through ssh, or undefined if the text is longer than
 * terminals accept. Only for commands of the user: the model's output must never get here.
 */
export function terminalCopy(text: string): string | undefined {
  const bytes = Buffer.from(text, "utf8");
  return bytes.length > maxBytes ? undefined : `\x1b]52;c;${bytes.toString("base64")}\x07`;
}
