// Scores the offline model with the 300 wordings: what was done, what was refused, what was done wrongly.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What a newcomer's folder holds. */
const project: Record<string, string> = {
  "notes.txt": "alpha\nbeta\ngamma\n",
  "todo.md": "# Todo\n\n- buy milk\n- call Anna\n",
  "package.json":
    '{\n  "name": "demo",\n  "version": "1.2.3",\n  "scripts": {\n    "test": "node test.js",\n    "build": "node build.js"\n  }\n}\n',
  "README.md": "# Demo\n\nA demo project.\n",
  "config.yaml": "port: 8080\nhost: localhost\n",
  "data.csv": "name,age\nAnn,31\nBob,27\n",
  "debug.log": "debug\n",
  "logs/old.log": "error: disk full\n",
  "src/app.js": "export function greet(name) {\n  // TODO: be polite\n  return 'Hello ' + name;\n}\n",
  "src/util.js": "export const add = (a, b) => a + b;\n",
  "test.js": "console.log('2 tests passed');\n",
  "build.js": "console.log('built');\n",
  "main.py": 'print("hi from python")\n',
  "größe.txt": "42 cm\n",
  "日本語.txt": "こんにちは\n",
  "my notes.txt": "spaced out\n",
};

export type Wording = { number: number; prompt: string; expected: string[] };

/** What came of one prompt. `commands`: what was run in a shell; `refused`: it ended as an error. */
export type Reaction = { text: string; commands: string[]; refused: boolean };

export type Score = { wording: Wording; verdict: "done" | "refused" | "wrong"; why: string };

export function wordings(): Wording[] {
  const all: Wording[] = [];
  for (const line of readFileSync(new URL("./wordings.txt", import.meta.url), "utf8").split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    if (/^\s/.test(line)) all.at(-1)!.expected.push(line.trim());
    else all.push({ number: all.length + 1, prompt: line, expected: [] });
  }
  return all;
}

export async function score(
  wording: Wording,
  react: (prompt: string, workspace: string) => Promise<Reaction>,
): Promise<Score> {
  const workspace = clean ?? newWorkspace();
  clean = undefined;
  const found = judge(wording, await react(wording.prompt, workspace), workspace);
  if (differences(workspace, project, []).length === 0) clean = workspace;
  else rmSync(dirname(workspace), { recursive: true, force: true });
  return found;
}

/** The workspace of the last wording, where it is as it was. */
let clean: string | undefined;

function newWorkspace(): string {
  const workspace = join(mkdtempSync(join(tmpdir(), "courser-wording-")), "workspace");
  for (const [path, text] of Object.entries(project)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  }
  return workspace;
}

export function removeWorkspace(): void {
  if (clean !== undefined) rmSync(dirname(clean), { recursive: true, force: true });
}

function judge(wording: Wording, reaction: Reaction, workspace: string): Score {
  const found = (why: string, verdict: Score["verdict"] = "wrong"): Score => ({ wording, verdict, why });
  const wanted: Record<string, string | undefined> = { ...project };
  const folders: string[] = [];
  let commands: string[] = [];
  const faults: string[] = [];
  const { text } = reaction;
  for (const line of wording.expected) {
    const [verb = "", rest = ""] = [line.split(" ", 1)[0], line.slice(line.indexOf(" ") + 1)];
    const [left = "", right = ""] = rest.split(/ (?:=|->) /);
    if (verb === "file") wanted[left] = right.replaceAll("\\n", "\n");
    else if (verb === "empty") wanted[rest] = "";
    else if (verb === "folder") folders.push(rest);
    else if (verb === "gone") {
      for (const path of Object.keys(wanted)) if (path === rest || path.startsWith(`${rest}/`)) delete wanted[path];
    } else if (verb === "moved" || verb === "copied") {
      wanted[right] = project[left];
      if (verb === "moved") delete wanted[left];
    } else if (verb === "runs") commands = rest.split(" | ");
    else if (verb === "says" && !text.toLowerCase().includes(rest.toLowerCase())) faults.push(`did not say ${rest}`);
    else if (verb === "silent" && text.includes(rest)) faults.push(`said ${rest}`);
    else if (!/^(?:says|silent|nothing)$/.test(verb)) throw new Error(`No such expectation: ${line}`);
  }
  const refusal = reaction.refused || /already exists|not found|could not|No files match|Nothing contains/i.test(text);
  const changed = differences(workspace, wanted, folders);
  const untouched = differences(workspace, project, []).length === 0;
  // A command of the model's own is told by what it does to files; one that was asked for is told by its words.
  const foreign = reaction.commands.filter((command) => !/^(?:mkdir|mv|cp|test|touch|rm|pwd|date)\b/.test(command));
  if (wording.expected[0] === "nothing") {
    if (!untouched || foreign.length > 0) return found(`changed or ran: ${changed} ${reaction.commands}`);
    return refusal ? found("refused, as it should", "done") : found(`answered: ${text}`);
  }
  if (changed.length === 0 && faults.length === 0) {
    const ran = reaction.commands.join(" && ");
    if (commands.length > 0 ? commands.includes(ran) : foreign.length === 0) return found("", "done");
  }
  if (untouched && foreign.length === 0 && refusal) return found(text.split("\n").slice(0, 2).join(" "), "refused");
  return found(`${[...changed, ...faults].join("; ")} | ran ${reaction.commands} | ${text}`);
}

function differences(workspace: string, wanted: Record<string, string | undefined>, folders: string[]): string[] {
  const there = readdirSync(workspace, { recursive: true, encoding: "utf8" });
  const files = there.filter((path) => statSync(join(workspace, path)).isFile());
  const faults = folders.filter((path) => !existsSync(join(workspace, path))).map((path) => `no folder ${path}`);
  for (const path of files) {
    const text = readFileSync(join(workspace, path), "utf8");
    if (wanted[path] === undefined) faults.push(`${path} is there`);
    else if (wanted[path].trimEnd() !== text.trimEnd()) faults.push(`${path} holds ${JSON.stringify(text)}`);
  }
  for (const path of Object.keys(wanted)) if (!files.includes(path)) faults.push(`${path} is not there`);
  const known = new Set(
    [...Object.keys(project), ...Object.keys(wanted), ...folders].flatMap((path) => parentsOf(path)),
  );
  for (const path of there) if (!files.includes(path) && !known.has(path)) faults.push(`the folder ${path} is there`);
  return faults;
}

function parentsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
