// The types of the documents: every one is exported under its name, and what is typed by the documents fits ours.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readBlocks } from "../support/doc-examples.ts";
import { typeFaults } from "../support/doc-scripts.ts";
import { repository } from "../support/run-cli.ts";

/** Types that the documents write out, and those that their functions name. */
const written = [
  ..."System User Assistant ToolCall Result".split(" ").map((name) => `Cursor${name}Event`),
  ..."Read Edit Shell Ls Grep".split(" ").map((name) => `${name}ToolCall`),
  ..."Ls Read Edit Glob Grep Shell UpdateTodos ListMcpResources Delete WebFetch SemSearch Mcp"
    .split(" ")
    .flatMap((name) => [`${name}ToolCallArgs`, `${name}ToolCallResult`]),
  ..."DirectoryNode FileNode WorkspaceResult FileMatch LineMatch ExecutableCommand CommandArg".split(" "),
  ..."TodoItem McpResource McpContent".split(" "),
];
const named = ["CursorEvent", "UnifiedMessage", "UnifiedToolUse", "CursorExecuteResult"];

const functions = [
  "executeCursor",
  "executeCursorStreaming",
  "loadCursorSession",
  "parseCursorEvent",
  "normalizeToolName",
  "extractToolArgs",
  "extractToolResult",
  "hasError",
];

/** As the documents declare them. */
const signatures = `
type Callbacks = { onMessage?: (message: Sdk.UnifiedMessage) => void; onToolUse?: (toolUse: Sdk.UnifiedToolUse) => void; onComplete?: () => void };
type Options = { cwd?: string; sessionId?: string; permissionMode?: "default" | "force"; model?: string } & Callbacks;
export const executed: (prompt: string, options: Options) => Promise<Sdk.CursorExecuteResult> = Sdk.executeCursor;
type Tokens = { onToken?: (token: string, timestamp: number) => void };
export const streamed: (prompt: string, options: Options & Tokens) => Promise<Sdk.CursorExecuteResult> = Sdk.executeCursorStreaming;
export const loaded: (sessionId: string, options: { cwd?: string }) => Promise<Sdk.UnifiedMessage[]> = Sdk.loadCursorSession;
export const parsed: (line: string) => Sdk.UnifiedMessage | null = Sdk.parseCursorEvent;
export const named: (toolCall: any) => string = Sdk.normalizeToolName;
export const given: (toolCall: any) => any = Sdk.extractToolArgs;
export const answered: (toolCall: any) => string = Sdk.extractToolResult;
export const failed: (toolCall: any) => boolean = Sdk.hasError;
export const modes: Sdk.PermissionMode[] = ["default", "acceptEdits", "force", "bypassPermissions"];
export const detected: () => Promise<unknown> = Sdk.detectCursorCli;
`;

const example = (text: string) => ({
  file: "types",
  line: 0,
  language: "ts",
  name: "",
  text,
  mark: "",
  after: undefined,
});

it("every type and function is exported under its name", () => {
  const types = `import type { ${[...written, ...named].join(", ")} } from "courser-agent";`;
  const used = `export type All = [${[...written, ...named].join(", ")}];`;
  const values = `import { ${functions.join(", ")} } from "courser-agent"; console.log(${functions.join(", ")});`;
  // A name that is not there is seen: it is the only one.
  const missing = 'import type { NoSuchType } from "courser-agent";';
  const signed = `import * as Sdk from "courser-agent";${signatures}`;
  const faults = typeFaults([example(`${types}\n${used}\n${values}`), example(signed), example(missing)]);
  expect(faults.match(/error TS.*/g)).toEqual([expect.stringContaining("NoSuchType")]);
});

const seeds = join(repository, "../shared/seeds");
const here = existsSync(seeds);

describe(`the documents${here ? "" : " (skipped: they are not here)"}`, () => {
  const blocks = here
    ? readdirSync(seeds)
        .filter((name) => /^00[03]/.test(name))
        .flatMap((name) => readBlocks(name, readFileSync(join(seeds, name), "utf8")))
        .filter((block) => block.language === "typescript")
    : [];
  const source = blocks.map((block) => block.text).join("\n");
  const names = [...source.matchAll(/^interface (\w+)/gm)].map(([, name]) => name!);

  it.skipIf(!here)("write out no type that is not in the list, and name none that is not exported", () => {
    expect([...new Set(names)].sort()).toEqual([...written].sort());
    const spoken = [...source.matchAll(/\b(?:Unified|Cursor)[A-Z]\w+/g)].map(([name]) => name);
    expect([...new Set(spoken)].filter((name) => ![...written, ...named].includes(name))).toEqual([]);
    const called = [...source.matchAll(/function (\w+)/g)].map(([, name]) => name!);
    expect([...new Set(called)].sort()).toEqual([...functions].sort());
  });

  it.skipIf(!here)("what is typed by them can be handed to whoever takes ours", () => {
    const interfaces = blocks
      .flatMap((block) => block.text.match(/^interface \w+ \{[\s\S]*?^\}/gm) ?? [])
      .map((text) => `export ${text}`)
      .join("\n");
    const checks = names.map((name) => `export const of${name} = (theirs: Seed.${name}): Ours.${name} => theirs;`);
    const text = `import type * as Ours from "courser-agent";\nnamespace Seed {\n${interfaces}\n}\n${checks.join("\n")}`;
    expect(typeFaults([example(text)])).toBe("");
  });
});
