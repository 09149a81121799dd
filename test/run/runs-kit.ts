// Whole runs in this process, written down: what is shown, what the model is sent, what people are asked, and what is said beside it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ModelRequest } from "../../src/model/provider.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { Answer, LiveRun, Prompt, Question, RunRequest } from "../../src/protocol/run.ts";
import { Waiting } from "../../src/protocol/waiting.ts";
import type { RunHost } from "../../src/run/host.ts";
import { openRun } from "../../src/run/live-run.ts";
import { projectSlug } from "../../src/store/project.ts";
import { follow } from "./run-support.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-runs-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

type Event<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

/** ~ in what is given and in what is seen is the home; ~/work is the project. */
export type Scenario = {
  script: unknown;
  /** Files below the home; a value that is no text is JSON. */
  files?: Record<string, unknown>;
  request?: Partial<RunRequest>;
  host?: Partial<RunHost>;
  env?: Record<string, string>;
  /** Answers to questions, in their order; no person is there without. */
  answers?: Answer[];
  /** What is sent; or what is done with the run. */
  prompts?: (string | Prompt)[];
  act?(run: LiveRun, tools: Acting): Promise<unknown>;
  /** What is looked at when the run is over. */
  after?(home: string): unknown;
  /** The home of an earlier scenario, to go on there. */
  in?: string;
};
type Acting = { home: string; until: ReturnType<typeof follow>["until"]; say(line: string): void };

const temporary = tmpdir().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const homes = new Map<string, string>();
let usualSystem: string[] = [];
const usualTools = "LS Read Write Edit Delete Glob Grep SemanticSearch Shell Await TodoWrite WebFetch WebSearch Task";

async function played(
  title: string,
  { script, files = {}, request = {}, env = {}, ...more }: Scenario,
  number: number,
): Promise<string[]> {
  const home = homes.get(more.in ?? title) ?? join(base, `home-${homes.size}`);
  homes.set(title, home);
  const own = <Value>(value: Value): Value =>
    JSON.parse(JSON.stringify(value).replace(/(?<=")~\//g, `${home}/`)) as Value;
  for (const [name, content] of Object.entries({ "work/a.txt": "a\n", ...own(files) })) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  const scriptFile = join(home, "script.json");
  writeFileSync(scriptFile, JSON.stringify(own(script)));
  const lines: string[] = [];
  let ids = more.in === undefined ? 0 : 1000 * number;
  let time = Date.UTC(2026, 0, 2);
  const say = (line: string) => void lines.push(line);
  const waiting = new Waiting();
  waiting.watch(({ kind, name }) => {
    if (kind !== "model" && kind !== "tool") say(`waited for ${kind} ${name}`);
  });
  const { answers } = more;
  const host: RunHost = {
    program: "courser",
    version: "1",
    env: { PATH: process.env["PATH"], HOME: home, SHELL: "/bin/sh", ...own(env) },
    waiting,
    ...(answers && {
      human: {
        async ask(question: Question) {
          const { id: _id, hash: _hash, ...body } = question;
          say(`asked ${JSON.stringify({ ...body, ...(body.type === "permission" && { args: undefined }) })}`);
          return answers.shift() ?? { type: "no" };
        },
      },
    }),
    deliver: ({ text, structured }) => say(`delivered ${JSON.stringify({ text, structured })}`),
    learnSecrets: (values) => values.length > 0 && say(`secrets ${JSON.stringify(values)}`),
    warn: (message) => say(`said by the host: ${message}`),
    ...more.host,
    ...(more.host?.log !== undefined && { log: own(more.host.log) }),
    seams: {
      now: () => time++,
      newId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`,
      wrapProvider: (provider, model) => ({
        ...provider,
        stream(asked) {
          for (const line of requestLines(asked, model.displayName, home)) say(line);
          return provider.stream(asked);
        },
      }),
      ...more.host?.seams,
    },
  };
  try {
    const run = await openRun(
      own({ workspace: "~/work", force: true, model: `script:${scriptFile}`, ...request }),
      host,
    );
    const seen = follow(run);
    const watched = (async () => {
      for await (const { event, agent } of run.events()) {
        const line = eventLine(event);
        if (line !== "") say(`${agent === undefined ? "" : "subagent: "}${line}`);
      }
    })();
    const tools = { home, until: seen.until, say };
    if (more.act) await more.act(run, tools);
    for (const prompt of own(more.prompts ?? (more.act ? [] : ["go"])))
      await run.send(typeof prompt === "string" ? { text: prompt } : prompt).ending;
    await run.close();
    await Promise.all([watched, seen.followed]);
  } catch (error) {
    say(`${(error as { code?: string }).code ?? (error as Error).name}: ${(error as Error).message}`);
  }
  if (more.after) say(`afterwards: ${JSON.stringify(await more.after(home))}`);
  return [
    title,
    ...sorted(lines)
      .filter((line) => line !== "")
      .map((line) => `  ${plain(line, home)}`),
  ];
}

/** What the model is sent: its tools, how its system prompt begins the lines that the first run's has not, and the last messages. */
function requestLines(
  { system, tools, messages, purpose, effort }: ModelRequest,
  name: string,
  home: string,
): string[] {
  const own = system.split("\n").map((line) => plain(line, home));
  if (usualSystem.length === 0) usualSystem = own;
  const added = own.filter((line) => !usualSystem.includes(line)).map((line) => line.slice(0, 70));
  const missing = usualSystem.filter((line) => !own.includes(line)).length;
  const last = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  const parts = last.flatMap(({ role, parts }) => parts.map((part) => `${role} ${JSON.stringify(part)}`));
  const names = tools.map((tool) => tool.name).join(" ");
  return [
    `model ${name}${purpose ? ` for ${purpose}` : ""}${effort ? ` with effort ${effort}` : ""}: ${messages.length} messages`,
    ...(names === usualTools ? [] : [`  tools ${names}`]),
    ...(added.length + missing > 0 ? [`  prompt ${JSON.stringify(added)}, without ${missing} lines`] : []),
    ...parts.map((part) => `  ${part}`),
  ];
}

function eventLine(event: AgentEvent): string {
  const shown = {
    ...event,
    at: undefined,
    waitedMs: undefined,
    durationMs: undefined,
    apiDurationMs: undefined,
  } as Record<string, unknown>;
  for (const name of ["modelCallId", "requestId", "startedAt", "policyHash"])
    if (shown[name] !== undefined) shown[name] = "…";
  if (["text", "thinking", "tool_output"].includes(event.type)) return "";
  if (event.type === "ask" || event.type === "answer") return `${event.type} ${event.kind}`;
  const { args } = event as { args?: Record<string, unknown> };
  if (typeof args?.["command"] === "string") shown["args"] = { command: args["command"] };
  if (event.type === "tool_end") {
    const { outcome, callId, tool } = event as Event<"tool_end">;
    return `tool_end ${JSON.stringify({ callId, tool, outcome })}`;
  }
  return `${event.type} ${JSON.stringify({ ...shown, type: undefined })}`;
}

/** What readers are told and what happens meanwhile are not in one order: the lines of each kind are. */
function sorted(lines: string[]): string[] {
  const isEvent = (line: string) => /^(subagent: )?[a-z_]+ \{/.test(line) && !/^(asked|delivered) /.test(line);
  const events = lines.filter(isEvent);
  return [...events, ...lines.filter((line) => !isEvent(line))];
}

function plain(text: string, home: string): string {
  return text
    .replaceAll(home, "~")
    .replaceAll(projectSlug(home), "HOME")
    .replace(new RegExp(`(${temporary}|/tmp)/[\\w./-]+`, "g"), "TEMPORARY")
    .replace(/"(executionTime|localExecutionTimeMs|pid|waitedMs|durationMs)":\d+/g, '"$1":0')
    .replace(/\b1\d{12}\b/g, "TIME")
    .replace(/"durationMs":"\d+"|\(pid \d+\)|Version: [\d.]+|"elapsed\w*":\d+/g, "…")
    .replaceAll("\n", "⏎")
    .replace(
      /,?"usage":\{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0,"totalCost":0\}/g,
      "",
    )
    .replace(/\b[0-9a-f]{64}\b/g, "HASH")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-(?!0000)[0-9a-f]{12}\b/g, "UUID");
}

/**
 * One test for each run, which is compared with its rows in the table. Without the table all of them are played, and it is written.
 * A run that goes on where another ended plays that one first, so that any test can be run alone.
 */
export function testRuns(file: string, scenarios: Readonly<Record<string, Scenario>>): void {
  const table = existsSync(file) ? rowsIn(readFileSync(file, "utf8")) : undefined;
  const rows: string[] = [];
  const known = new Map<string, Promise<string[]>>();
  const rowsOf = (title: string): Promise<string[]> => {
    if (!known.has(title)) known.set(title, play(title));
    return known.get(title)!;
  };
  const play = async (title: string) => {
    const scenario = scenarios[title]!;
    if (scenario.in !== undefined) await rowsOf(before(title, scenario.in));
    return played(title, scenario, Object.keys(scenarios).indexOf(title));
  };
  /** The last run before this one in the same home. */
  const before = (title: string, home: string): string => {
    const titles = Object.keys(scenarios);
    return titles.slice(0, titles.indexOf(title)).findLast((each) => each === home || scenarios[each]!.in === home)!;
  };
  beforeAll(() => played("usual", { script: [{ text: "Hi." }] }, 0)); // what others differ from
  it.each(Object.keys(scenarios))("%s", async (title) => {
    const found = await rowsOf(title);
    rows.push(...found);
    if (table) expect(found).toEqual(table.get(title));
  });
  afterAll(() => {
    if (!table) writeFileSync(file, `${rows.join("\n")}\n`);
  });
}

function rowsIn(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let rows: string[] = [];
  for (const line of text.trimEnd().split("\n")) {
    if (!line.startsWith("  ")) found.set(line, (rows = []));
    rows.push(line);
  }
  return found;
}
