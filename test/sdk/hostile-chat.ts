// Chats to export in tests: a plain one, and those that say everything that ever broke a page.
import { type ExportFormat, exporters } from "../../src/export/index.ts";
import type { ChatRecord } from "../../src/store/chats/chat.ts";
import { calls, recordOf, result, says } from "./chat-record.ts";

export async function exported(record: ChatRecord, format: ExportFormat): Promise<string> {
  return [...(await exporters[format]())(record)].join("");
}

export const png = "iVBORw0KGgo=";

export const plain = recordOf([
  {
    messages: [
      {
        role: "user",
        parts: [
          { type: "text", text: "Fix it" },
          { type: "image", mime: "image/png", base64: png },
        ],
      },
      calls("Edit", { path: "/project/space/a.ts", edits: [{ oldText: "x", newText: "y" }] }, "1", "I **fix** it."),
      result("updated", "1"),
      calls("Shell", { command: "npm test" }, "2"),
      result("boom\n[exit code 1]", "2", true),
      says("Done."),
    ],
  },
]);

/** Everything that ever broke a page. */
const hostile = [
  "<script>alert(1)</script>",
  "</details>",
  "<!--",
  "-->",
  "]]>",
  "<style>",
  "<textarea>",
  "<plaintext>",
  "<img src=x onerror=alert(1)>",
  "```",
  "````",
  "~~~",
  "`",
  "``",
  "\\`",
  "</code></pre>",
  "'\"><svg onload=alert(1)>",
  "&lt;b&gt;",
  "&amp;",
  "\u0000",
  "\u001b[31mred\u001b[0m",
  "\u001b]8;;http://x\u0007",
  "\u202e",
  "\u200b",
  "\ufeff",
  "\r\n",
  "\r",
  "\ud800",
  "[x](javascript:alert(1))",
  "[x](data:text/html,y)",
  'https://a.b/"onmouseover="x',
  "# h",
  "- a",
  "  - b",
  "1. c",
  "> q",
  "| a | b |",
  "| - | - |",
  "---",
  "**b**",
  "*i*",
  "_u_",
  "{{x}}",
  "${y}",
  "__proto__",
  "x.constructor",
  '<a href="javascript:1">',
  "\n\n",
  "\n",
  " ",
  "text",
];

function hostileText(below: (count: number) => number): string {
  return Array.from({ length: 1 + below(12) }, () => hostile[below(hostile.length)]).join(below(2) === 0 ? "" : "\n");
}

export function hostileRecord(below: (count: number) => number): ChatRecord {
  const text = () => hostileText(below);
  return recordOf(
    [
      {
        messages: [
          {
            role: "user",
            parts: [
              { type: "text", text: text() },
              { type: "image", mime: text(), base64: text() },
            ],
          },
          {
            role: "assistant",
            parts: [
              { type: "thinking", text: text() },
              { type: "text", text: text() },
              {
                type: "tool_call",
                id: "1",
                name: ["Shell", "Edit", "Write", "Read", "Grep", text()][below(6)]!,
                args: {
                  path: text(),
                  command: text(),
                  content: text(),
                  pattern: text(),
                  edits: [{ oldText: text(), newText: text() }],
                },
              },
            ],
          },
          {
            role: "user",
            parts: [
              {
                type: "tool_result",
                id: "1",
                text: text(),
                isError: below(2) === 0,
                images: [{ mime: "image/svg+xml", base64: png }],
              },
            ],
          },
          says(text()),
        ],
      },
    ],
    { title: text(), problems: [{ code: "STORE_CORRUPT", message: text() }] },
  );
}
