// What grows with the work: many calls, edits and reads in one run, a long chat that is resumed, many runs at once, a large repository.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelAnswer, RecordedRequest } from "../../src/testing/kit/model-server.ts";
import { type OfferedTool, resultCount, type Schema, shellOf, toolsIn } from "./model.ts";

/** One call: the tools that can do it, by name, what their arguments are, and the command that does the same. */
type Step = { tool: RegExp; values: [name: RegExp, value: string | number][]; command: string };

const text = (name: RegExp, value: string | number): [RegExp, string | number] => [name, value];
const path = /^(?:file_?path|absolute_?path|target_?file|path|file)$/i;
const pattern = /^(?:pattern|glob_?pattern|query|regex)$/i;

const shell = (command: string): Step => ({ tool: /^$/, values: [], command });
const read = (file: string): Step => ({
  tool: /^(?:read|read_?file|view)$/i,
  values: [text(path, file)],
  command: `cat ${file}`,
});
const edit = (file: string, line: number): Step => ({
  tool: /^(?:edit|edit_?file|replace|str_?replace)$/i,
  values: [
    text(path, file),
    text(/^old(?:_?(?:string|str|text))?$/i, `line ${line} of the file`),
    text(/^new(?:_?(?:string|str|text))?$/i, `line ${line} as it is now`),
  ],
  command: `sed -i 's/line ${line} of the file/line ${line} as it is now/' ${file}`,
});
const search: Step[] = [
  {
    tool: /^(?:glob|find|glob_?file_?search)$/i,
    values: [text(pattern, "**/file76.md")],
    command: "rg --files -g file76.md",
  },
  {
    tool: /^(?:grep|search_?file_?content|grep_?search)$/i,
    values: [text(pattern, "v4999\\b")],
    command: "rg 'v4999\\b'",
  },
];

const times = (count: number, step: (index: number) => Step) =>
  Array.from({ length: count }, (_, index) => step(index));

/** By the name that stands in the prompt. `{file}` is the large file of the workspace. */
const workloads: Record<string, (file: string) => Step[]> = {
  ...Object.fromEntries(
    [1, 10, 100, 400].map((count) => [`calls${count}`, () => times(count, (index) => shell(`echo hi ${index}`))]),
  ),
  edits: (file) => [read(file), ...times(50, (index) => edit(file, index * 20))],
  reads: (file) => times(30, (index) => read(partOf(file, index))),
  large: () => [...search, shell("touch made-first"), shell("touch made-second")],
  again: () => [],
};

export const promptFor = (workload: string, file = "") => `Do workload:${workload}: with ${file || "the shell"}.`;

/** Undefined for a request that belongs to none of them. */
export function growthAnswer(request: RecordedRequest): ModelAnswer | undefined {
  const said = request.body.toString("utf8");
  const name = [...said.matchAll(/workload:(\w+): with ([^".]+\.txt|)/g)].at(-1);
  const steps = name && workloads[name[1]!]?.(name[2]!);
  if (!steps) return undefined;
  const step = steps[resultCount(request)];
  const offered = toolsIn(request.json);
  const call = step && offered.length > 0 ? callOf(step, offered) : undefined;
  return call ? { toolCalls: [call] } : { text: "done" };
}

function callOf(step: Step, offered: readonly OfferedTool[]): { name: string; args: unknown } | undefined {
  const named = offered.find(({ name, schema }) => step.tool.test(name) && schema?.properties !== undefined);
  if (named) return { name: named.name, args: filled(named.schema, step.values) };
  const runner = shellOf(offered);
  return (
    runner && {
      name: runner.name,
      args: filled(runner.schema, [text(/^(?:command|cmd|script|input|code)$/i, step.command)]),
    }
  );
}

/** What a schema asks for: the values by the names of its properties, and something for what else it requires. */
function filled(schema: Schema | undefined, values: Step["values"]): unknown {
  const entries = Object.entries(schema?.properties ?? {}).flatMap(([name, property]) => {
    const value = values.find(([wanted]) => wanted.test(name))?.[1];
    const isList = [property.type].flat()[0] === "array";
    if (value !== undefined) return [[name, isList ? ["bash", "-c", value] : value]];
    if (isList && property.items?.properties) return [[name, [filled(property.items, values)]]];
    if (!schema?.required?.includes(name)) return [];
    const kind = String([property.type].flat()[0]);
    return [
      [name, property.enum?.[0] ?? { boolean: false, number: 10_000, integer: 10_000, array: [] }[kind] ?? "do it"],
    ];
  });
  return Object.fromEntries(entries);
}

const partOf = (file: string, index: number) => file.replace(/large\.txt$/, `part-${index}.txt`);

/** 92 kB, in lines that an edit can name; and beside it files of 3 kB to be read. */
export function writeLargeFile(workspace: string): string {
  const file = join(workspace, "large.txt");
  const lines = Array.from({ length: 1000 }, (_, index) => `line ${index} of the file ${"x".repeat(70)}\n`);
  writeFileSync(file, lines.join(""));
  for (let index = 0; index < 30; index++)
    writeFileSync(partOf(file, index), lines.slice(index * 30, index * 30 + 30).join(""));
  return file;
}

/** 50,000 files in 500 directories, all of them tracked. */
export function makeLargeRepository(folder: string): void {
  for (let index = 0; index < 50_000; index++) {
    const directory = join(folder, `package${Math.floor(index / 1000)}/module${Math.floor(index / 100) % 10}`);
    if (index % 100 === 0) mkdirSync(directory, { recursive: true });
    const extension = ["ts", "md", "json", "js", "py"][index % 5];
    writeFileSync(join(directory, `file${index % 100}.${extension}`), `export const v${index} = ${index};\n`);
  }
  const git = (...args: string[]) =>
    spawnSync("git", ["-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args], { cwd: folder });
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    ["commit", "-qm", "files"],
  ])
    git(...args);
}
