// What a person has seen of an answer that was cut off is in the chat, thoughts as well as text.
import { afterEach, describe, expect, it } from "vitest";
import { findChat } from "../../src/store/chats/find-chat.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let space: Workspace;
afterEach(() => space.remove());

const line = (data: object) => `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}\n\n`;

/** The start of an answer of Anthropic's kind, which then says nothing more. */
function beginning(said: { thinking: string[]; text: string[] }): string[] {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "m", type: "message", role: "assistant", content: [], model: "x", usage };
  const thought = { type: "thinking", thinking: "", signature: "" };
  const delta = (index: number, delta: object) => line({ type: "content_block_delta", index, delta });
  const chunks = [
    line({ type: "message_start", message }),
    line({ type: "content_block_start", index: 0, content_block: thought }),
    ...said.thinking.map((thinking) => delta(0, { type: "thinking_delta", thinking })),
  ];
  if (said.text.length === 0) return chunks;
  return [
    ...chunks,
    line({ type: "content_block_stop", index: 0 }),
    line({ type: "content_block_start", index: 1, content_block: { type: "text", text: "" } }),
    ...said.text.map((text) => delta(1, { type: "text_delta", text })),
  ];
}

const thoughts = { thinking: ["I won", "der ", "whether"], text: [] };
const both = { thinking: ["Hm", "m."], text: ["Let ", "me ", "se"] };

describe("an answer that is interrupted", () => {
  it.each<[string, { thinking: string[]; text: string[] }, { signal?: NodeJS.Signals; flags?: string[] }]>([
    ["in its thoughts, by a signal", thoughts, { signal: "SIGTERM" }],
    ["in its text, by a signal", both, { signal: "SIGINT" }],
    ["in its thoughts, by a limit", thoughts, { flags: ["--max-time", "3s"] }],
  ])(
    "when an answer is interrupted %s, the chat stores all text that was already shown",
    async (_, said, { signal, flags = [] }) => {
      space = createWorkspace();
      const server = await modelServer(() => ({ chunks: beginning(said), ending: "silence" }));
      const whole = { thinking: said.thinking.join(""), text: said.text.join("") };
      const env = { ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: `${server.url}/v1` };
      let seen = "";
      const run = await space.run(
        [
          "-p",
          "--force",
          "--model",
          "anthropic/claude-x",
          "--output-format",
          "stream-json",
          "--stream-partial-output",
          ...flags,
          "go",
        ],
        {
          env,
          onStart(child) {
            child.stdout!.on("data", (chunk) => {
              seen += chunk;
              const last = said.text.at(-1) ?? said.thinking.at(-1)!;
              if (signal && seen.includes(`"${last}"`)) child.kill(signal);
            });
          },
        },
      );
      await server.stop();
      const lines = run.lines();
      expect(lines.at(-1)).toMatchObject({ type: "result", is_error: true });
      const shown = lines.filter((each) => each["type"] === "thinking" && each["subtype"] === "delta");
      expect(shown.map((each) => each["text"]).join("")).toBe(whole.thinking);

      const id = lines[0]!["session_id"];
      const { events } = readChat(findChat(space.config, id, space.path), { events: true });
      const kept = events.map(({ event }) => event);
      expect(kept[0]).toMatchObject({ type: "init", sessionId: id });
      const isCut = said.text.length === 0;
      expect(kept.filter((event) => event.type === "thinking_end")).toEqual([
        expect.objectContaining({ text: whole.thinking, ...(isCut && { cut: true }) }),
      ]);
      expect(kept.flatMap((event) => (event.type === "text_end" ? [event.text] : []))).toEqual(
        isCut ? [] : [whole.text],
      );
    },
  );
});
