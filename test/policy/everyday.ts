// A thousand commands as developers type them, and the rules that somebody who types them would have.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** `asked`: it is known to be asked about, because a rule of the policy says so. */
export type Everyday = { group: string; command: string; asked?: true };

const folder = import.meta.dirname;

/** `everyday-more.jsonl`: two hundred others, written after the policy was. */
export function everydayCommands(file = "everyday.jsonl"): Everyday[] {
  const lines = readFileSync(join(folder, file), "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Everyday);
}

/**
 * The lists of security-benign, with a `Shell(name)` for every other program of the commands, no option named, and
 * `Write(**)`, since redirects into the workspace need a Write rule.
 */
export function everydayRules(): { allow: string[]; deny: string[] } {
  const [first] = readFileSync(join(folder, "../cases/security-benign.jsonl"), "utf8").split("\n");
  const { allow, deny } = JSON.parse(first!).config as { allow: string[]; deny: string[] };
  const programs = JSON.parse(readFileSync(join(folder, "everyday-programs.json"), "utf8")) as string[];
  return { allow: [...allow, ...programs.map((name) => `Shell(${name})`), "Write(**)"], deny };
}
