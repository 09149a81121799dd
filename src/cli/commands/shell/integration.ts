// Adds a marked block of lines to a shell's start-up file, and removes it again. Everything else in the file is kept.
import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import { homeDir } from "../../../store/config-dir.ts";
import { replaceFile } from "../../../store/json-file.ts";
import { shortPath } from "../../../text/short-path.ts";
import type { Invocation } from "../../main.ts";
import { answer } from "../answer.ts";
import { type ShellName, shells } from "./completion.ts";

const begin = "# >>> courser shell integration >>>";
const end = "# <<< courser shell integration <<<";

type StartUpFile = { shell: ShellName; file: string; lines: readonly string[] };

export async function installShellIntegration(invocation: Invocation): Promise<number> {
  const home = homeDir(invocation.env);
  const { file, lines, shell } = startUpFile(invocation);
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const block = [begin, ...lines, end].join("\n");
  const after = hasBlock(before)
    ? withoutBlock(before, block)
    : `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${before === "" ? "" : "\n"}${block}\n`;
  if (after === before) return answer(`Already installed in ${shortPath(file, home)}.\n`);
  const backup = saveIfChanged(file, before, after);
  return answer(
    `✓ Installed for ${shell} in ${shortPath(file, home)}${backup ? `; the file as it was: ${shortPath(backup, home)}` : ""}\nOpen a new shell, or type: source ${shortPath(file, home)}\n`,
  );
}

export async function uninstallShellIntegration(invocation: Invocation): Promise<number> {
  const home = homeDir(invocation.env);
  const { file } = startUpFile(invocation);
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (!hasBlock(before)) return answer(`Nothing to remove: ${shortPath(file, home)} contains nothing of ours.\n`);
  saveIfChanged(file, before, withoutBlock(before, undefined));
  return answer(`✓ Removed from ${shortPath(file, home)}\n`);
}

function hasBlock(text: string): boolean {
  return text.includes(begin) && text.indexOf(end) > text.indexOf(begin);
}

/** Replaces the old block with `block`, or removes it together with the blank line before it. */
function withoutBlock(text: string, block: string | undefined): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end) + end.length;
  if (block !== undefined) return text.slice(0, from) + block + text.slice(to);
  return text.slice(0, from).replace(/\n\n$/, "\n") + text.slice(to).replace(/^\n/, "");
}

/** Saves a shell's startup file, also behind a link. The first change keeps a backup of the original. */
function saveIfChanged(file: string, before: string, after: string): string | undefined {
  try {
    mkdirSync(dirname(file), { recursive: true });
    if (!existsSync(file)) {
      writeFileSync(file, after);
      return undefined;
    }
    const real = realpathSync(file);
    const backup = `${real}.before-courser`;
    if (!existsSync(backup) && !hasBlock(before)) copyFileSync(real, backup);
    replaceFile(real, after);
    return existsSync(backup) ? backup : undefined;
  } catch (error) {
    throw new UserError(
      "INSTALL_REFUSED",
      `${file} cannot be changed: ${(error as Error).message}. Nothing was changed.`,
    );
  }
}

/** Chooses the file by the word that was given, else by the user's shell. */
function startUpFile({ line, env, name }: Invocation): StartUpFile {
  const [word, second] = line.words;
  const wanted = word ?? basename(env["SHELL"] ?? "");
  const shell = shells.find((each) => each === wanted);
  if (!shell || second !== undefined)
    throw usageError(
      `${word === undefined ? `Your shell (${wanted || "unknown"}) is not one of ${shells.join(", ")}` : `'${wanted}' is not one of ${shells.join(", ")}`}. Type: ${name} ${line.command} ${shells.join("|")}`,
    );
  const home = homeDir(env);
  const path = 'case ":$PATH:" in *":$HOME/.local/bin:"*) ;; *) export PATH="$HOME/.local/bin:$PATH" ;; esac';
  const evaluated = (each: string) => `command -v courser >/dev/null && eval "$(courser completion ${each})"`;
  switch (shell) {
    case "zsh":
      return {
        shell,
        file: join(env["ZDOTDIR"] ?? home, ".zshrc"),
        lines: [path, "autoload -Uz compinit; (( $+functions[compdef] )) || compinit", evaluated("zsh")],
      };
    case "bash":
      return { shell, file: join(home, ".bashrc"), lines: [path, evaluated("bash")] };
    case "fish":
      return {
        shell,
        file: join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "fish", "config.fish"),
        lines: ["fish_add_path -g ~/.local/bin", "command -q courser; and courser completion fish | source"],
      };
  }
}
