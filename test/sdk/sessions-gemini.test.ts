// Older and rarer forms of sessions of Gemini CLI, written by hand: each with what must come of it.
import { afterAll, describe, expect, it } from "vitest";
import { lines, losses, sessionFiles, texts } from "./session-files.ts";

const files = sessionFiles();
afterAll(() => files.remove());

describe("Gemini CLI sessions", () => {
  const head = {
    sessionId: "9f9bcdb1-f979-41cf-8407-cd09b82df605",
    projectHash: "abc",
    startTime: "2026-01-01T00:00:00Z",
    lastUpdated: "2026-01-01T00:01:00Z",
  };
  const said = (id: string, type: string, content: unknown, fields: object = {}) => ({
    id,
    timestamp: "2026-01-01T00:00:30Z",
    type,
    content,
    ...fields,
  });

  it("Gemini sessions in the older JSON format are read, with their project", () => {
    files.write("/home/user/project\n", "older/.project_root");
    const session = files.read(
      JSON.stringify(
        {
          ...head,
          summary: "A summary",
          messages: [
            said("1", "user", "/stats"),
            said("2", "info", "Welcome"),
            said("3", "user", "list"),
            said("4", "gemini", "Sure.", {
              model: "gemini-2.5-pro",
              thoughts: [{ subject: "Plan", description: "List it.", timestamp: "x" }],
              tokens: { input: 10, output: 5, cached: 4, thoughts: 2, tool: 1, total: 18 },
              toolCalls: [
                {
                  id: "c1",
                  name: "list_directory",
                  args: { path: "." },
                  status: "success",
                  result: [{ functionResponse: { id: "c1", name: "list_directory", response: { output: "a.txt" } } }],
                },
                {
                  id: "c2",
                  name: "run_shell_command",
                  args: { command: "x" },
                  status: "error",
                  result: [
                    { functionResponse: { id: "c2", name: "run_shell_command", response: { error: "denied" } } },
                  ],
                },
                { id: "c3", name: "my_tool", args: {}, status: "cancelled" },
              ],
            }),
            said("5", "gemini", "There is a.txt."),
          ],
        },
        null,
        2,
      ),
      "older/chats/session-2026-01-01T00-00-9f9bcdb1.json",
    );
    expect(texts(session)).toEqual([
      "u: list",
      "a: thinking Sure. Ls() Bash() my_tool()",
      "u: =a.txt =denied",
      "a: There is a.txt.",
    ]);
    expect(session).toMatchObject({
      title: "A summary",
      workspace: "/home/user/project",
      model: "gemini-2.5-pro",
      id: head.sessionId,
    });
    expect(losses(session)).toEqual({ command: 1, notice: 1, open_call: 1 });
    expect(session.messages[1]!.usage).toEqual({
      inputTokens: 7,
      outputTokens: 7,
      cacheReadTokens: 4,
      cacheWriteTokens: 0,
    });
  });

  it("rewound and compacted Gemini sessions are read", () => {
    const session = files.read(
      lines([
        head,
        said("1", "user", [{ text: "a" }]),
        said("2", "gemini", "b"),
        said("3", "user", [{ text: "wrong" }]),
        said("4", "gemini", "oops"),
        { $rewindTo: "3" },
        said("5", "user", [{ text: "c" }]),
        said("6", "gemini", "d"),
        { $set: { messages: [said("7", "user", [{ text: "so far" }]), said("6", "gemini", [{ text: "d" }])] } },
        said("8", "user", [{ text: "e" }]),
      ]),
    );
    expect(texts(session)).toEqual(["u: a", "a: b", "u: c", "a: d", "u: so far", "u: e"]);
    expect(texts(session, "context")).toEqual(["u: so far", "a: d", "u: e"]);
    expect(losses(session)).toEqual({ branch: 2 });
  });

  it("Gemini checkpoints and its prompt log are read", () => {
    const contents = [
      { role: "user", parts: [{ text: "This is the Gemini CLI. We are setting up" }] },
      { role: "model", parts: [{ text: "Got it. Thanks for the context!" }] },
      { role: "user", parts: [{ text: "run" }] },
      {
        role: "model",
        parts: [{ text: "hm", thought: true }, { functionCall: { name: "glob", args: { pattern: "*" } } }],
      },
      { role: "user", parts: [{ functionResponse: { name: "glob", id: "glob", response: { output: "x" } } }] },
      { role: "model", parts: [{ text: "x" }] },
    ];
    for (const form of [contents, { history: contents, authType: "x" }]) {
      const session = files.read(JSON.stringify(form), `checkpoint-${"history" in form}.json`);
      expect(texts(session)).toEqual(["u: run", "a: thinking Glob()", "u: =x", "a: x"]);
      expect(losses(session)).toEqual({ context: 1 });
    }
    const prompts = ["old", "new"].map((message, index) => ({
      sessionId: `s${index}`,
      messageId: 0,
      type: "user",
      message,
      timestamp: "2026-01-01T00:00:00Z",
    }));
    const log = files.read(JSON.stringify(prompts), "logs.json");
    expect(texts(log)).toEqual(["u: new"]);
    expect(log.losses[0]!.message).toBe(
      "Only what was typed is on record, 1 prompt: the answers are not in this file.",
    );
  });
});
