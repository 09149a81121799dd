// Foreign text is shown, never obeyed, wherever it stands.
import { describe, expect, it } from "vitest";
import type { Recorded } from "../../src/protocol/run.ts";
import { createScreen } from "../../src/terminal/screen.ts";
import { createWorkspace } from "../support/run-cli.ts";
import { createEmulator } from "./emulator.ts";
import { call, openTranscript, painted, said, success } from "./events.ts";
import { hostile } from "./hostile.ts";
import { openCli } from "./pty.ts";

/** The text in every field that strangers fill. */
function everywhere(text: string): Recorded[] {
  const value = {
    path: text,
    error: text,
    reason: text,
    stdout: text,
    interleavedOutput: text,
    exitCode: 1,
    content: text,
  };
  const names = [
    "shell",
    "edit",
    "read",
    "grep",
    "glob",
    "ls",
    "delete",
    "webFetch",
    "webSearch",
    "semSearch",
    "mcp",
    "task",
    "createPlan",
    "askQuestion",
    "updateTodos",
    "other",
  ];
  const args = {
    command: text,
    path: text,
    pattern: text,
    globPattern: text,
    targetDirectory: text,
    url: text,
    searchTerm: text,
    query: text,
    name: text,
    title: text,
    description: text,
    workingDirectory: text,
    toolName: text,
    providerIdentifier: text,
    args: { [text]: text },
    subagentType: { custom: { name: text } },
    questions: [{ id: "1", prompt: text, options: [{ id: "1", label: text }] }],
  };
  const good = {
    diffString: `@@ -1,1 +1,1 @@\n-${text}\n+${text}!\n`,
    linesAdded: 1,
    linesRemoved: 1,
    interleavedOutput: text,
    todos: [{ content: text, status: text }],
    content: [{ text: { text } }, { image: { data: "AA", mimeType: text } }, { resource: { uri: text } }],
    answers: [{ questionId: "1", selectedOptionIds: ["1"], freeformText: text }],
  };
  return [
    { event: { type: "user", text } },
    { event: { type: "thinking", text } },
    { event: { type: "thinking_end", text } },
    ...said(
      `Text ${text} **${text}** \`${text}\` [${text}](${text})\n\n- ${text}\n\n| ${text} | b |\n|---|---|\n| ${text} | c |\n\n\`\`\`${text}\n${text}\n\`\`\`\n\n> ${text}\n\n<b>${text}</b>\n`,
    ),
    ...names.flatMap((tool, index) => [
      ...call(tool, args, success(good), { id: `g${index}` }),
      ...call(tool, args, { kind: "error", value }, { id: `e${index}` }),
      ...call(tool, args, { kind: "rejected", value }, { id: `r${index}` }),
    ]),
    { event: { type: "notice", kind: "warning", message: text } },
    { event: { type: "retry", attempt: 1, discards: true, reason: text } },
    { event: { type: "fail", message: text, code: text, durationMs: 1, apiDurationMs: 1 } },
  ];
}

describe("hostile text in events", () => {
  it("hostile text in any field sends no terminal code but colours", async () => {
    expect(hostile).toHaveLength(40);
    for (const text of hostile) {
      const lines = await painted(everywhere(text), 80, { display: { thinking: true, lineNumbers: true } });
      expect(lines.length).toBeGreaterThan(50);
      for (const line of lines) {
        const rest = line.replace(/\x1b\[(?!0*[58]m)[0-9;]*m/g, "");
        expect(rest, JSON.stringify(text)).not.toMatch(
          /[\x00-\x1f\x7f-\x9f\u200b\u200f\u202a-\u202e\u2060-\u2069\ufeff]/,
        );
      }
    }
  });

  it("hostile text does not move the terminal's live region", async () => {
    for (const text of hostile) {
      const emulator = createEmulator({ columns: 60, rows: 20 });
      const screen = createScreen(emulator, { columns: 60, rows: 20 });
      const transcript = await openTranscript();
      const draw = () => {
        screen.commit(transcript.takeCommitted(60));
        screen.draw({ lines: transcript.live({ columns: 60, rows: 19 }) });
      };
      transcript.event({ event: { type: "user", text: "START" } });
      draw();
      transcript.event({ event: { type: "text", text: `open ${text}` } });
      draw();
      for (const event of call("shell", { command: text }, success({ interleavedOutput: text }), { id: "x" })) {
        transcript.event(event);
        transcript.event({ event: { type: "tool_output", callId: "x", chunk: `${text}\n` } });
        draw();
      }
      transcript.event({ event: { type: "done", text: "", durationMs: 1000, apiDurationMs: 0 } });
      draw();
      const lines = (await emulator.lines()).filter(Boolean);
      expect(lines[0], JSON.stringify(text)).toBe("› START");
      expect(lines.at(-1)).toBe("Done in 1.0 s");
      expect(await emulator.cursor()).toEqual({ row: expect.any(Number), column: 0 });
    }
  });

  it("print mode escapes hostile text for a person and leaves it unchanged for a program", async () => {
    const workspace = createWorkspace();
    const answer = hostile.join(" ");
    const script = workspace.file("script.json", JSON.stringify([{ text: answer }]));
    const args = ["-p", "--force", "--model", `script:${script}`, "go"];
    const pty = openCli(workspace, args);
    expect(await pty.ended).toBe(0);
    expect(pty.output()).toContain("\\u001b[2J");
    expect(pty.output()).not.toMatch(/[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/);
    expect((await workspace.run(args)).stdout).toBe(`${answer}\n`);
    workspace.remove();
  });
});
