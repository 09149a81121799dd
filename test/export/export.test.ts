// The exports that programs read, JSON and stream-json; and what all exports do with text of strangers.
import { describe, expect, it } from "vitest";
import { escapeHtml } from "../../src/export/escape-html.ts";
import { exportFormats } from "../../src/export/index.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { ChatRecord } from "../../src/store/chats/chat.ts";
import { documentText } from "../../src/view/document-text.ts";
import { chatId, recordOf, says, seeded, user } from "../sdk/chat-record.ts";
import { exported, hostileRecord } from "../sdk/hostile-chat.ts";

describe("JSON", () => {
  it("has the facts, the turns and unified messages, without what only we or a vendor read", async () => {
    const opaque = recordOf([
      {
        messages: [
          user("a"),
          {
            role: "assistant",
            parts: [
              { type: "thinking", text: "t", opaque: { from: "x", secret: 1 } },
              { type: "text", text: "b" },
            ],
          },
        ],
      },
    ]);
    const json = JSON.parse(await exported(opaque, "json"));
    expect(Object.keys(json)).toEqual(["session", "turns", "problems", "messages"]);
    expect(json.session).toMatchObject({
      id: chatId,
      title: "A title",
      workspace: "/project/space",
      model: "Some Model",
    });
    expect(json.session).not.toHaveProperty("folder");
    expect(json.turns).toMatchObject([{ number: 1, prompt: "a", status: "done" }]);
    expect(json.messages[1].content).toEqual([
      { type: "thinking", thinking: "t" },
      { type: "text", text: "b" },
    ]);
    expect(json.messages[0]).not.toHaveProperty("_original");
    expect(JSON.parse(await exported(recordOf([]), "json")).messages).toEqual([]);
  });

  it("holds whatever a chat says", async () => {
    const below = seeded(9);
    for (let round = 0; round < 50; round++) {
      const record = hostileRecord(below);
      const json = JSON.parse(await exported(record, "json"));
      expect(json.messages[3].content).toEqual([{ type: "text", text: textIn(record, 3) }]);
    }
  });
});

function textIn(record: ChatRecord, index: number): string {
  const [part] = record.messages[index]!.message.parts;
  // What is half a character cannot be written as UTF-8, but JSON spells it out.
  return part?.type === "text" ? part.text : "";
}

describe("stream-json", () => {
  it("tells of damage right after the first init", async () => {
    const record = recordOf([{ messages: [user("a"), says("b")] }, { messages: [user("c"), says("d")] }], {
      problems: [{ code: "STORE_MISSING_BLOB", message: "1 blob is missing." }],
    });
    const lines = (await exported(record, "stream-json"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type, subtype }) => [type, subtype].filter(Boolean).join("/"))).toEqual([
      "system/init",
      "system/damaged",
      "user",
      "assistant",
      "result/success",
      "system/init",
      "user",
      "assistant",
      "result/success",
    ]);
    expect(new Set(lines.map((line) => line.session_id))).toEqual(new Set([chatId]));
  });

  it("keeps lines that nobody understood", async () => {
    const raw = { type: "brand_new", session_id: chatId, x: 1 };
    const events: AgentEvent[] = [
      { type: "user", text: "a" },
      { type: "other", raw },
      { type: "text_end", text: "b" },
      { type: "done", text: "b", durationMs: 1, apiDurationMs: 1 },
    ];
    const record = recordOf([{ messages: [user("a"), says("b")], events }]);
    expect(await exported(record, "stream-json")).toContain(`${JSON.stringify(raw)}\n`);
  });
});

describe("text of strangers", () => {
  it("loses colours and shows what hides", () => {
    expect(documentText("\u001b[1;31mred\u001b[0m\u001b]8;;http://x\u0007link\u001b]8;;\u0007")).toBe("redlink");
    expect(documentText("a\u0000b\u202ec\u200bd\re\r\nf\tg")).toBe("a\\u0000b\\u202ec\\u200bd\ne\nf\tg");
    expect(escapeHtml(`<a href="x" title='y'>&`)).toBe("&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
  });

  it("every format is a row of the table", () =>
    expect(exportFormats).toEqual(["markdown", "json", "stream-json", "html", "atif"]));
});
