// What is known about programs, option by option: each line of tables/*.txt is a command that gets one answer.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decide, type Situation } from "../../src/policy/decide.ts";
import { type Fixture, rulesOf, situationOf } from "./fixture.ts";

type Given = { mode?: Situation["mode"]; allow?: string[]; deny?: string[] };
type Table = { file: string; what: string; verdict: string; given: (command: string) => Given };

/** The program of the line and a few others may run, and write in the workspace. */
const listed = (command: string): Given => ({
  allow: [command.split(" ")[0]!, "ls"].map((name) => `Shell(${name})`).concat("Write(**)"),
});
const everyProgram = (command: string): Given => ({
  allow: [...new Set(command.match(/[A-Za-z\d][\w+-]*/g))].map((name) => `Shell(${name})`),
});
const writingHere = (command: string): Given => ({ allow: [...everyProgram(command).allow!, "Write(**)"] });
const forced = (): Given => ({ mode: "force" });
const denying = (): Given => ({ mode: "force", deny: ["Shell(zap)"] });
const keepingSecrets = (command: string): Given => ({ ...everyProgram(command), deny: ["Read(.env)"] });
const keepingFile = (): Given => ({ mode: "force", deny: ["Write(kept)"] });
const readingNoSecrets = (): Given => ({ mode: "force", deny: ["Read(.env*)"] });

export const tables: readonly Table[] = [
  { file: "asked", what: "options that do more than the rule says", verdict: "ask", given: listed },
  { file: "allowed", what: "ordinary options", verdict: "allow", given: listed },
  { file: "outside", what: "options that write outside", verdict: "ask", given: writingHere },
  { file: "purposes", what: "writing what the program is for", verdict: "allow", given: everyProgram },
  { file: "side-outputs", what: "writing beside it without a Write rule", verdict: "ask", given: everyProgram },
  { file: "protected", what: "writing protected paths", verdict: "ask", given: forced },
  { file: "unprotected", what: "only naming them", verdict: "allow", given: forced },
  { file: "kept", what: "taking folders of the machine or a home as a whole", verdict: "deny", given: forced },
  { file: "not-kept", what: "ordinary work beside them", verdict: "allow", given: forced },
  { file: "denied", what: "running what is denied", verdict: "deny", given: denying },
  { file: "unseen", what: "what deny rules cannot be compared with", verdict: "ask", given: denying },
  { file: "seen", what: "what they can", verdict: "allow", given: denying },
  { file: "reads", what: "reading what is denied", verdict: "deny", given: keepingSecrets },
  { file: "unread", what: "naming it without reading", verdict: "allow", given: readingNoSecrets },
  { file: "unsure", what: "reading what only the shell knows", verdict: "ask", given: readingNoSecrets },
  { file: "writes", what: "writing what is denied", verdict: "deny", given: keepingFile },
  { file: "unwritten", what: "naming it without writing", verdict: "allow", given: keepingFile },
  { file: "names", what: "words that are not options", verdict: "allow", given: everyProgram },
  { file: "not-names", what: "words that may be options", verdict: "ask", given: everyProgram },
];

export function linesOf({ file }: Table): string[] {
  return readFileSync(join(import.meta.dirname, "tables", `${file}.txt`), "utf8")
    .split("\n")
    .filter(Boolean);
}

/** What is wrong with the answer to a line; undefined when it is the right one. */
export async function wrongLine(fixture: Fixture, table: Table, command: string): Promise<string | undefined> {
  const { mode = "default", ...lists } = table.given(command);
  const situation = situationOf(fixture, { mode, rules: rulesOf(lists) });
  const { verdict } = await decide([{ kind: "Shell", target: command }], situation);
  return verdict === table.verdict ? undefined : `${verdict}: ${command}`;
}
