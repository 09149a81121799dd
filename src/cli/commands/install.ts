// Links the program into ~/.local/bin under its three names, with the launcher of hook scripts, and removes the links. Other
// programs are never touched.
import { lstatSync, mkdirSync, readlinkSync, realpathSync, renameSync, rmSync, type Stats, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { findProgram } from "../../process/find-program.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { tryOr } from "../../text/try-or.ts";
import type { Invocation } from "../main.ts";
import { answer } from "./answer.ts";
import { installationOf, packageName, packageVersion, runningFile } from "./installation.ts";

type Link = { path: string; target: string };

/** Returns the links to create. The launcher of hook scripts is next to the program's file. */
function linksTo(file: string, folder: string): Link[] {
  const links = ["courser", "cursor-agent", "agent"].map((name) => ({ path: join(folder, name), target: file }));
  return [...links, { path: join(folder, "courser-hook"), target: join(dirname(file), "courser-hook.cjs") }];
}

export async function install({ name, env, line }: Invocation): Promise<number> {
  const file = runningFile();
  const installation = installationOf(file);
  if (installation.type === "cache") {
    throw new UserError(
      "INSTALL_REFUSED",
      `This copy is in the cache of ${installation.tool} and may disappear at any time. Install it first: npm install --global ${installation.source ?? packageName}`,
    );
  }
  const folder = binFolder(env);
  const links = linksTo(file, folder).map((each) => ({ ...each, found: linkState(each) }));
  const foreign = links.filter(({ found }) => found === "folder" || (found === "foreign" && !line.flags.has("force")));
  if (foreign.length > 0) {
    const blocked = foreign.map(({ path }) => path).join(", ");
    const next = foreign.some(({ found }) => found === "folder")
      ? "Move it away first."
      : `To replace: ${name} install --force`;
    throw new UserError("INSTALL_REFUSED", `${blocked}: something else is there, and nothing was changed. ${next}`);
  }

  try {
    mkdirSync(folder, { recursive: true });
    for (const each of links) if (each.found !== "this") link(each);
  } catch (error) {
    throw new UserError(
      "INSTALL_REFUSED",
      `${folder} cannot be written to: ${(error as Error).message}. Make it writable, then type: ${name} install`,
    );
  }
  const done = links.map(
    ({ path, target, found }) => `${found === "this" ? "already there" : "linked"}  ${path} -> ${target}\n`,
  );
  return answer(done.join("") + pathAdvice(folder, links, env));
}

export async function uninstall({ env }: Invocation): Promise<number> {
  const folder = binFolder(env);
  const lines: string[] = [];
  for (const { path, target } of linksTo(runningFile(), folder)) {
    const found = linkState({ path, target });
    if (found === "nothing") continue;
    if (found !== "this" && found !== "leads nowhere") {
      lines.push(
        `kept  ${path}, which is ${found === "another copy" ? `a link to ${realpathSync(path)}` : "another program"}\n`,
      );
      continue;
    }
    try {
      rmSync(path);
    } catch (error) {
      throw new UserError(
        "INSTALL_REFUSED",
        `${path} cannot be removed: ${(error as Error).message}. Make ${folder} writable.`,
      );
    }
    lines.push(`removed  ${path}\n`);
  }
  return answer(lines.join("") || `Nothing to remove in ${folder}.\n`);
}

function binFolder(env: NodeJS.ProcessEnv): string {
  return join(env["HOME"] || homedir(), ".local", "bin");
}

/** What exists at a link's path. A broken link is "leads nowhere" only if it pointed to a copy of this program. */
type LinkState = "nothing" | "this" | "another copy" | "leads nowhere" | "foreign" | "folder";

function linkState({ path, target }: Link): LinkState {
  const entry = entryAt(path);
  if (!entry) return "nothing";
  if (entry.isDirectory()) return "folder";
  if (!entry.isSymbolicLink()) return "foreign";
  const real = tryOr(() => realpathSync(path), undefined);
  if (real === undefined) return basename(readlinkSync(path)) === basename(target) ? "leads nowhere" : "foreign";
  if (real === target) return "this";
  return basename(real) === basename(target) && packageVersion(dirname(dirname(real))) ? "another copy" : "foreign";
}

function entryAt(path: string): Stats | undefined {
  // The parent is not a folder or not accessible, which creating the link will report.
  return tryOr(() => lstatSync(path, { throwIfNoEntry: false }), undefined);
}

/** Creates the link under another name and renames it, so that the name is never missing. */
function link({ path, target }: Link): void {
  const aside = `${path}.${process.pid}.new`;
  symlinkSync(target, aside);
  try {
    renameSync(aside, path);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

function pathAdvice(folder: string, links: readonly Link[], env: NodeJS.ProcessEnv): string {
  const searched = (env["PATH"] ?? "").split(delimiter).filter((each) => each !== "");
  if (!searched.some((each) => isSameFolder(each, folder))) {
    const startUp = basename(env["SHELL"] ?? "") === "zsh" ? "~/.zshrc" : "~/.bashrc";
    return `\n${folder} is not in PATH. Type this, and add it to ${startUp}:\n\n  export PATH="$HOME/.local/bin:$PATH"\n`;
  }
  const hidden = links.flatMap(({ path, target }) => {
    const first = findProgram(basename(path), env);
    return first !== undefined && linkState({ path: first, target }) === "foreign" ? [first] : [];
  });
  return hidden.map((path) => `\nNote: ${path} comes first in PATH and is another program.\n`).join("");
}

function isSameFolder(one: string, other: string): boolean {
  return tryOr(() => realpathSync(one) === realpathSync(other), false);
}
