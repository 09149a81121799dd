// Rarer forms of sessions of Claude Code, written by hand: each with what must come of it.
import { afterAll, describe, expect, it } from "vitest";
import { lines, losses, sessionFiles, texts } from "./session-files.ts";

const files = sessionFiles();
afterAll(() => files.remove());

describe("Claude Code sessions", () => {
  let uuid = 0;
  const entry = (type: string, parentUuid: string | null, fields: object) => ({
    parentUuid,
    isSidechain: false,
    type,
    uuid: `u${++uuid}`,
    sessionId: "s",
    timestamp: new Date(1_760_000_000_000 + uuid * 1000).toISOString(),
    cwd: "/p",
    ...fields,
  });
  const user = (parent: string | null, content: unknown, fields: object = {}) =>
    entry("user", parent, { message: { role: "user", content }, ...fields });
  const answer = (parent: string | null, id: string, ...content: unknown[]) =>
    entry("assistant", parent, { message: { id, role: "assistant", model: "m", content } });
  const text = (said: string) => ({ type: "text", text: said });

  it("abandoned branches of a Claude session are left out and counted", () => {
    const first = user(null, "first");
    const said = answer(first.uuid, "m1", text("one"));
    const wrong = user(said.uuid, "wrong");
    const wronged = answer(wrong.uuid, "m2", text("oops"));
    const right = user(said.uuid, "right");
    const session = files.read(lines([first, said, wrong, wronged, right, answer(right.uuid, "m3", text("good"))]));
    expect(texts(session)).toEqual(["u: first", "a: one", "u: right", "a: good"]);
    expect(losses(session)).toEqual({ branch: 2 });
    expect(session.losses[0]!.message).toBe(
      "2 messages are on branches that were abandoned (rewound, edited or retried) and are left out.",
    );
  });

  it("slash commands in a Claude session stay text, and custom ones include their content", () => {
    const local = user(null, "<command-name>/cost</command-name>\n<command-args></command-args>");
    const output = user(local.uuid, "<local-command-stdout>free</local-command-stdout>");
    const own = user(
      output.uuid,
      "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>now please</command-args>",
    );
    const meant = user(own.uuid, [text("Review the change.")], { isMeta: true });
    const said = answer(meant.uuid, "m1", text("fine"));
    const note = user(said.uuid, "a note", { isMeta: true });
    const ran = user(note.uuid, "<bash-input>ls</bash-input>");
    const cut = user(ran.uuid, [text("[Request interrupted by user]")]);
    const session = files.read(lines([local, output, own, meant, said, note, ran, cut]));
    expect(texts(session)).toEqual(["u: /cost", "u: /review now please", "u: Review the change.", "a: fine"]);
    expect(losses(session)).toEqual({ command: 1, context: 2, notice: 1 });
  });

  it("in a session of Claude Code, a call of its question tool keeps the name it has there", () => {
    const first = user(null, "go");
    const asked = { type: "tool_use", id: "t1", name: "AskUserQuestion", input: { questions: [] } };
    const session = files.read(lines([first, answer(first.uuid, "m1", asked)]));
    expect(session.messages[1]!.content).toMatchObject([{ name: "AskUserQuestion" }]);
  });

  it("in a Claude session, text typed while the agent worked is a prompt; other attachments are notes", () => {
    const first = user(null, "go");
    const call = answer(first.uuid, "m1", { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } });
    const done = user(call.uuid, [{ type: "tool_result", tool_use_id: "t1", content: [text("a"), text("b")] }]);
    const queued = entry("attachment", done.uuid, { attachment: { type: "queued_command", prompt: "also this" } });
    const note = entry("attachment", queued.uuid, { attachment: { type: "todo_reminder" } });
    const session = files.read(lines([first, call, done, queued, note, answer(note.uuid, "m2", text("ok"))]));
    expect(texts(session)).toEqual(["u: go", "a: Bash()", "u: =a\nb", "u: also this", "a: ok"]);
    expect(losses(session)).toEqual({ context: 1 });
  });

  it("reading a Claude session counts side chains, API errors, hidden thinking and documents", () => {
    const first = user(null, [
      text("go"),
      { type: "document", source: {} },
      { type: "image", source: { type: "url", url: "https://example.com/x.png" } },
    ]);
    const side = entry("assistant", null, { isSidechain: true, message: { id: "x", content: [text("aside")] } });
    const said = answer(
      first.uuid,
      "m1",
      { type: "thinking", thinking: "", signature: "s" },
      { type: "redacted_thinking" },
      { type: "server_tool_use", name: "web_search" },
      { type: "web_search_tool_result" },
      text("yes"),
    );
    const broken = entry("assistant", said.uuid, {
      isApiErrorMessage: true,
      message: { id: "e", content: [text("API Error")] },
    });
    const session = files.read(`${lines([first, side, said, broken])}{"cut": tru`);
    expect(texts(session)).toEqual(["u: go", "a: yes"]);
    expect(losses(session)).toEqual({
      bad_line: 1,
      subagent: 1,
      attachment: 2,
      thinking: 2,
      hosted_call: 1,
      notice: 1,
    });
  });

  it("titles of Claude sessions come from the user, the model, or the first prompt", () => {
    const said = user(null, "\n  a prompt that goes on and on and on and on and on and on and on\nsecond line");
    const ai = { type: "ai-title", aiTitle: "By the model", sessionId: "s" };
    const custom = { type: "custom-title", customTitle: "By the user", sessionId: "s" };
    expect(files.read(lines([said])).title).toBe("a prompt that goes on and on and on and on and on and on…");
    expect(files.read(lines([said, ai])).title).toBe("By the model");
    expect(files.read(lines([custom, said, ai])).title).toBe("By the user");
  });

  it("a Claude session with missing parents, loops or duplicate lines is read", () => {
    const first = user("gone", "first");
    const said = answer("also gone", "m1", text("one"));
    const circle = { ...user("x", "two"), uuid: "c1", parentUuid: "c1" };
    expect(texts(files.read(lines([first, said, said])))).toEqual(["u: first", "a: one"]);
    expect(texts(files.read(lines([first, circle])))).toEqual(["u: two"]);
  });
});
