// Calls in the shapes of older versions.
import { expect, test } from "vitest";
import { describeCommand } from "../../src/policy/parse/shell.ts";
import type { AgentEvent, Outcome } from "../../src/protocol/event.ts";
import { inProfile } from "../../src/protocol/profile-shapes.ts";
import { type ProfileName, profileNames, profileOf } from "../../src/protocol/profiles.ts";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { createWorkspace } from "../support/run-cli.ts";

const command = `run plain 'raw' "quoted" $'ansi' 12 $NAME \${NAME} $(date) a"b" > out.txt`;
const start = {
  type: "tool_start",
  callId: "1",
  tool: "shell",
  args: { command, ...describeCommand(command) },
  modelCallId: "m",
  startedAt: 1,
  at: 1,
} as AgentEvent;

const ended = (tool: string, outcome: Outcome) =>
  ({
    type: "tool_end",
    callId: "1",
    tool,
    args: {},
    modelCallId: "m",
    startedAt: 1,
    endedAt: 2,
    at: 2,
    outcome,
  }) as AgentEvent;

const outcomeIn = (name: ProfileName, tool: string, outcome: Outcome): Outcome =>
  (inProfile(ended(tool, outcome), profileOf(name)) as any).outcome;

test.each([
  ["2025", "- \n+ Hello World", "- hello\n+ -- a/hi"],
  ["2026-02", "-\n+Hello World", "-hello\n+-- a/hi"],
] as const)("diffs are changed lines in the profile %s", (name, created, edited) => {
  const header = "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n";
  const made = { linesRemoved: 0, diffString: `${header}+Hello World\n` };
  expect(outcomeIn(name, "edit", { kind: "success", value: made }).value).toEqual({
    linesRemoved: 1,
    diffString: created,
  });
  const changed = { linesRemoved: 1, diffString: `${header}-hello\n+-- a/hi\n`, beforeFullFileContent: "one\nhello\n" };
  expect(outcomeIn(name, "edit", { kind: "success", value: changed }).value).toMatchObject({
    linesRemoved: 1,
    diffString: edited,
  });
});

test("COURSER_COMPAT=2025 shows a failed command as a success with its exit code and only the older fields", () => {
  const value = { command: "exit 3", exitCode: 3, stdout: "", interleavedOutput: "", pid: 1, outputLocation: {} };
  const outcome = outcomeIn("2025", "shell", { kind: "failure", value, siblings: { isBackground: false } });
  expect(outcome).toEqual({ kind: "success", value: { command: "exit 3", exitCode: 3, stdout: "" } });
  const { parsingResult, ...args } = (inProfile(start, profileOf("2025")) as any).args;
  expect(Object.keys(args)).toEqual(["command", "simpleCommands", "hasInputRedirect", "hasOutputRedirect"]);
  expect(parsingResult).not.toHaveProperty("redirects");
});

const wordTypes = (event: AgentEvent | undefined) =>
  (event as any).args.parsingResult.executableCommands.flatMap(({ args }: any) => args.map(({ type }: any) => type));

test.each(profileNames)("in the profile %s, words of a command have the types word, string and number", (name) => {
  expect(wordTypes(inProfile(start, profileOf(name)))).toEqual(
    "word string string string number word word word word".split(" "),
  );
});

test("an older stream profile leaves out values and list items that are not commands", () => {
  const then = (parsingResult: object) =>
    inProfile({ ...start, args: { command: "ls", parsingResult } } as never, profileOf("2025"));
  const commandsOf = (event: any) => event.args.parsingResult.executableCommands;
  expect(commandsOf(then({ executableCommands: "ls" }))).toEqual([]);
  expect(
    commandsOf(then({ executableCommands: [null, { name: "ls", args: [7, { type: "unheard", value: "a" }] }] })),
  ).toEqual([{ name: "ls", args: [{ type: "word", value: "a" }] }]);
});

test("the current stream profile names words of a command like a syntax tree", () => {
  expect(wordTypes(inProfile(start, profileOf(undefined)))).toEqual(
    "word raw_string string ansi_c_string number simple_expansion expansion command_substitution concatenation".split(
      " ",
    ),
  );
});

test.each(profileNames)(
  "COURSER_COMPAT=%s: what the built program writes has the shapes and lines of its time",
  async (name) => {
    const call = { id: "a", name: "Shell", args: { command: "echo 'a b' $(true); exit 3" } };
    const answers = [{ toolCalls: [call] }, { status: 529 }, { text: "done" }];
    await using server = await modelServer([...answers, ...answers]);
    using place = createWorkspace();
    const flags = ["-p", "--force", "--output-format", "stream-json", "-e", `${server.url}/v1`, "--model", "m"];
    const now = (await place.run([...flags, "hi"])).lines();
    const then = (await place.run([...flags, "hi"], { env: { COURSER_COMPAT: name } })).lines();
    const kinds = (lines: object[]) => lines.map(({ type }: any) => type);
    expect(kinds(now)).toContain("retry");
    expect(kinds(then)).toEqual(kinds(now).filter((kind) => kind !== "retry"));
    expect(JSON.stringify(now)).toContain('"raw_string"');
    expect(JSON.stringify(then)).not.toMatch(/raw_string|command_substitution/);
    const { result } = (then.find(({ subtype }: any) => subtype === "completed") as any).tool_call.shellToolCall;
    expect(Object.keys(result)[0]).toBe(name === "2025" ? "success" : "failure");
  },
);
