// What `text` prints: the answer, its texts as paragraphs.
import { expect, test } from "vitest";
import { outputs } from "../../src/cli/outputs.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";

const said = (text: string): AgentEvent => ({ type: "text_end", text });
const done = { type: "done", text: "", durationMs: 0 } as AgentEvent;
const call = { type: "tool_start", callId: "a", tool: "read", args: {} } as AgentEvent;

test.each([
  ["two texts", [said("All done."), said("The server is stopped.")], "All done.\n\nThe server is stopped.\n"],
  ["one that ends its paragraph", [said("All done.\n\n"), said("Really.")], "All done.\n\nReally.\n"],
  ["what was said before a call is not the answer", [said("I look."), call, said("Found.")], "Found.\n"],
  ["a new prompt", [said("First."), { type: "user", text: "and?" } as AgentEvent, said("Second.")], "Second.\n"],
])("text output prints paragraphs: %s", (_name, events, printed) => {
  const output = outputs.text();
  expect([...events, done].map((event) => output.encode(event) ?? "").join("")).toBe(printed);
});
