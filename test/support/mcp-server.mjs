// A small MCP server over stdio, without any library, that can misbehave: node mcp-server.mjs [MODE…] with modes of the table below.
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const modes = process.argv.slice(2);
const is = (mode) => modes.includes(mode);
const given = (mode) => modes.find((each) => each.startsWith(`${mode}=`))?.slice(mode.length + 1);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const started = given("log");
if (started) appendFileSync(started, `${process.pid}\n`);
if (is("stay")) for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
if (is("stay")) setInterval(() => {}, 1000);
if (is("exit")) process.exit(Number(given("code") ?? 1));
if (given("print")) process.stdout.write(readFileSync(given("print"), "utf8"));
if (is("noise")) process.stdout.write("warning: not json\n{ half\n\u001b[31mred\n");

/** `tools=FILE`: read each time, so that a test can change them. */
function tools() {
  const file = given("tools");
  if (file) return JSON.parse(readFileSync(file, "utf8"));
  const schema = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
  return [
    { name: "add", description: "Adds a and b", inputSchema: schema },
    { name: "env", description: "Prints the environment", inputSchema: { type: "object" } },
    { name: "fail", description: "Fails", inputSchema: { type: "object" } },
    { name: "slow", description: "Takes long", inputSchema: { type: "object" } },
    { name: "chatty", description: "Tells of its progress", inputSchema: { type: "object" } },
    { name: "die", description: "Ends the server", inputSchema: { type: "object" } },
    { name: "picture", description: "A picture", inputSchema: { type: "object" } },
    { name: "ask", description: "Asks the user, the model and for roots", inputSchema: { type: "object" } },
    { name: "change", description: "Changes the tools", inputSchema: { type: "object" } },
  ];
}

let extra = [];
let listed = 0;
const waiting = new Map();
let nextId = 1000;
function ask(method, params) {
  const id = nextId++;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const calls = {
  add: ({ a = 0, b = 0 }) => text(String(a + b)),
  env: () => text(JSON.stringify(process.env)),
  fail: () => ({ ...text("it broke"), isError: true }),
  die: () => process.exit(3),
  picture: () => ({
    content: [
      { type: "image", data: dot, mimeType: "image/png" },
      { type: "resource", resource: { uri: "demo://a", text: "inside" } },
    ],
  }),
  change: () => {
    extra = [{ name: "late", description: "Came later", inputSchema: { type: "object" } }];
    send({ method: "notifications/tools/list_changed" });
    return text("changed");
  },
  late: () => text("late is here"),
  /** Sends one message again and again, as much as fits through the pipe, until the server is ended. */
  async pour({ method, params, isRequest }) {
    for (let id = 100_000; ; id++) {
      send({ ...(isRequest && { id }), method, ...(params && { params }) });
      if (process.stdout.writableLength > 1 << 16) await new Promise((r) => process.stdout.once("drain", r));
    }
  },
  /** Says so many times that the tools have changed, and then how often they were asked for. */
  async storm() {
    for (let left = 2000; left > 0; left--) {
      send({ method: "notifications/tools/list_changed" });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return text(`asked ${listed} times`);
  },
  async ask() {
    const roots = await ask("roots/list");
    const elicited = await ask("elicitation/create", {
      mode: "form",
      message: "Your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    const sampled = await ask("sampling/createMessage", {
      messages: [{ role: "user", content: { type: "text", text: "what is 2+2?" } }],
      maxTokens: 10,
    });
    return text(JSON.stringify({ roots, elicited, sampled }));
  },
};

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: {
      tools: { listChanged: true },
      ...(is("resources") && { resources: {} }),
      ...(is("prompts") && { prompts: {} }),
    },
    serverInfo: { name: "fixture", version: "1" },
  }),
  "tools/list": () => {
    listed++;
    return { tools: [...tools(), ...extra] };
  },
  "resources/list": () => ({ resources: [{ uri: "demo://a", name: "a", mimeType: "text/plain" }] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: `content of ${uri}` }] }),
  "prompts/list": () => ({ prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }] }),
  "prompts/get": ({ arguments: { who } }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${who} warmly.` } }],
  }),
  ping: () => ({}),
  async "tools/call"({ name, arguments: args = {}, _meta }) {
    if (given("calls")) appendFileSync(given("calls"), `${name}\n`);
    if (given("dies") !== undefined) process.exit(Number(given("dies")));
    if (is("hangs")) return new Promise(() => {});
    if (given("say")) return text(readFileSync(given("say"), "utf8"));
    if (name === "chatty") {
      // As much as fits through the pipe, for so many milliseconds.
      const until = Date.now() + Number(args.ms);
      for (let progress = 1; Date.now() < until; progress++) {
        const params = { progressToken: _meta.progressToken, progress, message: "x".repeat(args.size ?? 200) };
        send({ method: "notifications/progress", params });
        if (process.stdout.writableLength > 1 << 16) await new Promise((r) => process.stdout.once("drain", r));
      }
      return text("done");
    }
    if (name === "slow") {
      for (let step = 1; step <= 50; step++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (_meta?.progressToken !== undefined)
          send({
            method: "notifications/progress",
            params: { progressToken: _meta.progressToken, progress: step, total: 50 },
          });
      }
      return text("done");
    }
    return calls[name] ? calls[name](args) : text(`called ${name} with ${JSON.stringify(args)}`);
  },
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (is("hang")) return;
  if (is("flood"))
    for (;;) if (!process.stdout.write("x".repeat(1 << 20))) await new Promise((r) => process.stdout.once("drain", r));
  if (method === undefined) return waiting.get(id)?.(result ?? { error });
  if (method === "notifications/cancelled" && started) appendFileSync(started, "cancelled\n");
  if (method === "notifications/initialized" && given("notify"))
    for (const message of JSON.parse(readFileSync(given("notify"), "utf8"))) send(message);
  if (id === undefined) return;
  if (is("lie") && method === "tools/list") return send({ id, result: { tools: [{ name: 7 }, "x"] } });
  const answer = results[method];
  if (!answer) return send({ id, error: { code: -32601, message: `no ${method}` } });
  send({ id, result: await answer(params) });
});
