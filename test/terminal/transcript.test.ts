// The transcript: what events look like, and that nothing of them is shown twice or too early.
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { Recorded } from "../../src/protocol/run.ts";
import { plainText, widthOf } from "../../src/terminal/painted.ts";
import { recentTurns } from "../../src/terminal/transcript/recent.ts";
import { call, openTranscript, painted, said, shown, success } from "./events.ts";

const done: AgentEvent = { type: "done", text: "", durationMs: 102_000, apiDurationMs: 1, costUsd: 0.083 };

describe("streamed answers", () => {
  const answer = [
    "## A heading",
    "",
    "Text with **bold**, *italics*, `code` and [a link](https://example.com/x).",
    "",
    "1. one",
    "2. two",
    "   - inner",
    "",
    "- [x] done",
    "- [ ] open",
    "",
    "```ts",
    "const a = 1;",
    "",
    "// end",
    "```",
    "",
    "| name | count |",
    "| --- | ---: |",
    "| a | 1 |",
    "| 日本 | 22 |",
    "",
    "> quoted",
    "",
    "The end.",
  ].join("\n");
  const expected = [
    "A heading",
    "",
    "Text with bold, italics, code and a link (https://example.com/x).",
    "",
    "1. one",
    "2. two",
    "   • inner",
    "",
    "✓ done",
    "○ open",
    "",
    "┌── ts",
    "  const a = 1;",
    "",
    "  // end",
    "└──",
    "",
    "name  count",
    "────  ─────",
    "a         1",
    "日本     22",
    "",
    "│ quoted",
    "",
    "The end.",
  ];

  it.each([1, 3, 7, 50, 1000])(
    "the transcript shows an answer the same whatever pieces it arrives in (%i)",
    async (size) => {
      expect((await shown(said(answer, size))).map((line) => line.trimEnd())).toEqual(expected);
      // Given out piece by piece, as the screen does it.
      const transcript = await openTranscript();
      const lines: string[] = [];
      for (const event of said(answer, size)) {
        transcript.event(event);
        lines.push(...transcript.takeCommitted(80).map(plainText));
        for (const line of transcript.live({ columns: 80, rows: 20 })) expect(widthOf(line)).toBeLessThanOrEqual(80);
      }
      expect(lines.map((line) => line.trimEnd())).toEqual(expected);
    },
  );

  it("the transcript prints a block once complete, and no code or table before its end", async () => {
    const transcript = await openTranscript();
    const next = (text: string) => {
      transcript.event({ event: { type: "text", text } });
      return transcript.takeCommitted(80).map(plainText);
    };
    expect(next("First paragraph.\n")).toEqual([]);
    expect(next("\nSecond ")).toEqual(["First paragraph."]);
    expect(next("one.\n\n```\ncode\n\n")).toEqual(["", "Second one."]);
    expect(next("more\n")).toEqual([]);
    expect(transcript.live({ columns: 80, rows: 9 }).map(plainText)).toEqual(["", "┌──", "  code", "", "  more"]);
    expect(next("```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")).toEqual(["", "┌──", "  code", "", "  more", "└──"]);
    expect(next("| 3 | 4 |\n\n")).toEqual(["", "a    b", "───  ───", "1    2", "3    4"]);
  });

  it("the transcript wraps answers to fit narrow windows", async () => {
    // An address is left to the terminal, which can open it only whole.
    for (const columns of [20, 40, 80, 120])
      for (const line of await painted(said(answer.replace("const a = 1;", "x")), columns))
        if (!line.includes("https://")) expect(widthOf(line), plainText(line)).toBeLessThanOrEqual(columns);
  });

  it("the transcript shows malformed Markdown without breaking", async () => {
    for (const text of ["> ".repeat(5000), "[".repeat(5000), "*a".repeat(5000), "`".repeat(5001), "|".repeat(3000)])
      expect((await shown(said(text, 500))).join("").length).toBeGreaterThan(0);
  });
});

describe("calls in the transcript", () => {
  it("the transcript shows each tool call as one line with its outcome at the right", async () => {
    const lines = await shown([
      ...call("read", { path: "/repo/src/a.ts" }, success({ content: "a\nb\n", totalLines: 3 })),
      ...call(
        "grep",
        { pattern: "x", path: "/repo/src" },
        success({ workspaceResults: { w: { content: { matches: [{}], totalMatchedLines: 3 } } } }),
      ),
      ...call("ls", { path: "/repo" }, success({ directoryTreeRoot: { childrenDirs: [{}], childrenFiles: [{}, {}] } })),
      ...call("webFetch", { url: "https://example.com/a" }, success({ markdown: "x".repeat(2400) }), { ms: 1500 }),
      ...call("someTool", { query: "q" }, success({})),
    ]);
    expect(lines).toEqual([
      `  Read   src/a.ts${" ".repeat(80 - 17 - 7)}2 lines`,
      `  Grep   x  in src${" ".repeat(80 - 18 - 9)}3 matches`,
      `  List   .${" ".repeat(80 - 10 - 9)}3 entries`,
      `  WebFetch  https://example.com/a${" ".repeat(80 - 33 - 12)}2 kB · 1.5 s`,
      "  SomeTool  q",
    ]);
  });

  it("the transcript shows an edit as a diff with numbers, signs and changed words", async () => {
    const edit = call(
      "edit",
      { path: "/repo/a.ts" },
      success({
        linesAdded: 1,
        linesRemoved: 1,
        diffString: "--- a\n+++ b\n@@ -9,2 +9,2 @@\n keep\n-const limit = 10;\n+const limit = 20;\n",
      }),
    );
    const lines = await painted(edit);
    expect(lines.map((line) => plainText(line).trimEnd())).toEqual([
      `  Edit   a.ts${" ".repeat(80 - 13 - 5)}+1 −1`,
      "          9    keep",
      "         10 -  const limit = 10;",
      "         10 +  const limit = 20;",
    ]);
    expect(lines[2]).toMatch(/48;2;109;47;43;[\d;]+m10/); // the word
    expect(lines[2]).toMatch(/48;2;58;29;28m {2}/); // the line
  });

  it("the transcript shows the old and the new text of a large replacement", async () => {
    const many = (sign: string) => Array.from({ length: 100 }, (_, index) => `${sign}line ${index}\n`).join("");
    const diffString = `--- a\n+++ b\n@@ -1,100 +1,100 @@\n${many("-")}${many("+")}`;
    const lines = await shown(call("edit", { path: "/repo/a.ts" }, success({ diffString })));
    expect(lines.map((line) => line.trim()).filter((line) => line.startsWith("…"))).toEqual([
      "… 88 more removed",
      "… 88 more added",
    ]);
    expect(lines.join("\n")).toMatch(/1 - {2}line 0[\s\S]*1 \+ {2}line 0/);
  });

  it("the transcript says why calls failed or were refused", async () => {
    const lines = await shown([
      ...call(
        "shell",
        { command: "npm test" },
        { kind: "failure", value: { exitCode: 2, interleavedOutput: "one\nbad: 1\n" } },
        { ms: 1200 },
      ),
      ...call(
        "shell",
        { command: "rm -rf /" },
        { kind: "rejected", value: { reason: "Shell(rm) is denied by ~/.cursor/cli-config.json." } },
      ),
      ...call(
        "read",
        { path: "/repo/x" },
        { kind: "fileNotFound", value: { path: "/repo/x", error: "File not found" } },
      ),
    ]);
    expect(lines.map((line) => line.replace(/ {3,}/g, "   "))).toEqual([
      "✗ Bash   npm test   exit 2 · 1.2 s",
      "   │ one",
      "   │ bad: 1",
      "! Bash   rm -rf /   refused",
      "   Shell(rm) is denied by ~/.cursor/cli-config.json.",
      "✗ Read   x   failed",
      "   File not found",
    ]);
  });

  it("the transcript shows the latest output of running calls, and keeps them once they end", async () => {
    let now = 1000;
    const transcript = await openTranscript({ now: () => now });
    const [start, end] = call("shell", { command: "make" }, success({ exitCode: 0, interleavedOutput: "x\n" }), {
      id: "c",
    });
    transcript.event({ event: { type: "user", text: "go", at: 1000 } });
    transcript.event(start!);
    for (let index = 0; index < 30; index++)
      transcript.event({
        event: {
          type: "tool_output",
          callId: "c",
          chunk: `line ${index}\n10%\r20%\r`,
        },
      });
    now = 13_500;
    transcript.takeCommitted(80);
    const live = transcript.live({ columns: 82, rows: 20 }).map(plainText);
    expect(live[1]).toMatch(/^ {2}Bash {3}make {40,}[⠋-⣿] 12 s$/);
    expect(live.filter((line) => line.includes("│ "))).toHaveLength(8);
    expect(live.join("\n")).toContain("│ 20%");
    expect(live.at(-1)).toMatch(/^[⠋-⣿] Working · 12 s$/);
    expect(transcript.tickMs).toBeGreaterThan(0);
    transcript.waits("c");
    now += 60_000;
    expect(transcript.live({ columns: 82, rows: 20 }).map(plainText).join("\n")).not.toContain("Working");
    transcript.answered("c");
    now += 1000; // a minute of waiting for the user is not work
    expect(plainText(transcript.live({ columns: 82, rows: 20 }).at(-1)!)).toMatch(/Working · 13 s$/);
    transcript.event(end!);
    expect(transcript.takeCommitted(80).filter((line) => line.includes("make"))).toHaveLength(1);
    transcript.event({ event: done });
    transcript.takeCommitted(80);
    expect(transcript.live({ columns: 80, rows: 20 })).toEqual([]);
    expect(transcript.tickMs).toBeUndefined();
  });

  it("the transcript shows long changes and failures completely, everything else when opened", async () => {
    const long = Array.from({ length: 18 }, (_, index) => `word${index}`).join(" ");
    const events = [
      ...call("edit", { path: "/repo/a.ts" }, success({ diffString: `--- a\n+++ b\n@@ -1 +1 @@\n-old\n+${long}\n` })),
      ...call("shell", { command: "a" }, { kind: "failure", value: { exitCode: 1, stderr: long } }),
      ...call("shell", { command: `echo ${long}` }, success({ exitCode: 0, stdout: long })),
    ];
    const wholeIn = (lines: readonly string[]) =>
      lines
        .map((line) => line.replace(/^\s*\d* *[│$+-]?/, ""))
        .join(" ")
        .replace(/\s+/g, " ")
        .split(long).length - 1;
    const folded = await painted(events, 60);
    for (const line of folded) expect(widthOf(line)).toBeLessThanOrEqual(60);
    expect(wholeIn(folded.map(plainText))).toBe(2);
    expect(wholeIn(await shown(events, 60, { isExpanded: true }))).toBe(4); // the command too
  });

  it("the transcript names all running calls, however little room there is", async () => {
    const transcript = await openTranscript({ now: () => 1000 });
    transcript.event({ event: { type: "user", text: "go", at: 1000 } });
    for (let at = 0; at < 6; at++) {
      transcript.event(call("shell", { command: `job ${at}` }, success({}), { id: `c${at}` })[0]!);
      for (let line = 0; line < 9; line++)
        transcript.event({ event: { type: "tool_output", callId: `c${at}`, chunk: `line ${line}\n` } });
    }
    transcript.takeCommitted(80);
    const live = (rows: number) => transcript.live({ columns: 80, rows }).map(plainText);
    for (const rows of [10, 20, 30]) {
      expect(live(rows).length).toBeLessThanOrEqual(rows);
      for (let at = 0; at < 6; at++) expect(live(rows).join("\n"), `${rows} rows`).toContain(`job ${at}`);
    }
    expect(live(30).filter((line) => line.includes("│ line 8"))).toHaveLength(6);
    expect(live(8).join("\n")).toMatch(/… 3 more calls running[\s\S]*job 3[\s\S]*job 5/);
  });

  it("the transcript shows calls of subagents below the call that started them", async () => {
    const task = call("task", { description: "Look", agentId: "A", subagentType: { explore: {} } }, success({}), {
      ms: 34_000,
    });
    const inner = [1, 2, 3, 4, 5, 6, 7].flatMap((at) =>
      call("read", { path: `/repo/${at}.ts` }, success({ totalLines: at, content: "x" }), { agent: "A", id: `r${at}` }),
    );
    const lines = await shown([task[0]!, ...inner, task[1]!]);
    expect(lines[0]).toMatch(/^ {2}Task {3}Look {2}by explore +7 calls · 34 s$/);
    expect(lines[1]).toBe("         … 2 calls before");
    expect(lines.at(-1)).toMatch(/^ {9}└ Read {2}7.ts +7 lines$/);
  });

  it("the transcript shows checklists, texts and images of servers", async () => {
    const lines = await shown([
      ...call(
        "updateTodos",
        {},
        success({
          todos: [
            { content: "one", status: "TODO_STATUS_COMPLETED" },
            { content: "two", status: "TODO_STATUS_IN_PROGRESS" },
            { content: "three", status: "TODO_STATUS_PENDING" },
          ],
        }),
      ),
      ...call(
        "mcp",
        { providerIdentifier: "git", toolName: "show", args: { id: 1 } },
        success({
          content: [{ text: { text: "hello" } }, { image: { data: "AAAA", mimeType: "image/png" } }],
          isError: false,
        }),
      ),
    ]);
    expect(lines.map((line) => line.trim().replace(/ {3,}/g, "   "))).toEqual([
      "Todo   1 of 3 done",
      "✓ one",
      "▸ two",
      "· three",
      "Mcp   git show id=1   10 ms",
      "│ hello",
      "│ [image, image/png, 3 B]",
    ]);
  });
});

describe("turns in the transcript", () => {
  it("a turn is the prompt, thinking in a line, and its ending", async () => {
    const lines = await shown([
      { event: { type: "user", text: "Do it.\nNow.", at: 0 } },
      { event: { type: "thinking", text: "Hm", at: 1000 } },
      { event: { type: "thinking_end", text: "Hm", at: 5000 } },
      ...said("Yes."),
      ...call("edit", { path: "/repo/a" }, success({ linesAdded: 0, linesRemoved: 0, diffString: "" })),
      { event: { type: "notice", kind: "warning", message: "Careful." } },
      { event: { type: "retry", attempt: 1, discards: false, reason: "overloaded", delayMs: 2000 } },
      { event: done },
    ]);
    expect(lines.map((line) => line.replace(/ {3,}/g, "   "))).toEqual([
      "› Do it.",
      "  Now.",
      "",
      "Thought for 4.0 s",
      "",
      "Yes.",
      "",
      "  Edit   a   +0",
      "",
      "! Careful.",
      "· Retrying in 2.0 s: overloaded",
      "",
      "Done in 1m 42s · 1 file changed · $0.08",
    ]);
  });

  it("the transcript abbreviates a long paste in a prompt, and the pager shows it whole", async () => {
    const text = Array.from({ length: 5000 }, (_, index) => `line ${index}`).join("\n");
    const event = { event: { type: "user", text, at: 1000 } as const };
    const lines = await shown([event]);
    expect(lines[0]).toBe("› line 0");
    expect(lines[10]).toBe("  … 4987 more lines · ctrl+o shows them");
    expect(lines.at(-1)).toBe("  line 4999");
    expect(lines).toHaveLength(14);
    expect(await shown([event], 80, { isExpanded: true })).toHaveLength(5000);
  });

  it("the transcript shows only the last of many earlier turns again", async () => {
    async function* turns(count: number): AsyncGenerator<Recorded> {
      for (let at = 1; at <= count; at++) {
        yield { event: { type: "user", text: `turn ${at}` } };
        yield { event: done };
      }
    }
    expect(await recentTurns(turns(50))).toMatchObject({ left: 0, events: { length: 100 } });
    const { left, events } = await recentTurns(turns(2000));
    expect([left, events.length, events[0]]).toEqual([1950, 100, { event: { type: "user", text: "turn 1951" } }]);
  });

  it("the transcript says why a turn failed, with its code and what to do", async () => {
    const lines = await shown([
      {
        event: {
          type: "fail",
          message: "No answer.\nTry: courser doctor",
          code: "MODEL_UNREACHABLE",
          durationMs: 900,
          apiDurationMs: 0,
        },
      },
    ]);
    expect(lines).toEqual(["✗ No answer.", "  Try: courser doctor", "  Failed after 0.9 s · MODEL_UNREACHABLE"]);
  });
});
