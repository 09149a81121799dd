// A server that knows stock levels, which stand in no file: line by line, without any package.
import { createInterface } from "node:readline";

const tools = [
  {
    name: "stock",
    description: "How many pieces of an article there are",
    inputSchema: { type: "object", properties: { article: { type: "string" } }, required: ["article"] },
  },
];

/** The same for the same name, and not to be guessed. */
const stockOf = (article) => [...article].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 9973, 7);

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "stock", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ arguments: { article } }) => ({ content: [{ type: "text", text: `${article}: ${stockOf(article)}` }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = methods[method];
  const body = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
}
