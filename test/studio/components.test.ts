// Every component in every state, as text: what is told, and that foreign text is never more than text.
import { type ComponentType, h } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import * as components from "../../src/studio/components/index.ts";
import { codePieces } from "../../src/view/code-pieces.ts";
import { failedCommand, type State, sampleCall, samples, states, workspace } from "./sample-calls.ts";
import { questions } from "./sample-questions.ts";

const { BlockView, Diff, QuestionCard, ResultLine, Thinking, toolCall, View } = components;

/** With everything that can be folded in the page. */
function rendered(block: components.Block, options: components.ViewOptions = {}): string {
  const view = { workspace, home: "/home/ada", isStatic: true, highlight: codePieces, ...options };
  return renderToString(h(View, { ...view, children: h(BlockView, { block }) }));
}

function card(name: string, state: State, options?: components.ViewOptions): string {
  return rendered({ id: "turn-1.1", turn: 1, type: "call", call: sampleCall(name, state) }, options);
}

const plain = (html: string) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

describe("cards of calls", () => {
  /** What a reader must be told when it went well. */
  const told: Record<string, string[]> = {
    ListTool: ["List", "src", "3 entries", "upload/", "png.ts"],
    ReadTool: [
      "Read",
      "src/upload/store.ts",
      "lines 38–44",
      'data-line="38"',
      '<span class="cr-keyword">export</span>',
    ],
    EditTool: ["Edit", "+2", "−1", '<del>  request.<span class="cr-type">pipe</span>(out);</del>', 'data-line="43"'],
    WriteTool: ["Write", "NOTES.md", "3 lines", 'data-line="1"', '<ins>#<span class="cr-strong"> Notes</span></ins>'],
    DeleteTool: ["Delete", '<s class="cr-target">', "deleted"],
    GlobTool: ["Glob", "**/*.test.ts", "2 files", "test/limits.test.ts"],
    GrepTool: [
      "Grep",
      "in src",
      "3 matches in 2 files",
      "src/log.ts",
      "<mark>createWriteStream</mark>",
      'data-line="41"',
    ],
    BashTool: ["Bash", "npm test -- upload", "2.3 s", '<span class="cr-fg-green">✓</span>', "Run the upload tests"],
    TodoTool: ["Todo", "2 of 5 done", 'aria-label="in progress"', "Fix the writer"],
    McpTool: ["charts", "draw", '<img class="cr-picture" src="data:image/png;base64,', "chart://1", "0.5 s"],
    "McpTool of resources": ["Resources", "1 resource", "chart://1", "Three bars"],
    WebFetchTool: ["WebFetch", "https://nodejs.org", "Stream", "<strong>stream</strong>"],
    WebSearchTool: ["WebSearch", "1 result", "forwards errors"],
    SemanticSearchTool: ["SemanticSearch", "2 hits", "src/upload/store.ts", ":40–44"],
    TaskTool: ["Task", "by explore", "1 call", "8.2 s", "Thought for 1.5 s", "Grep", "Two places"],
    PlanTool: ["Plan", "Fix the race", "Close it"],
    QuestionTool: ["Question", "answered", 'aria-label="chosen"', "with WAL"],
    GenericTool: ["PaintWall", "colour", "walls"],
  };

  it.each(Object.keys(samples))("the studio's card of a call of %s tells what it did", (name) => {
    const html = card(name, "success");
    for (const words of told[name]!) expect(html).toContain(words);
    expect(html).toContain('class="cr-card cr-ok"');
    expect(html).not.toMatch(/cr-reason|style=/);
  });

  it.each(Object.keys(samples))("the studio's card of a failed call of %s has a red mark and the reason", (name) => {
    const html = card(name, "failed");
    expect(html).toContain('class="cr-card cr-failed"');
    expect(html).toMatch(/<span class="cr-sign" aria-hidden="true">✗<\/span><span class="cr-said">failed</);
    expect(html).toContain('<p class="cr-reason cr-failed">File not found: src/none.ts</p>');
  });

  it.each(Object.keys(samples))("the studio's card of a refused call of %s names the rule and its file", (name) => {
    const html = card(name, "refused");
    expect(html).toContain('class="cr-card cr-refused"');
    expect(html).toContain("<code>Shell(rm)</code> in <code>~/.cursor/cli-config.json</code>");
    expect(html).not.toContain("<s ");
  });

  it.each(Object.keys(samples))(
    "the studio's card of a running call of %s says that it runs, waits, or ended without a result",
    (name) => {
      expect(plain(card(name, "running"))).toMatch(/running 1\d s/);
      expect(card(name, "waiting")).toContain('class="cr-card cr-waiting"');
      const wish = name.startsWith("Plan")
        ? "wants approval"
        : name.startsWith("Question")
          ? "asks"
          : "wants permission";
      expect(plain(card(name, "waiting"))).toContain(wish);
      expect(plain(card(name, "unknown"))).toContain("no result");
    },
  );

  it("the studio has a card for every tool in the tool table", () => {
    const names = Object.keys(samples).filter((name) => !name.includes(" "));
    expect(Object.keys(components)).toEqual(expect.arrayContaining(names));
  });

  it("the studio shows a command's last lines while it runs and after a failure, with its exit code", () => {
    const running = card("BashTool", "running", { isStatic: false });
    expect(running).toContain('<div class="cr-peek">');
    expect(running).toContain("second");
    const failed = rendered({ id: "b", turn: 1, type: "call", call: failedCommand }, { isStatic: false });
    expect(plain(failed)).toContain("✗ exit 1 42 s");
    expect(plain(failed)).toContain("expected 3 , got 2");
    expect(failed).not.toContain("cr-reason");
  });

  it("the studio opens cards of edits and closes cards of reads, whose content is not in the page", () => {
    expect(card("EditTool", "success", { isStatic: false })).toMatch(/<details open>.*cr-diff/);
    const read = card("ReadTool", "success", { isStatic: false });
    expect(read).toContain("<details>");
    expect(read).not.toContain("cr-code");
  });

  it("the studio offers to restore a deleted file if the session is ours and it was in the workspace", () => {
    expect(card("DeleteTool", "success")).not.toContain("rewind");
    expect(card("DeleteTool", "success", { canRewind: true })).toContain("rewind brings it back");
    expect(card("DeleteTool", "success", { canRewind: true, workspace: "/elsewhere" })).not.toContain("rewind");
  });

  it("the studio shows calls of other agents as far as possible, even if they are only text", () => {
    const call = (tool: string, args: object, value: object) =>
      rendered({
        id: "x",
        turn: 1,
        type: "call",
        call: { callId: "x", tool, args, outcome: { kind: "success", value } },
      });
    expect(call("ls", { path: "src" }, { content: "a.ts\nb.ts" })).toContain("b.ts");
    expect(call("grep", { pattern: "a" }, { workspaceResults: {}, content: "a.ts:1:a" })).toContain("a.ts:1:a");
    expect(call("edit", { path: "a", strReplace: { oldText: "x", newText: "y" } }, {})).toContain("<ins>y</ins>");
    expect(call("apply_patch", { input: "*** Update File: a\n@@\n-x\n+y\n" }, { content: "ok" })).toContain(
      "<del>x</del>",
    );
    expect(call("task", { description: "Look", prompt: "Look around" }, { content: "seen" })).toContain("Look around");
  });

  it("a studio card can be built from a call in the stream's format", () => {
    const made = toolCall("read", { args: { path: "a" }, result: { fileNotFound: { path: "a" } } });
    expect(made).toEqual({
      callId: "read",
      tool: "read",
      args: { path: "a" },
      outcome: { kind: "fileNotFound", value: { path: "a" } },
    });
    expect(toolCall("read", { args: { path: "a" } }).isRunning).toBe(true);
  });
});

it("a tool's studio component is found by its name in events and in the stream", () => {
  expect(components.toolComponent("lsToolCall")).toBe(components.ListTool);
  expect(components.toolComponent("ls")).toBe(components.ListTool);
  expect(components.toolComponent("paintToolCall")).toBe(components.GenericTool);
});

describe("other parts of a session", () => {
  it("the studio's side-by-side diff shows the old beside the new", () => {
    const html = renderToString(
      h(Diff, { diff: "@@ -1,2 +1,2 @@\n a\n-const b = 1;\n+const b = 2;\n", layout: "split" }),
    );
    expect(html).toContain("<del>const b = <mark>1</mark>;</del>");
    expect(html).toContain("<ins>const b = <mark>2</mark>;</ins>");
    expect(html.match(/cr-pair/g)).toHaveLength(2);
  });

  it("the studio folds long content and counts the rest", () => {
    const output = Array.from({ length: 3000 }, (_, index) => `line ${index}`).join("\n");
    const call = { ...failedCommand, outcome: { kind: "success", value: { exitCode: 0, stdout: output } } };
    const html = rendered({ id: "x", turn: 1, type: "call", call });
    expect(html).toContain("<summary>2940 more lines</summary>");
    expect(html).toContain("1000 lines beyond that are not shown.");
    expect(html.match(/class="cr-line"/g)!.length).toBeLessThan(2100);
  });

  it("the studio cuts a diff line of 60,000 characters and says how many more there are", () => {
    const diff = `--- a/x.js\n+++ b/x.js\n@@ -0,0 +1 @@\n+${"a".repeat(60_000)}`;
    const html = renderToString(h(View, { children: h(Diff, { diff }) }));
    expect(html).toContain("59,000 more characters");
    expect(html.length).toBeLessThan(3000);
    expect(renderToString(h(View, { isStatic: true, children: h(Diff, { diff }) }))).toContain("a".repeat(60_000));
    const outcome = { kind: "success", value: { path: "x.js", linesAdded: 1, linesRemoved: 0, diffString: diff } };
    const call = { callId: "c", tool: "edit", args: { path: "x.js" }, outcome };
    expect(rendered({ id: "x", turn: 1, type: "call", call }, { isStatic: false })).toContain("<details>");
  });

  it("the studio draws each turn's context use against the context window", () => {
    const turn = (number: number, context: components.TurnNumbers["context"]) =>
      ({
        number,
        context,
        prompt: "",
        durationMs: 1,
        modelMs: 1,
        toolMs: 0,
        calls: 0,
        changed: [],
        state: "done",
      }) as const;
    const drawn = (turns: Parameters<typeof components.ContextChart>[0]["turns"]) =>
      renderToString(h(components.ContextChart, { turns }));
    const html = drawn([turn(1, { used: 20_000, window: 200_000 }), turn(2, { used: 180_000, window: 200_000 })]);
    expect(html).toContain("Context by turn: 180k of 200k, 90 %");
    expect(html).toContain("Turn 1: 20.0k of 200k, 10 %");
    expect(html).toMatch(/cr-chart-accent"[^>]* height="4.8/);
    expect(html).toMatch(/cr-chart-warn"[^>]* height="43.2/);
    // Where the window is not known, turns are compared with each other.
    expect(drawn([turn(1, { used: 20_000 }), turn(2, { used: 40_000 })])).toMatch(/cr-chart-accent"[^>]* height="48"/);
    expect(drawn([turn(1, undefined)])).toBe("");
  });

  it("the studio shows a turn's end in one line, and the reason of a failure", () => {
    const ending = { durationMs: 102_000, apiDurationMs: 1, costUsd: 0.08 };
    const line = (props: Parameters<typeof ResultLine>[0]) => plain(renderToString(h(ResultLine, props)));
    expect(line({ ending: { type: "done", text: "", ...ending }, changed: 3 })).toContain(
      "Done in 1m 42s · 3 files changed · $0.08",
    );
    // The wait for the user is apart, and a time that nobody measured is not said.
    expect(line({ ending: { type: "done", text: "", ...ending }, changed: 0, waitMs: 60_000 })).toContain(
      "Done in 42 s · 1m 00s waiting for you · $0.08",
    );
    const unmeasured = { type: "done", text: "", durationMs: 0, apiDurationMs: 0 } as const;
    expect(line({ ending: unmeasured, changed: 1 })).toMatch(/^ *Done · 1 file changed *$/);
    // Our own runs count it with the tokens.
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, totalCost: 0.3 };
    expect(line({ ending: { type: "done", text: "", durationMs: 1, apiDurationMs: 1, usage }, changed: 0 })).toContain(
      "Done in 1 ms · $0.30",
    );
    const failed = line({
      ending: { type: "fail", message: "No key <b>", code: "MODEL_AUTH_ERROR", ...ending },
      changed: 0,
    });
    expect(failed).toContain("No key &lt;b>");
    expect(failed).toContain("Failed after 1m 42s · $0.08 · MODEL_AUTH_ERROR");
    expect(line({ ending: { type: "fail", message: "", code: "INTERRUPTED", ...ending }, changed: 0 })).toContain(
      "Interrupted after",
    );
  });

  it("the studio shows thinking as one line until the user opens it", () => {
    expect(renderToString(h(Thinking, { id: "t", text: "First.\n\nSecond.", durationMs: 4200 }))).toMatch(
      /^<details class="cr-thinking"><summary>.*Thought for 4.2 s.*First. Second.<\/span><\/summary><\/details>$/,
    );
  });

  it("every question in the studio says what it is about, and has buttons only if someone can answer", () => {
    const words = [
      "Shell(npm test)",
      "No Write rule",
      "Postgres",
      "Await the stream",
      "/home/ada/src/api",
      "node charts.js",
      "./notify.sh",
    ];
    for (const [index, question] of questions.entries()) {
      const html = renderToString(h(QuestionCard, { question, onAnswer: () => {} }));
      expect(html).toContain(words[index]);
      expect(html).toContain("<button");
      expect(
        renderToString(h(QuestionCard as ComponentType<{ question: typeof question }>, { question })),
      ).not.toContain("<button");
    }
  });
});

describe("untrusted text in components", () => {
  const hostile = [
    '<script>alert(1)</script>"><img src=x onerror=alert(1)>',
    "</pre></details><style>*{display:none}</style>",
    "\x1b]8;;javascript:alert(1)\x07x\x1b[31mred\x1b[0m\x1b[2J\r\n\u202edesrever\u200b",
    "[a](javascript:alert(1)) ![b](https://x/y.png) <b>c</b> &lt;i&gt;",
    "${x} {{y}} `z` __proto__ constructor",
  ].join("\n");

  /** Every text in it is the hostile one. */
  function poisoned(value: unknown, key = ""): unknown {
    if (typeof value === "string") return key === "status" || key === "mimeType" ? value : hostile;
    if (Array.isArray(value)) return value.map((each) => poisoned(each));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poisoned(each, name)]));
  }

  /** What the components themselves write. */
  const ownTags =
    /^<\/?(?:div|details|summary|b|s|span|section|p|code|pre|ul|ol|li|a|em|strong|del|ins|mark|h[4-6]|table|thead|tbody|tr|th|td|hr|br|img|blockquote|form|fieldset|legend|label|input)(?:\s[^<]*)?>$/;

  function isWrong(tag: string): boolean {
    return (
      !ownTags.test(tag) ||
      /\s(?:on\w+|style|srcset)=/.test(tag.replace(/"[^"]*"/g, "")) ||
      /(?:href|src)="(?!https?:|data:image\/|#)/.test(tag) ||
      /<img[^>]*src="(?!data:image\/png)/.test(tag)
    );
  }

  function check(html: string): void {
    expect((html.match(/<(?:"[^"]*"|[^">])*>/g) ?? []).filter(isWrong)).toEqual([]);
    expect(html).not.toMatch(/[\x00-\x08\x0b-\x1f\u202e\u200b]/);
  }

  it.each(Object.keys(samples))("the studio shows HTML in %s as text", (name) => {
    for (const state of Object.keys(states) as State[]) {
      const call = sampleCall(name, state);
      const outcome = call.outcome && { ...call.outcome, value: poisoned(call.outcome.value) };
      const told = {
        ...call,
        args: poisoned(call.args),
        description: hostile,
        output: hostile,
        ...(outcome && { outcome }),
      };
      check(rendered({ id: "x", turn: 1, type: "call", call: told }));
    }
  });

  it("the studio shows HTML in all other places as text", () => {
    for (const type of ["user", "text", "thinking"] as const)
      check(rendered({ id: "x", turn: 1, type, text: hostile }));
    check(rendered({ id: "x", turn: 1, type: "notice", kind: hostile, message: hostile }));
    check(
      rendered({
        id: "x",
        turn: 1,
        type: "ending",
        changed: 0,
        ending: { type: "fail", message: hostile, code: hostile, durationMs: 1, apiDurationMs: 1 },
      }),
    );
    for (const question of questions) {
      const asked = { ...(poisoned(question) as typeof question), type: question.type } as typeof question;
      check(renderToString(h(QuestionCard, { question: asked })));
    }
  });

  it("the studio shows malformed results without breaking", () => {
    const odd = [
      null,
      3,
      "text",
      [],
      [1],
      { content: 5 },
      { files: "no", todos: 7, diffString: {}, workspaceResults: [null] },
    ];
    for (const { tool } of Object.values(samples))
      for (const value of odd)
        for (const args of odd)
          check(
            rendered({
              id: "x",
              turn: 1,
              type: "call",
              call: { callId: "x", tool, args, outcome: { kind: "success", value } },
            }),
          );
  });
});

describe("choices of a question", () => {
  const asked = { ...questions[0]!, rules: ["Shell(npm test -- upload)"] } as components.Question;
  const shown = (question: components.Question) =>
    plain(renderToString(h(QuestionCard, { question, onAnswer: () => {} })));

  it("each button of a permission question has a verb, from the narrowest grant to the widest", () => {
    const whole = { ...asked, widerRules: ["Shell(npm test)"], offersSandbox: true } as components.Question;
    expect(shown(whole)).toContain(
      "Allow once Allow in this session Always allow Shell(npm test -- upload) Always allow Shell(npm test) Run commands in the sandbox without asking, in this project Deny…",
    );
    expect(shown({ ...asked, rules: [] } as components.Question)).toMatch(/Allow once Deny… $/);
    // What a button saves is shown whole, however many rules that takes.
    const rules = ["Shell(git mv a b)", "Shell(git commit)", "Shell(git push origin)", "Shell(make)"];
    expect(shown({ ...asked, rules } as components.Question)).toContain(`Always allow ${rules.join(" ")} Deny…`);
  });

  it("the studio shows arguments of unknown tools and long commands", () => {
    const args = { title: "A bug", body: "It fails" };
    expect(shown({ ...asked, tool: "tracker-create_issue", args } as components.Question)).toContain(
      "&quot;A bug&quot;",
    );
    const command = "cd api\nnpm test";
    expect(shown({ ...asked, tool: "Shell", args: { command } } as components.Question)).toMatch(
      /cd api npm test.*cd api/,
    );
  });
});

describe("folded reading calls", () => {
  const call = (tool: string, args: object, kind = "success", id = Math.random().toString(36)) => [
    { type: "tool_start" as const, callId: id, tool, args },
    {
      type: "tool_end" as const,
      callId: id,
      tool,
      args,
      outcome: { kind, value: kind === "error" ? { errorMessage: "Gone" } : {} },
    },
  ];

  it("the studio folds read-only calls into one line, with failures below, and keeps their anchors", () => {
    const log = components.timelineOf([
      { type: "user", text: "Look" },
      ...call("read", { path: "/a" }),
      ...call("read", { path: "/b" }),
      ...call("grep", { pattern: "x" }),
      ...call("read", { path: "/gone" }, "error"),
      ...call("shell", { command: "ls" }, "success", "last"),
    ]);
    expect(log.blocks.map(({ id, type }) => [id, type])).toEqual([
      ["turn-1", "user"],
      ["turn-1.1", "calls"],
      ["turn-1.5", "call"],
    ]);
    expect(log.find("turn-1.3")).toBe(1);
    const html = rendered(log.blocks[1]!, { isStatic: false });
    expect(plain(html)).toContain("Read 2 files, 1 search");
    expect(html.match(/cr-card/g)).toHaveLength(1);
    expect(html).toContain("cr-failed");
  });
});
