// Scores the offline model with wordings: what was done, what was refused, what was done wrongly.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { offlineProvider } from "../../../src/model/offline/index.ts";
import { converse, toolsIn, workspace } from "../offline-driver.ts";

/** What must be true afterwards; what is not named must be as it was. */
export type Expectation = {
  /** A path and what it holds; null: it is gone. */
  files?: Record<string, string | null>;
  dirs?: string[];
  says?: string[];
  silent?: string[];
  /** Parts of commands, each of which was run. */
  ran?: string[];
  /** The message of the newest commit, which holds everything. */
  commit?: string;
  unchanged?: boolean;
  /** Nothing is answered either. */
  refused?: boolean;
  or?: Expectation;
};

/** A trap looks like an order, and is none. */
export type Wording = { say: string; kind: "do" | "trap"; expect: Expectation };

export type Score = { say: string; kind: Wording["kind"]; verdict: "done" | "refused" | "wrong"; why: string };

/** One wording a line; the first line is the workspace: paths and what they hold. */
export function wordingsIn(file: string): { project: Record<string, string>; wordings: Wording[] } {
  const [project, ...wordings] = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line));
  return { project, wordings };
}

export async function scores(project: Record<string, string>, wordings: readonly Wording[]): Promise<Score[]> {
  using plain = workspace(project);
  using repository = workspace(project);
  git(repository.root, "init", "--quiet", "--template=");
  git(repository.root, "add", "--all");
  commit(repository.root);
  const all: Score[] = [];
  let root: string | undefined;
  let isRepository = false;
  for (const wording of wordings) {
    // Most wordings have nothing to do with git, and a folder without it is copied sooner.
    const needsGit = /\b(?:git|commit\w*|branch|repo|changed?|changes|clean|stage)\b/i.test(wording.say);
    if (root !== undefined && needsGit !== isRepository) {
      rmSync(root, { recursive: true, force: true });
      root = undefined;
    }
    isRepository = needsGit;
    root ??= copyOf((needsGit ? repository : plain).root);
    const before = stateOf(root);
    const { text, error, calls } = await converse(offlineProvider, wording.say, toolsIn(root, { shell: "real" }));
    const commands = calls.filter((call) => call.name === "Shell").map((call) => String(call.args.command));
    const reaction = { text: error?.message ?? text, isError: error !== undefined, commands };
    const after = stateOf(root);
    all.push({ say: wording.say, kind: wording.kind, ...judge(wording, reaction, { project, before, after }) });
    if (differences(before, after).length === 0) continue;
    rmSync(root, { recursive: true, force: true });
    root = undefined;
  }
  if (root !== undefined) rmSync(root, { recursive: true, force: true });
  return all;
}

type Reaction = { text: string; isError: boolean; commands: string[] };
type State = { files: Record<string, string | null>; commit: string };

function copyOf(original: string): string {
  const root = join(mkdtempSync(join(tmpdir(), "courser-wording-")), "workspace");
  cpSync(original, root, { recursive: true });
  return root;
}

function git(root: string, ...args: string[]): string {
  return execFileSync("git", ["-c", "core.quotePath=false", ...args], { cwd: root, encoding: "utf8" });
}

function commit(root: string): void {
  git(root, "config", "user.name", "Someone");
  git(root, "config", "user.email", "someone@example.com");
  git(root, "commit", "--quiet", "--message", "first");
}

/** Folders hold null. */
function stateOf(root: string): State {
  const files: State["files"] = {};
  for (const path of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (path === ".git" || path.startsWith(".git/")) continue;
    files[path] = statSync(join(root, path)).isFile() ? readFileSync(join(root, path), "utf8") : null;
  }
  return { files, commit: existsSync(join(root, ".git/logs/HEAD")) ? headOf(root) : "" };
}

/** Read from its log: a process for each look would cost more than all the rest. */
function headOf(root: string): string {
  const log = readFileSync(join(root, ".git/logs/HEAD"), "utf8");
  return [...log.matchAll(/\tcommit(?: \(\w+\))?: (.*)$/gm)].at(-1)![1]!;
}

/** Line ends at the end of a file make no difference. */
function differences(wanted: State, there: State): string[] {
  const faults: string[] = wanted.commit === there.commit ? [] : [`the newest commit is "${there.commit}"`];
  for (const path of new Set([...Object.keys(wanted.files), ...Object.keys(there.files)])) {
    const [should, is] = [wanted.files[path], there.files[path]];
    if (should === undefined) faults.push(is === null ? `the folder ${path} is there` : `${path} is there`);
    else if (is === undefined) faults.push(`${path} is not there`);
    else if (should?.trimEnd() !== is?.trimEnd()) faults.push(`${path} holds ${JSON.stringify(is)}`);
  }
  return faults;
}

/** The workspace as it must be; folders without files may be there or not. */
function wantedState(expect: Expectation, before: State, after: State): State {
  const files = { ...before.files };
  for (const [path, text] of Object.entries(expect.files ?? {})) {
    if (text !== null) files[path] = text;
    else for (const name of Object.keys(files)) if (name === path || name.startsWith(`${path}/`)) delete files[name];
  }
  for (const path of expect.dirs ?? []) files[path] = null;
  for (const path of Object.keys(files)) for (const parent of parentsOf(path)) files[parent] = null;
  for (const path of Object.keys(files)) {
    const isLeft = Object.keys(files).some((other) => other.startsWith(`${path}/`));
    if (files[path] === null && !isLeft && !expect.dirs?.includes(path) && after.files[path] === undefined)
      delete files[path];
  }
  return { files, commit: expect.commit ?? before.commit };
}

function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

const REFUSAL =
  /already exists|not found|no such file|could not|cannot|no files match|^no: |nothing contains|nothing to commit/i;

function judge(
  { kind, expect }: Wording,
  reaction: Reaction,
  { before, after }: { project: Record<string, string>; before: State; after: State },
): Pick<Score, "verdict" | "why"> {
  const changed = differences(before, after);
  const shown = `${reaction.commands.length > 0 ? `ran ${reaction.commands.join(" && ")} | ` : ""}${reaction.text.split("\n").slice(0, 6).join(" / ")}`;
  const faults: string[][] = [];
  for (let one: Expectation | undefined = expect; one; one = one.or) {
    const found = faultsIn(one, reaction, before, after);
    if (found.length === 0 && (kind === "do" || !runs(reaction))) return { verdict: "done", why: shown };
    faults.push(found);
  }
  const isQuiet = changed.length === 0 && !runs(reaction);
  if (isQuiet && (reaction.isError || REFUSAL.test(reaction.text)))
    return { verdict: kind === "trap" ? "done" : "refused", why: shown };
  return { verdict: "wrong", why: `${faults.map((each) => each.join("; ")).join(" OR ")} || ${shown}` };
}

/** A command of the model's own is told by what it does to files; one that was asked for is told by its words. */
function runs({ commands }: Reaction): boolean {
  return commands.some(
    (command) =>
      !/^(?:mkdir|mv|cp|test|touch|rm|ls|pwd|date|cat|wc|git (?:status|log|diff|branch|show))\b/.test(command),
  );
}

function faultsIn(expect: Expectation, reaction: Reaction, before: State, after: State): string[] {
  const text = reaction.text.toLowerCase();
  const ran = reaction.commands.join("\n");
  return [
    ...differences(wantedState(expect, before, after), after),
    ...(expect.says ?? []).filter((part) => !text.includes(part.toLowerCase())).map((part) => `did not say ${part}`),
    ...(expect.silent ?? []).filter((part) => text.includes(part.toLowerCase())).map((part) => `said ${part}`),
    ...(expect.ran ?? []).filter((part) => !ran.includes(part)).map((part) => `did not run ${part}`),
    ...(expect.refused && !reaction.isError && !REFUSAL.test(reaction.text) ? ["answered"] : []),
    // What was asked for in words alone is not answered by a refusal.
    ...(reaction.isError && (expect.says ?? expect.ran) ? ["refused"] : []),
  ];
}
