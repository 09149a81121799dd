// Writes docs/sdk/reference.md from the types of the SDK and from what its drivers make of each option. `npm run long -- reference`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CliInfo, DriverRequest } from "../src/sdk/drivers/driver.ts";
import { driverOf } from "../src/sdk/drivers/index.ts";
import { notLive } from "../src/sdk/option-checks.ts";
import type { UnifiedTool } from "../src/sdk/unified.ts";

const repository = join(import.meta.dirname, "..");
const page = join(repository, "docs/sdk/reference.md");

export async function main(): Promise<void> {
  writeFileSync(page, reference());
}

export function reference(): string {
  const options = members("sdk/start-options.ts", "StartOptions");
  const rows = driverRows();
  const isLimited = (cells: string[]) => cells.some((each) => /loss|refused/.test(each));
  return [
    "# Reference",
    "Generated from the types by `npm run long -- reference`. For usage, see [running](running.md) and [live sessions](live.md).",
    "An unknown option, or a value of the wrong type, is a `UserError` (`USAGE`), thrown or rejected.",
    "## Options of `start`",
    table(["option", "type", "meaning"], options.map(row)),
    "`session.send(prompt, options)` and `session.fork(prompt, options)` take the same, except `prompt`, `tool`, `cwd`, `resume`, `fork` and `executable`.",
    "## Options of `execute`",
    "Those of `start` without `keepEvents`, and these. `executeCursor(prompt, options)` and `executeCursorStreaming(prompt, options)` take them without `prompt` and `tool`.",
    table(
      ["option", "type", "meaning"],
      [
        row({ name: "sessionId?", type: "string", note: "Same as `resume`." }),
        ...members("sdk/execute.ts", "ExecuteCallbacks")
          .filter(({ name }) => name !== "onStart?")
          .map(row),
      ],
    ),
    "## Options of `openLive`",
    `Those of \`start\` without ${notLive.map(code).join(", ")}, and these.`,
    table(["option", "type", "meaning"], members("sdk/live/session.ts", "LiveOptions").map(row)),
    "## Options of `fleet(url, options)` and of its `run`",
    "From `courser-agent/fleet` ([fleets](fleet.md)). A request has the fields of a `RunRequest`, `pool`, `labels` and `priority`, and these.",
    table(["option", "type", "meaning"], members("serve/client/index.ts", "FleetOptions").map(row)),
    table(
      ["field", "type", "meaning"],
      [
        ...members("serve/client/index.ts", "FleetRequest"),
        ...members("serve/client/fleet-run.ts", "FollowOptions"),
      ].map(row),
    ),
    "## What each CLI makes of an option",
    "A flag or a setting; a *loss*, listed in `run.losses`; or *refused*, because ignoring it would be dangerous. A dash: no flag is needed. Permission modes: [how each is mapped](agents.md#permission-modes).",
    table(["option", ...columns.map(({ name }) => name)], rows.filter(isLimited)),
    `All of them take ${rows
      .filter((each) => !isLimited(each))
      .map(([option]) => option)
      .join(", ")}.`,
    "## The result",
    '`await run.result`: these, with `outcome: "success"` and `data`, or another outcome and `error`.',
    table(["field", "type", "meaning"], members("sdk/outcome.ts", "RunDetails").map(row)),
    "## Events",
    "Every event may also have `at`, its time in milliseconds. Calls (`tool_start`, `tool_end`) have a unified `name`, and `cliName` if their CLI uses another name. A field without a type is a string.",
    table(["`type`", "fields", "meaning"], events()),
    "`done` and `fail` also have:",
    table(["field", "type", "meaning"], members("protocol/event.ts", "Ending").map(row)),
    "## Types",
    "All types are exported. See also [`canUseTool` and `hooks`](permissions-and-tools.md), [outcomes](running.md#one-outcome).",
    `\`\`\`text\n${types.map(([file, name]) => declaration(file, name)).join("\n\n")}\n\`\`\``,
    "## Calls by name",
    "`isCall(event, name)` narrows an event to calls of one tool: `event.args` is then typed, and `event.outcome.value` by `event.outcome.kind`. Other tools have their own name, and `args` of type `unknown`. A field without a type is a string.",
    table(["`name`", "`args`"], calls()),
  ]
    .join("\n\n")
    .concat("\n");
}

const types: [file: string, name: string][] = [
  ["sdk/drivers/driver.ts", "PermissionMode"],
  ["sdk/drivers/driver.ts", "PermissionRules"],
  ["sdk/drivers/driver.ts", "McpServer"],
  ["sdk/drivers/driver.ts", "Budget"],
  ["protocol/event.ts", "Outcome"],
  ["protocol/event.ts", "Usage"],
  ["protocol/event.ts", "Denial"],
  ["sdk/outcome.ts", "RunDenial"],
];

/** As it is written, up to the end of the statement. */
function declaration(file: string, name: string): string {
  const text = source(file);
  const start = new RegExp(`^export type ${name}\\b`, "m").exec(text)?.index;
  if (start === undefined) throw new Error(`${file} has no ${name}`);
  const written = text.slice(start, start + memberEnd(text.slice(start)) + 1).replace(/^export /, "");
  const [, list] = /\(typeof (\w+)\)\[number\]/.exec(written) ?? [];
  if (list === undefined) return written;
  const [, values = ""] = new RegExp(`const ${list} = \\[(.*)\\] as const`).exec(text) ?? [];
  return `type ${name} = ${values.split(", ").join(" | ")};`;
}

type Member = { name: string; type: string; note: string };

function row({ name, type, note }: Member): string[] {
  return [code(name.replace(/\?$/, "")), code(type), note];
}

/** The members of a type that is written as one object, with their comments. */
function members(file: string, name: string): Member[] {
  const text = source(file);
  const start = new RegExp(`^(?:export )?(?:type|interface) ${name}\\b`, "m").exec(text);
  if (!start) throw new Error(`${file} has no ${name}`);
  const open = bodyStart(text, start.index);
  return splitMembers(text.slice(open + 1, closing(text, open)));
}

/** Behind type parameters and what it is made from: `type A<B = {}> = Pick<…> & {`. */
function bodyStart(text: string, from: number): number {
  const head = /(?:=|&|\binterface \w+) \{\n/g;
  head.lastIndex = from;
  const found = head.exec(text);
  if (!found) throw new Error("no body");
  return found.index + found[0].length - 2;
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "{") depth++;
    if (text[at] === "}" && --depth === 0) return at;
  }
  throw new Error("no end");
}

function splitMembers(body: string): Member[] {
  const found: Member[] = [];
  let note = "";
  let rest = body.trim();
  while (rest !== "") {
    const comment = /^\/\*\*([\s\S]*?)\*\/\s*/.exec(rest);
    if (comment) {
      note = oneLine(comment[1]!.replace(/^\s*\* ?/gm, " "));
      rest = rest.slice(comment[0].length);
      continue;
    }
    const end = memberEnd(rest);
    const member = oneLine(rest.slice(0, end));
    const [, name, type] = /^(?:readonly )?(\w+\??|\[\w+: \w+\])((?::|\().*)$/.exec(member) ?? [];
    if (!name || !type) throw new Error(`not a member: ${member}`);
    // A method is a function of that type.
    const spelled = type.startsWith(":") ? type.slice(1).trim() : type.replace(/\): ([^:]*)$/, ") => $1");
    found.push({ name, type: spelled.replace(/ \| undefined$/, "").replace(/^\((\(.*)\)$/, "$1"), note });
    note = "";
    rest = rest.slice(end + 1).trim();
  }
  return found;
}

function memberEnd(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if ("{([<".includes(text[at]!)) depth++;
    if ("})]".includes(text[at]!) || (text[at] === ">" && text[at - 1] !== "=")) depth--;
    if (text[at] === ";" && depth === 0) return at;
  }
  return text.length;
}

function events(): string[][] {
  const text = source("protocol/event.ts");
  const start = text.indexOf("export type AgentEventBody =");
  const body = text.slice(start, text.indexOf("\n\n", start));
  const rows: string[][] = [];
  let note = "";
  for (const part of body.split(/\n(?= {2}(?:\||\/\*\*))/).slice(1)) {
    const comment = /^\s*\/\*\*([\s\S]*?)\*\/$/.exec(part);
    if (comment) {
      note = oneLine(comment[1]!);
      continue;
    }
    const [, type] = /type: "(\w+)"/.exec(part) ?? [];
    const tail = /\/\/ (.*)$/.exec(part)?.[1] ?? "";
    const fields = oneLine(part.replace(/\/\*\*.*?\*\/|\/\/ .*$/gm, ""))
      .replace(/^\| \(?\{ type: "\w+";? ?|;? ?\}( & Ending\))?;?$/g, "")
      .split(/; (?![^{]*\})/)
      .map((field) => field.replace(/;$/, ""))
      .filter((field) => field !== "");
    rows.push([code(type!), fields.map(withoutString).map(code).join(", "), note || tail]);
    note = "";
  }
  return rows;
}

function calls(): string[][] {
  const names = new Map<string, string[]>();
  for (const { name, type } of members("sdk/run-event.ts", "CallShapes")) {
    const key = /"(\w+)"/.exec(type)![1]!;
    const shape = `${key[0]!.toUpperCase()}${key.slice(1)}Args`;
    names.set(shape, [...(names.get(shape) ?? []), code(name)]);
  }
  return [...names].map(([shape, all]) => [all.join(", "), fieldsOf(shape).map(withoutString).map(code).join(", ")]);
}

/** `path: string` as `path`. */
function withoutString(field: string): string {
  return field.replace(/: string$/, "");
}

function fieldsOf(shape: string): string[] {
  const text = source("protocol/tool-shapes.ts");
  const [, inline] = new RegExp(`^export type ${shape} = \\{(.*)\\};$`, "m").exec(text) ?? [];
  const list = inline === undefined ? members("protocol/tool-shapes.ts", shape) : splitMembers(inline);
  return list.map(({ name, type }) => `${name}: ${type}`);
}

const columns: { name: string; tool: UnifiedTool; cli: CliInfo }[] = [
  { name: "courser", tool: "cursor", cli: { path: "courser", isOurs: true } },
  { name: "the original cursor-agent", tool: "cursor", cli: { path: "cursor-agent", isOurs: false } },
  { name: "Claude Code", tool: "claude", cli: { path: "claude", isOurs: false } },
  { name: "Codex", tool: "codex", cli: { path: "codex", isOurs: false } },
  { name: "Gemini CLI", tool: "gemini", cli: { path: "gemini", isOurs: false } },
];

/** One that can be read: drivers refuse others. */
const picture = join(repository, "docs/pictures/studio-phone.png");

const given: Record<string, Partial<DriverRequest>> = {
  model: { model: "m" },
  "effort: 'high'": { effort: "high" },
  "mode: 'plan'": { mode: "plan" },
  "mode: 'ask'": { mode: "ask" },
  "permissions.allow": { permissions: { allow: ["Shell(git)"] } },
  "permissions.deny": { permissions: { deny: ["Shell(rm)"] } },
  "sandbox: true": { sandbox: true },
  "sandbox: false": { sandbox: false },
  trust: { trust: true },
  allowedTools: { allowedTools: ["Read"] },
  disallowedTools: { disallowedTools: ["Read"] },
  addDirs: { addDirs: ["/d"] },
  resume: { resume: "id" },
  "resume: true": { resume: true },
  fork: { resume: "id", fork: true },
  images: { images: [picture] },
  systemPrompt: { systemPrompt: "s" },
  appendSystemPrompt: { appendSystemPrompt: "s" },
  partial: { partial: true },
  "budget.turns": { budget: { turns: 3 } },
  "budget.costUsd": { budget: { costUsd: 1 } },
};

function driverRows(): string[][] {
  return Object.entries(given).map(([option, request]) => [
    code(option),
    ...columns.map((column) => cell(column, option, request)),
  ]);
}

function cell({ tool, cli }: (typeof columns)[0], option: string, more: Partial<DriverRequest>): string {
  const request = { prompt: "", cwd: "/", permissionMode: "default", partial: false } as const;
  try {
    const plain = driverOf(tool).command(request, cli);
    const made = driverOf(tool).command({ ...request, ...more }, cli);
    const before = [...plain.args];
    const words = made.args.flatMap((word, index) => {
      const at = before.indexOf(word);
      if (at >= 0) before.splice(at, 1);
      const flag = made.args[index - 1] ?? "";
      // A flag that is always there, with another value.
      const isValue = at < 0 && plain.args.includes(flag) && flag.startsWith("--") && !word.startsWith("-");
      return at >= 0 ? [] : isValue && flag === "--approval-mode" ? [flag, word] : [word];
    });
    const variables = Object.entries(made.env ?? {}).map(([key, value]) => `${key}=${value}`);
    const said = [...words, ...variables].join(" ").replaceAll(picture, "/i.png");
    const isLost = made.losses.some((loss) => loss.option === option.split(/[.:]/)[0]);
    const shown = [...(said === "" ? [] : [code(said)]), ...(isLost ? ["loss"] : [])];
    if (option === "permissions.deny" && driverOf(tool).deniesByHook) shown.push("a hook");
    return shown.join(", ") || (made.prompt === undefined ? "—" : "in the prompt");
  } catch {
    return "refused";
  }
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function source(file: string): string {
  return readFileSync(join(repository, "src", file), "utf8");
}
