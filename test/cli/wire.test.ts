// The lines of the stream as clients of the original read them: which keys stand where, and in which order lines come.
import { afterAll, describe, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

const workspaces: Workspace[] = [];
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

function workspace(): Workspace {
  const made = createWorkspace({ "notes.txt": "alpha\nbeta\n" });
  workspaces.push(made);
  return made;
}

const together = [
  {
    text: "Looking. ",
    calls: [
      { name: "Read", args: { path: "notes.txt" } },
      { name: "Shell", args: { command: "wc -l notes.txt", description: "Count lines" } },
      { name: "Glob", args: { pattern: "*.txt" } },
      { name: "Write", args: { path: "count.txt", content: "2\n" } },
    ],
  },
  { text: "Two lines." },
];

type Line = Record<string, any>;
const calls = (lines: Line[], subtype: string): Line[] =>
  lines.filter((line) => line["type"] === "tool_call" && line["subtype"] === subtype);

describe("the stream", () => {
  it("around a tool call the stream has the keys of captured streams", async () => {
    const run = await workspace().play(together);
    const lines = run.lines();
    const [read, shell, glob] = calls(lines, "started").map((line) => line["tool_call"]);
    expect(Object.keys(read)).toEqual(["readToolCall", "hookAdditionalContexts", "toolCallId", "startedAtMs"]);
    expect(read.hookAdditionalContexts).toEqual([]);
    expect(Object.keys(shell.shellToolCall)).toEqual(["args", "description"]);
    expect(shell.shellToolCall.description).toBe("Count lines");
    expect(glob.globToolCall.args).toEqual({ globPattern: "*.txt" });
    const ended = calls(lines, "completed").map((line) => line["tool_call"]);
    const [readEnd, shellEnd] = ["readToolCall", "shellToolCall"].map((key) => ended.find((call) => key in call)!);
    expect(Object.keys(readEnd)).toEqual([
      "readToolCall",
      "hookAdditionalContexts",
      "toolCallId",
      "startedAtMs",
      "completedAtMs",
    ]);
    expect(readEnd.readToolCall.result.success).toMatchObject({ relatedCursorRulePaths: [], relatedCursorRules: [] });
    expect(Object.keys(shellEnd.shellToolCall)).toEqual(["args", "result", "description"]);
  });

  it("the stream shows all calls of a reply as started before the first one ends", async () => {
    const subtypes = (await workspace().play(together))
      .lines()
      .filter(({ type }) => type === "tool_call")
      .map(({ subtype }) => subtype);
    expect(subtypes).toEqual([...Array(4).fill("started"), ...Array(4).fill("completed")]);
  });

  it.each([[[]], [["--stream-partial-output"]]])(
    "the stream marks deltas and whole segments by timestamp_ms, with %j",
    async (flags) => {
      const said = (await workspace().play(together, flags)).lines().filter(({ type }) => type === "assistant");
      const flushes = said.filter((line) => "model_call_id" in line || !("timestamp_ms" in line));
      const form = (line: Line) => [line["message"].content[0].text, Object.keys(line).slice(3)];
      expect(flushes.map(form)).toEqual([
        ["Looking. ", ["model_call_id", "timestamp_ms"]],
        ["Two lines.", []],
      ]);
    },
  );

  it("COURSER_COMPAT=2025 leaves out newer fields of the stream", async () => {
    const run = await workspace().play(together, [], { env: { COURSER_COMPAT: "2025" } });
    const lines = run.lines();
    for (const line of lines.filter(({ type }) => type === "assistant"))
      expect(line).not.toHaveProperty("timestamp_ms");
    for (const line of [...calls(lines, "started"), ...calls(lines, "completed")])
      expect(Object.keys(line["tool_call"])).toHaveLength(1);
    const ended = calls(lines, "completed").map((line) => line["tool_call"]);
    const read = ended.find((call) => "readToolCall" in call)!.readToolCall.result.success;
    expect(Object.keys(read).at(-1)).toBe("readRange");
    expect(ended.find((call) => "globToolCall" in call)!.globToolCall.args).toHaveProperty("targetDirectory");
    expect(ended.find((call) => "shellToolCall" in call)!.shellToolCall).not.toHaveProperty("description");
  });

  it.each(["json", "stream-json"])(
    "the stream leaves stderr empty on success as %s, whatever was refused or not read",
    async (format) => {
      const place = workspace();
      const script = place.file(
        "script.json",
        JSON.stringify([{ calls: [{ name: "Read", args: { path: "/etc/hostname" } }] }, { text: "No." }]),
      );
      const flags = ["-p", "--trust", "--output-format", format, "--model", `script:${script}`];
      const run = await place.run([...flags, "go"], { stdin: "not read" });
      expect(run).toMatchObject({ exit: 0, stderr: "" });
      expect(run.lines().at(-1)!["permission_denials"]).toHaveLength(1);
    },
  );
});
