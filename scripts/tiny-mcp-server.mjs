// An MCP server for the build's warm-up runs: it has one tool, which says "ok".
import { createInterface } from "node:readline";

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "tiny", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "say", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "ok" }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method]?.(params) ?? {} }));
});
