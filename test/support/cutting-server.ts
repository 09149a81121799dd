// A server on loopback, in a thread of its own, that counts what it was asked and cuts connections where it is told to. It goes on
// while the thread of the test is busy.
import { Worker } from "node:worker_threads";

/** Where the connection of a request is reset: nowhere; when the whole request was read; with the head of the answer; within it. */
export type Cut = "nowhere" | "before the head" | "after the head" | "in the body";

export type CuttingServer = {
  url: string;
  /** Every request that came, whole or not. */
  requests(): Promise<{ method: string; body: string; isReused: boolean }[]>;
  /** Closes the connections that wait, and resolves when it has done so. */
  closeIdle(): Promise<void>;
  stop(): Promise<void>;
};

type Options = {
  /** For requests on a connection that had one before. */
  cut?: Cut;
  /** Instead of an answer to the first request that mentions this word, on whatever connection. */
  cutOnce?: { word: string; cut: Cut };
  /** As its `Keep-Alive` header says it, in seconds. */
  says?: number;
  /** Answers JSON-RPC as an MCP server with the tools `add` and `pay`; else `ok`. */
  speaks?: "mcp";
};

// Written as a text, since a thread cannot load TypeScript.
const program = `
const { createServer } = require("node:http");
const { parentPort, workerData } = require("node:worker_threads");
const { cut, cutOnce, says, speaks } = workerData;
const requests = [];
const counts = new WeakMap();
const sockets = new Set();
let isCutOnce = false;

const schema = { type: "object", properties: {} };
const tools = ["add", "pay"].map((name) => ({ name, description: name, inputSchema: schema }));
const results = {
  initialize: ({ protocolVersion }) =>
    ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "cutting", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: name + " is done" }] }),
};
function answerOf(body) {
  if (speaks !== "mcp") return { status: 200, text: "ok" };
  const { id, method, params } = body ? JSON.parse(body) : {};
  if (id === undefined) return { status: method ? 202 : 405, text: "" };
  const result = results[method];
  const answer = result ? { result: result(params) } : { error: { code: -32601, message: "no such method" } };
  return { status: 200, text: JSON.stringify({ jsonrpc: "2.0", id, ...answer }) };
}
function cutFor(body, isReused) {
  if (cutOnce && !isCutOnce && body.includes(cutOnce.word)) {
    isCutOnce = true;
    return cutOnce.cut;
  }
  return (isReused && cut) || "nowhere";
}
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const { socket } = request;
    const before = counts.get(socket) ?? 0;
    counts.set(socket, before + 1);
    requests.push({ method: request.method, body, isReused: before > 0 });
    const { status, text } = answerOf(body);
    const where = cutFor(body, before > 0);
    if (where === "before the head") return socket.resetAndDestroy();
    const length = Buffer.byteLength(text);
    response.writeHead(status, { "content-type": speaks ? "application/json" : "text/plain", "content-length": length });
    if (where === "nowhere") return response.end(text);
    response.flushHeaders();
    if (where === "in the body") response.write(text.slice(0, 1));
    setTimeout(() => socket.resetAndDestroy(), 20);
  });
});
server.keepAliveTimeout = says === undefined ? 0 : says * 1000;
server.on("connection", (socket) => {
  sockets.add(socket);
  socket.on("error", () => {});
  socket.once("close", () => sockets.delete(socket));
});
parentPort.on("message", (what) => {
  if (what === "closeIdle") server.closeIdleConnections();
  if (what === "stop") for (const socket of sockets) socket.destroy();
  if (what === "stop") server.close(() => process.exit());
  else parentPort.postMessage(requests);
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

export async function cuttingServer(options: Options = {}): Promise<CuttingServer> {
  const worker = new Worker(program, { eval: true, workerData: options });
  const heard = <Said>() => new Promise<Said>((resolve) => worker.once("message", resolve));
  const port = await heard<number>();
  const ask = <Said>(what: string): Promise<Said> => {
    const said = heard<Said>();
    worker.postMessage(what);
    return said;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => ask("requests"),
    closeIdle: () => ask("closeIdle"),
    async stop() {
      const gone = new Promise((resolve) => worker.once("exit", resolve));
      worker.postMessage("stop");
      await gone;
    },
  };
}
