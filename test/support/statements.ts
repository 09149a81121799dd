// What is documented of cursor-agent, statement by statement, each with the cases and tests that prove it here; and the page made of them.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { casesIn } from "./case.ts";
import { repository } from "./run-cli.ts";

export type Statement = {
  document: string;
  /** Its number, in the order of the document, and its title. */
  section: string;
  says: string;
  /** `sample: ID`, `command: FIRST LINE`, `case: ID`, or `FILE > TITLE` of a test. */
  by: readonly string[];
  /** Why it is otherwise here; undefined: it works as it is documented. */
  differs: string | undefined;
};

type Section = {
  document: string;
  section: string;
  statements: { says: string; by: string[]; differs?: string }[];
};

const golden = (name: string) => read(`cases/golden/${name}.json`);
const samples = golden("samples") as { id: string; deviations?: Record<string, string> }[];
const commands = golden("commands") as { lines: string[] }[];
const contract = read("adapter/turn-contract.json") as { section: string; about: string; tests: string[] }[];
const bridge = casesIn(join(repository, "test/cases/hooks-bridge.jsonl")).map(({ id }) => id);

export function statements(): Statement[] {
  const sections = golden("statements") as Section[];
  return [
    ...sections.flatMap(({ document, section, statements: all }) =>
      all.map(({ says, by, differs }) => ({ document, section, says, by, differs: differs ?? deviationsOf(by) })),
    ),
    ...contract.map(({ section, about, tests }) => ({
      document: "turn contract",
      section,
      says: `${about[0]!.toUpperCase()}${about.slice(1)}`,
      by: tests,
      differs: undefined,
    })),
  ];
}

/** A sample says of each field that is otherwise here why it is. */
function deviationsOf(by: readonly string[]): string | undefined {
  const found = by.flatMap((proof) => {
    const { deviations = {} } = samples.find(({ id }) => `sample: ${id}` === proof) ?? {};
    return Object.entries(deviations).map(([path, reason]) => `\`${path.split(".").at(-1)}\`: ${reason}`);
  });
  return found.length > 0 ? [...new Set(found)].join("; ") : undefined;
}

/** The proofs that are not there, or would not be run. */
export function missingProofs(all: readonly Statement[]): string[] {
  const known = new Set([
    ...samples.map(({ id }) => `sample: ${id}`),
    ...commands.map(({ lines }) => `command: ${lines[0]}`),
    ...bridge.map((id) => `case: ${id}`),
  ]);
  return all.flatMap(({ section, says, by }) => {
    const missing = by.filter((proof) => {
      const [file = "", title = ""] = proof.split(/ > (.*)/s);
      return !known.has(proof) && !titlesIn(file).includes(title);
    });
    return [...missing, ...(by.length === 0 ? ["no proof"] : [])].map((proof) => `${section}: ${says}: ${proof}`);
  });
}

/** Samples and commands that no statement is proved by: they prove one that nobody wrote down. */
export function idleCases(all: readonly Statement[]): string[] {
  const used = new Set(all.flatMap(({ by }) => by));
  return [...samples.map(({ id }) => `sample: ${id}`), ...commands.map(({ lines }) => `command: ${lines[0]}`)].filter(
    (proof) => !used.has(proof),
  );
}

/** The tests, by the file that runs them. */
export function provingFile(proof: string): string {
  if (proof.startsWith("sample: ")) return "cli/golden.test.ts";
  if (proof.startsWith("command: ")) return "cli/document-commands.test.ts";
  return proof.startsWith("case: ") ? "cases.test.ts" : proof.split(" > ")[0]!;
}

export function compatibilityTables(all: readonly Statement[]): string {
  const differing = all.filter(({ differs }) => differs !== undefined).length;
  const count = `${all.length} statements: ${all.length - differing} work, ${differing} differ for the reason that stands beside them.`;
  return [count, ...[...new Set(all.map(({ document }) => document))].map((name) => partOf(name, all))].join("\n\n");
}

/** The statements of one document: what differs as a table, what works as a line for each section. */
function partOf(name: string, all: readonly Statement[]): string {
  const listed = all.filter(({ document }) => document === name);
  // Statements of a section with the same reason share a row.
  const differing = new Map<string, string[]>();
  for (const { section, says, differs } of listed) {
    if (differs === undefined) continue;
    const key = `${section}\n${differs}`;
    differing.set(key, [...(differing.get(key) ?? []), says]);
  }
  const rows = [...differing].map(([key, said]) => {
    const [section = "", reason = ""] = key.split("\n");
    return `| ${[section, said.join(" · "), reason].map(cell).join(" | ")} |`;
  });
  const lines = [...new Set(listed.map(({ section }) => section))].flatMap((section) => {
    const working = listed.filter((each) => each.section === section && each.differs === undefined);
    const said = working.map(({ says }) => says).filter((says) => !section.toLowerCase().endsWith(says.toLowerCase()));
    return working.length === 0 ? [] : `- ${[section, ...(said.length > 0 ? [said.join(" · ")] : [])].join(": ")}`;
  });
  const table = ["| section | statement | here |", "| --- | --- | --- |", ...rows].join("\n");
  return [`### The ${name}`, ...(rows.length > 0 ? ["Differs:", table] : []), "Works:", lines.join("\n")].join("\n\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

const titles = new Map<string, string[]>();

/** Titles as the source spells them; those of tests that are always skipped are ignored. */
export function titlesIn(file: string): string[] {
  const found = titles.get(file);
  if (found) return found;
  const path = join(repository, "test", file);
  const source = existsSync(path) ? readFileSync(path, "utf8") : "";
  // `test("…"`, `test.each(…)("…"`, `it(…`: the title is the first text after the opening of the last call.
  const calls = source.matchAll(
    /(?:^|\s)(?:test|it)(?:\.concurrent)?(?:\.skipIf\([^\n]*?\))?(?:\.each\(\w+\)|\.each\([\s\S]*?\]\))?\(\s*"((?:[^"\\]|\\.)*)"/g,
  );
  const all = [...calls].map(([, title]) => JSON.parse(`"${title}"`) as string);
  titles.set(file, all);
  return all;
}

function read(path: string): unknown {
  return JSON.parse(readFileSync(join(repository, "test", path), "utf8"));
}
