// Opens the user's own editor, for the prompt (Ctrl+G) and for files. The caller must have released the terminal before.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../process/find-program.ts";
import { Supervisor } from "../process/supervisor.ts";
import type { Desk } from "./desk.ts";
import { pastedText } from "./keyboard.ts";

export type ExternalEdit = { type: "edited"; text: string } | { type: "failed"; message: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** Editors to try if the user has configured none. */
const usual = process.platform === "win32" ? ["notepad.exe"] : ["nano", "vi"];

type Place = { env: Environment; cwd: string };

/** Opens a text in the editor. If the editor fails, the text stays unchanged and the message says why. */
export async function editExternally(text: string, place: Place): Promise<ExternalEdit> {
  const folder = mkdtempSync(join(tmpdir(), "message-")); // mkdtemp creates a folder that only its owner can read
  const file = join(folder, "message.md");
  try {
    writeFileSync(file, text === "" ? "" : `${text}\n`, { mode: 0o600 });
    const problem = await openInEditor(file, place);
    if (problem !== undefined) return failedEdit(problem);
    // Editors end a file with a line break that the user did not type.
    return { type: "edited", text: pastedText(readFileSync(file, "utf8")).replace(/\n$/, "") };
  } catch (error) {
    return failedEdit(`The text could not be handed to an editor: ${(error as Error).message}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opens a file in the user's own editor and reports errors. */
export async function editFile(desk: Desk, file: string): Promise<void> {
  const { env, conversation } = desk;
  const problem = await desk.lend(() => openInEditor(file, { env, cwd: conversation.request.workspace }));
  if (problem !== undefined) desk.complain(problem);
}

/** Returns an error message, or undefined on success. */
export async function openInEditor(file: string, { env, cwd }: Place): Promise<string | undefined> {
  const editor = env["VISUAL"] || env["EDITOR"] || usual.find((program) => findProgram(program, { ...env }));
  if (!editor) return "No editor was found. Set one, for example: export EDITOR=nano";
  const { exitCode, signal, failure } = await new Supervisor({
    command: commandFor(editor, file),
    cwd,
    env: { ...env },
    inheritStreams: true,
    plain: true, // the editor must be in the terminal's foreground process group, which is ours
    leftovers: "ignore",
  }).ended;
  if (failure) return `${editor} could not be started: ${failure.message}`;
  if (exitCode === 127) return `${editor} was not found. Set another: export EDITOR=nano`;
  if (exitCode !== 0) return `${editor} ended with ${signal || `exit code ${exitCode}`}: the text was not changed.`;
  return undefined;
}

/** Returns the command that opens the editor. The setting may contain options (`code --wait`) and quotes, so a shell parses it. */
function commandFor(editor: string, file: string): readonly string[] {
  if (process.platform === "win32") return ["cmd.exe", "/d", "/s", "/c", `${editor} "${file}"`];
  return ["/bin/sh", "-c", `${editor} "$1"`, "editor", file];
}

function failedEdit(message: string): ExternalEdit {
  return { type: "failed", message };
}
