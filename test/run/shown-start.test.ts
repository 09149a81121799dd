// What a user is told before an MCP server is approved: all that its start does, on one line, and no secret.
import { expect, it } from "vitest";
import { asSentence, quotedName, shownStart } from "../../src/run/mcp.ts";
import type { McpServer } from "../../src/store/mcp-servers.ts";

it.each<[McpServer["definition"], string]>([
  [{ command: "node" }, "run: node."],
  [{ command: "node", args: ["a.mjs", "--port", "1"] }, "run: node a.mjs --port 1."],
  [{ command: "node", cwd: "/srv" }, "run: node, in /srv."],
  [{ command: "node", env: { PORT: "1", API_KEY: "abc" } }, "run: node, with PORT=1 API_KEY=…."],
  [{ command: "node", env: {}, headers: {} }, "run: node."],
  [{ command: "node", envFile: ".env" }, "run: node, with the variables of .env."],
  [{ command: "a\nb", cwd: "/c\r\nd" }, "run: a⏎b, in /c⏎d."],
  [{ url: "https://example.com/mcp" }, "connect to https://example.com/mcp."],
  [
    { url: "https://example.com/mcp", headers: { Authorization: "Bearer abc", "X-Team": "one" } },
    "connect to https://example.com/mcp, with the headers Authorization, X-Team.",
  ],
])("the command and arguments %j are shown as: %s", (definition, shown) => {
  expect(shownStart({ definition } as McpServer)).toBe(shown);
});

it("names in messages are quoted for a shell where they must be", () => {
  expect(["tools", "a.b-c_d", "two words", "it's"].map(quotedName)).toEqual([
    "tools",
    "a.b-c_d",
    "'two words'",
    "'it'\\''s'",
  ]);
});

it("a sentence that ends with a punctuation mark gets no full stop", () => {
  expect(["gone", "gone.", "is it there?", "no!"].map(asSentence)).toEqual(["gone.", "gone.", "is it there?", "no!"]);
});
