// The documented types: every one is exported under its name, and what is typed by them fits ours.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { typeFaults } from "../support/doc-scripts.ts";

const shapes = readFileSync(join(import.meta.dirname, "documented-types.ts"), "utf8");
const written = [...shapes.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name!);
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

/** As they are documented. */
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

it("every documented type and function is exported with its documented signature", () => {
  const types = `import type { ${[...written, ...named].join(", ")} } from "courser-agent";`;
  const used = `export type All = [${[...written, ...named].join(", ")}];`;
  const values = `import { ${functions.join(", ")} } from "courser-agent"; console.log(${functions.join(", ")});`;
  const signed = `import * as Sdk from "courser-agent";${signatures}`;
  const fits = written.map((name) => `export const of${name} = (theirs: Documented.${name}): Ours.${name} => theirs;`);
  const laid = `import type * as Ours from "courser-agent";\nnamespace Documented {\n${shapes}\n}\n${fits.join("\n")}`;
  // What is wrong is seen: a name that is not there, and a type that does not fit.
  const missing = 'import type { NoSuchType } from "courser-agent";';
  const unfit =
    'import type { FileNode } from "courser-agent";\nexport const of = (theirs: { name: number }): FileNode => theirs;';
  const faults = typeFaults([`${types}\n${used}\n${values}`, signed, laid, missing, unfit].map(example));
  expect(faults.match(/error TS.*/g)).toEqual([
    expect.stringContaining("NoSuchType"),
    expect.stringContaining("not assignable to type 'FileNode'"),
  ]);
  expect(written).toHaveLength(44);
});
