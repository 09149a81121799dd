// Asks for one line on the terminal: hidden for a key, shown for a choice. Question and echo go to stderr; stdout is for answers.
import { UserError } from "../protocol/error-codes.ts";
import { writeStderr } from "./stdout.ts";

export function promptHidden(question: string): Promise<string> {
  return readLine(question, () => {});
}

export function promptShown(question: string): Promise<string> {
  return readLine(question, writeStderr);
}

/** Line breaks within a paste are kept: the caller must see that it was more than one line. */
async function readLine(question: string, echo: (text: string) => void): Promise<string> {
  const { stdin } = process;
  const line = editLine(echo);
  writeStderr(question);
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.on("data", line.type).on("end", line.end).on("error", line.fail);
  try {
    return await line.done;
  } finally {
    stdin.off("data", line.type).off("end", line.end).off("error", line.fail);
    stdin.setRawMode(false);
    stdin.pause();
    writeStderr("\n");
  }
}

type LineEditor = { type(chunk: string): void; end(): void; fail(error: Error): void; done: Promise<string> };

function editLine(echo: (text: string) => void): LineEditor {
  let typed = "";
  let finish: (text: string) => void;
  let fail: (error: Error) => void;
  const done = new Promise<string>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const type = (chunk: string): void => {
    // A paste may come wrapped in markers, and arrow keys as escape sequences: neither is part of the line.
    const keys = [...chunk.replace(/\x1b\[[0-9;]*[~A-Za-z]/g, "")];
    for (const [index, key] of keys.entries()) {
      if (key === "\x03") return fail(new UserError("INTERRUPTED", "Interrupted; nothing was changed."));
      if (key === "\x04") return finish(typed);
      if (key === "\r" || key === "\n")
        return finish(typed + keys.slice(index).join("").trimEnd().replaceAll("\r", "\n"));
      if (key === "\x15") {
        echo("\b \b".repeat(typed.length));
        typed = "";
      } else if (key === "\x7f" || key === "\b") {
        if (typed !== "") echo("\b \b");
        typed = typed.slice(0, -1);
      } else if (key >= " ") {
        typed += key;
        echo(key);
      }
    }
  };
  return { type, end: () => finish(typed), fail: (error) => fail(error), done };
}
