// MCP servers that send requests and notifications without an end.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { watchFlood } from "../../src/agent/mcp/flood.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

const fixture = join(repository, "test/support/mcp-server.mjs");
const offered = [{ name: "pour", description: "Sends without an end", inputSchema: { type: "object" } }];

let place: Workspace;
beforeEach(() => {
  place = createWorkspace();
  const tools = place.file(join(place.home, "tools.json"), JSON.stringify(offered));
  const demo = { command: process.execPath, args: [fixture, `tools=${tools}`] };
  place.file(".cursor/mcp.json", JSON.stringify({ mcpServers: { demo } }));
});
afterEach(() => place.remove());

const long = "x".repeat(20_000);
const form = { mode: "form", message: long, requestedSchema: { type: "object", properties: {} } };
const messages = [{ role: "user", content: { type: "text", text: long } }];

describe("what a server sends unasked is bounded", () => {
  it.each([
    ["roots/list", { isRequest: true }],
    ["ping", { isRequest: true }],
    ["elicitation/create", { isRequest: true, params: form }],
    ["sampling/createMessage", { isRequest: true, params: { messages, maxTokens: 10 } }],
    ["unknown/method", { isRequest: true }],
    ["notifications/message", { params: { level: "info", data: long } }],
    ["notifications/tools/list_changed", {}],
    ["notifications/progress", { params: { progressToken: 1, progress: 1, message: long } }],
  ])("an MCP server that floods a run with %s is cut off, and the run goes on", async (method, args) => {
    const calls = [{ name: "demo-pour", args: { method, ...args } }];
    const flags = ["--trust", "--approve-mcps", "--max-time", "20s"];
    const run = await place.play([{ calls }, { text: "went on" }], flags);
    expect(run.stdout).toContain("went on");
    expect(run.exit).toBe(0);
    expect(run.notices().split("was cut off").length - 1).toBe(1);
    expect(run.stdout).toMatch(/demo gave no valid answer: it (sent|asked) more/);
    expect(run.stdout.length).toBeLessThan(1_000_000);
  });

  it("an MCP server's endless tool pages are cut off; large results are not", () => {
    const answer = (result: Record<string, unknown>) => ({ jsonrpc: "2.0", id: 1, result }) as const;
    const large = "x".repeat(15 * 2 ** 20);
    const [ofLists, ofResults] = [watchFlood(), watchFlood()];
    const page = answer({ tools: [{ name: "a", description: large }], nextCursor: "b" });
    const result = answer({ content: [{ type: "text", text: large }] });
    expect([1, 2, 3].map(() => ofLists(page)).at(-1)).toMatch(/^it sent more/);
    expect([1, 2, 3].map(() => ofResults(result)).at(-1)).toBeUndefined();
  });
});
