// Asks for one line on the terminal: hidden for a key, shown for a choice. Question and echo go to stderr; stdout is for answers.
import { UserError } from "../protocol/error-codes.ts";
import { writeStderr } from "./stdout.ts";

export function promptHidden(question: string): Promise<string> {
  return readLine(question, () => {});
}

export function promptShown(question: string): Promise<string> {
  return readLine(question, writeStderr);
}

export async function promptYes(question: string): Promise<boolean> {
  return /^(y|yes)$/i.test((await promptShown(`${question} [y]es, [n]o: `)).trim());
}

async function readLine(question: string, echo: (text: string) => void): Promise<string> {
  const { stdin } = process;
  stdin.setRawMode(true); // set before asking, so that keys typed early are not echoed either
  stdin.setEncoding("utf8");
  writeStderr(question);
  let typed = "";
  try {
    while (true) {
      const pressed = press(typed, await nextKeys(stdin));
      if (pressed.ended) return pressed.typed;
      echo("\b \b".repeat(typed.length) + pressed.typed);
      typed = pressed.typed;
    }
  } finally {
    stdin.setRawMode(false);
    writeStderr("\n");
  }
}

/** Resolves with the next keys that arrive together. The end of input counts as Ctrl+D. */
function nextKeys(stdin: NodeJS.ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      stdin.off("data", onData).off("end", onEnd).off("error", onError).pause();
      finish();
    };
    const onData = (chunk: string) => settle(() => resolve(chunk));
    const onEnd = () => settle(() => resolve("\x04"));
    const onError = (error: Error) => settle(() => reject(error));
    // Resume explicitly: a paused stream does not flow again for a new listener.
    stdin.on("data", onData).on("end", onEnd).on("error", onError).resume();
  });
}

/** Applies typed keys to the line. Line breaks in pasted text are kept, so that the caller can see them. */
function press(line: string, burst: string): { typed: string; ended: boolean } {
  let typed = line;
  // Drop paste markers and the escape sequences of arrow keys, which are not part of the line.
  const keys = [...burst.replace(/\x1b\[[0-9;]*[~A-Za-z]/g, "")];
  for (const [index, key] of keys.entries()) {
    if (key === "\x03") throw new UserError("INTERRUPTED", "Interrupted; nothing was changed.");
    if (key === "\x04") return { typed, ended: true };
    if (key === "\r" || key === "\n") {
      const rest = keys.slice(index).join("").trimEnd().replaceAll("\r", "\n");
      return { typed: typed + rest, ended: true };
    }
    if (key === "\x15") typed = "";
    else if (key === "\x7f" || key === "\b") typed = typed.slice(0, -1);
    else if (key >= " ") typed += key;
  }
  return { typed, ended: false };
}
