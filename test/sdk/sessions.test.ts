// Sessions that other CLIs really wrote (test/recordings/sessions), read into unified messages.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findForeignSessions, foreignReaders, listForeignSessions, readerOf } from "../../src/sdk/sessions/index.ts";
import { messagesOf, type UnifiedContent, type UnifiedMessage } from "../../src/sdk/unified.ts";

const folder = join(import.meta.dirname, "../recordings/sessions");
const files = {
  claude: join(folder, "claude/c60a81f7-6814-4292-bfb1-b2ab1c2a684a.jsonl"),
  claudeCompacted: join(folder, "claude/6f61cca6-927c-4767-8f3f-233764704efb.jsonl"),
  codex: join(folder, "codex/rollout-2026-11-16T03-45-56-01a1e276-27c1-7f52-ab39-1d98df314be4.jsonl"),
  codexCompacted: join(folder, "codex/rollout-2026-11-16T03-47-47-01a1e277-d8a2-7a10-8272-7a4033e2747a.jsonl"),
  gemini: join(folder, "gemini/chats/session-2026-11-16T03-46-9f9bcdb1.jsonl"),
};

/** One word a block: what it is, and the beginning of what it says. */
function outline(messages: readonly UnifiedMessage[]): string[] {
  return messages.map(({ role, content }) => `${role}: ${content.map(word).join(" ")}`);
}

function word(block: UnifiedContent): string {
  switch (block.type) {
    case "text":
      return `"${block.text.slice(0, 24)}"`;
    case "thinking":
    case "image":
      return block.type;
    case "tool_use":
      return block.name;
    case "tool_result": {
      const said = typeof block.content === "string" ? JSON.stringify(block.content.slice(0, 12)) : "blocks";
      return `${block.is_error ? "error" : "ok"}:${said}`;
    }
  }
}

function read(file: string) {
  return readerOf(file)!.read(file);
}

describe("Claude Code", () => {
  it("in a Claude session an answer is one message, in order, with calls beside the main branch", () => {
    const session = read(files.claude);
    expect(outline(session.messages)).toEqual([
      'user: "Fix the greeting in hell"',
      'assistant: thinking "I will look at the file." Read Bash',
      'user: ok:"1\\tHelo world"',
      'user: ok:"dot.png\\nhell"',
      'assistant: "Now the edit." Edit Bash',
      'user: ok:"The file /ho"',
      'user: error:"Exit code 1\\n"',
      "assistant: Read TodoWrite",
      'user: error:"Error: No su"',
      "user: ok:blocks",
      'assistant: "Fixed: `Helo` is now `He"',
      'user: "What did I ask?"',
      'assistant: "You asked me to fix the "',
    ]);
    expect(session).toMatchObject({
      tool: "claude",
      id: "c60a81f7-6814-4292-bfb1-b2ab1c2a684a",
      title: "Fix the greeting in hello.txt",
      workspace: "/home/user/project",
      model: "claude-opus-5-5",
    });
    expect(session.messages[1]!.usage).toMatchObject({
      inputTokens: 120,
      outputTokens: 40,
      cacheReadTokens: 1000,
      cacheWriteTokens: 50,
      input_tokens: 120,
      cache_creation_input_tokens: 50,
      service_tier: "standard",
    });
    expect(session.createdAt).toBe(Date.parse("2026-11-16T03:45:54.916Z"));
    expect(session.losses.map(({ kind, count }) => [kind, count])).toEqual([
      ["context", 11],
      ["signature", 1],
    ]);
    expect(session.context).toBeUndefined();
  });

  it("a compacted session has the whole history and the model's shorter view", () => {
    const session = read(files.claudeCompacted);
    expect(outline(session.messages)).toEqual([
      'user: "Fix the greeting in hell"',
      'assistant: "A helper will look." Task',
      'user: ok:"The file say"',
      'assistant: "The helper saw a typo."',
      'user: "/compact keep the typo"',
      'user: "What did I ask?"',
      'assistant: "As we said before, it is"',
    ]);
    expect(outline(session.context!)).toEqual([
      'user: "(A summary of the conver"',
      'assistant: "The helper saw a typo."',
      'user: "What did I ask?"',
      'assistant: "As we said before, it is"',
    ]);
    const losses = Object.fromEntries(session.losses.map(({ kind, count }) => [kind, count]));
    expect(losses).toMatchObject({ subagent: 4 });
  });

  it("a subagent's session file is read as a session of its own", () => {
    const file = join(folder, "claude/6f61cca6-927c-4767-8f3f-233764704efb/subagents/agent-acbccd79764a23185.jsonl");
    expect(outline(read(file).messages)).toEqual([
      'user: "Read hello.txt and repor"',
      "assistant: Bash",
      'user: ok:"Helo world\\nS"',
      'assistant: "The file says Helo."',
    ]);
  });
});

describe("Codex", () => {
  it("the items of a Codex answer become one message, and command output loses the text that Codex adds around it", () => {
    const session = read(files.codex);
    expect(outline(session.messages)).toEqual([
      'user: "Fix the greeting in hell"',
      'assistant: thinking "I will look at the file." Bash',
      'user: ok:"Helo world\\nS"',
      'assistant: "Now the edit." Edit',
      'user: ok:"Success. Upd"',
      "assistant: TodoWrite Bash",
      'user: ok:"unsupported " error:"cat: missing"',
      "assistant: Read",
      "user: ok:blocks",
      'assistant: "Fixed: `Helo` is now `He"',
      'user: "What did I ask?"',
      'assistant: "You asked me to fix the "',
    ]);
    expect(session).toMatchObject({
      id: "01a1e276-27c1-7f52-ab39-1d98df314be4",
      workspace: "/home/user/project",
      model: "gpt-5.1-codex",
    });
    const usages = session.messages.flatMap((message) => message.usage ?? []);
    expect(usages).toHaveLength(6);
    const counts = { inputTokens: 120, outputTokens: 40, cacheReadTokens: 1000, cacheWriteTokens: 0 };
    expect(usages[0]).toMatchObject({ ...counts, input_tokens: 1120, total_tokens: 1160 });
  });

  it("a compacted Codex conversation is read", () => {
    const session = read(files.codexCompacted);
    expect(outline(session.messages)).toEqual([
      'user: "Fix the greeting in hell"',
      'assistant: "Looking." Bash',
      'user: ok:"Helo world\\nS"',
      'assistant: "It has a typo."',
      'user: "What did I ask?"',
      'assistant: "As said, it is a typo."',
    ]);
    expect(outline(session.context!)).toEqual([
      'user: "Fix the greeting in hell"',
      'user: "(A summary by the model "',
      'user: "What did I ask?"',
      'assistant: "As said, it is a typo."',
    ]);
  });
});

describe("Gemini CLI", () => {
  it("Gemini sessions have each result once and an own id per call, and rewritten lines change nothing", () => {
    const session = read(files.gemini);
    expect(outline(session.messages)).toEqual([
      'user: "Fix the greeting in hell"',
      'assistant: thinking "I will look at the file." Read Bash',
      'user: ok:"Helo world\\nS" ok:"dot.png\\nhell"',
      'assistant: "Now the edit." Edit Bash',
      'user: ok:"Successfully" error:"cat: missing"',
      "assistant: Read TodoWrite",
      'user: ok:blocks ok:"Successfully"',
      'assistant: "Fixed: `Helo` is now `He"',
      'user: "What did I ask?"',
      'assistant: "You asked me to fix the "',
    ]);
    const ids = session.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_use" ? block.id : [])),
    );
    expect(new Set(ids).size).toBe(6);
    for (const id of ids) expect(id).toMatch(/^[\w-]+$/);
    expect(session.messages[1]!.timestamp).toBe(Date.parse("2026-11-16T03:46:01.058Z"));
    expect(session.messages[1]!.usage).toEqual({
      inputTokens: 120,
      outputTokens: 40,
      cacheReadTokens: 1000,
      cacheWriteTokens: 0,
    });
    expect(session.context).toBeUndefined();
  });
});

describe("sessions of all CLIs", () => {
  it.each(Object.entries(files))(
    "a session file of %s is recognised by its content, and by no other reader",
    (name, file) => {
      expect(readerOf(file)?.tool).toBe(name.replace("Compacted", ""));
    },
  );

  it.each(Object.values(files))("every call in a session has its result and every result its call: %#", (file) => {
    const messages = messagesOf(read(file).messages);
    for (const [index, message] of messages.entries()) {
      const ids = message.parts.flatMap((part) => (part.type === "tool_call" ? part.id : []));
      const next = messages[index + 1]?.parts.flatMap((part) => (part.type === "tool_result" ? part.id : [])) ?? [];
      expect(next.sort()).toEqual(ids.sort());
    }
    expect(messages[0]!.role).toBe("user");
    const times = read(file).messages.map((message) => message.timestamp);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it("sessions are found in their CLI's folder and by the beginning of their id", () => {
    const env = { CLAUDE_CONFIG_DIR: join(folder, "nowhere"), CODEX_HOME: join(folder, "nowhere"), HOME: "/nowhere" };
    expect(listForeignSessions(env)).toEqual([]);
    expect(
      foreignReaders.claude
        .list(join(folder, "claude"))
        .map(({ path }) => path)
        .sort(),
    ).toEqual([files.claudeCompacted, files.claude].sort());
    expect(foreignReaders.codex.list(folder)).toHaveLength(2);
    expect(foreignReaders.gemini.list(folder)).toHaveLength(1);
    expect(findForeignSessions(folder, env)).toHaveLength(5);
    expect(findForeignSessions(folder, env, ["gemini"])).toHaveLength(1);
    expect(findForeignSessions(files.codex, env)).toMatchObject([{ tool: "codex", path: files.codex }]);
    expect(() => findForeignSessions("01a1e276", env)).toThrow(/Session not found: 01a1e276/);

    const here = { ...env, CODEX_HOME: join(folder, "..") };
    for (const id of ["01a1e276", "01a1e276-27c1-7f52-ab39-1d98df314be4"])
      expect(findForeignSessions(id, here)).toMatchObject([{ tool: "codex", path: files.codex }]);
    expect(() => findForeignSessions("01a1e27", here)).toThrow(/2 session ids start with 01a1e27/);
    expect(() => findForeignSessions("rollout", here)).toThrow(/Session not found/);
  });
});
