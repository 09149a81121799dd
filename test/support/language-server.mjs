#!/usr/bin/env node
// A language server for tests: an error is a line that holds the word BAD. What it does wrong is its mode, in a file beside it.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const folder = import.meta.dirname;
const mode = readFileSync(join(folder, "mode"), "utf8").trim();
if (mode === "mute") await pause(60_000);
if (mode === "talks about other things") process.stdout.write("listening on a port, as usual\n".repeat(1000));
if (mode === "fails") {
  process.stderr.write("error: no such component\n");
  process.exit(3);
}

function send(message) {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

const texts = new Map();

async function publish(uri, version) {
  if (mode === "slow") await pause(1200);
  const lines = texts.get(uri).split("\n");
  const diagnostics = lines.flatMap((line, index) => {
    const at = line.indexOf("BAD");
    const range = { start: { line: index, character: at }, end: { line: index, character: at + 3 } };
    const warning = { range, severity: 2, message: "this is only a warning" };
    return at === -1 ? [] : [{ range, severity: 1, code: "bad-word", message: `${line.trim()} is\nnot good` }, warning];
  });
  send({ method: "textDocument/publishDiagnostics", params: { uri, version, diagnostics } });
}

const handlers = {
  initialize: (_params, id) => send({ id, result: { capabilities: { textDocumentSync: 1 } } }),
  initialized: () => send({ id: "configuration", method: "workspace/configuration", params: { items: [{}, {}] } }),
  "textDocument/didOpen": ({ textDocument: { uri, version, text } }) => changed(uri, version, text),
  "textDocument/didChange": ({ textDocument: { uri, version }, contentChanges }) =>
    changed(uri, version, contentChanges[0].text),
  exit: () => process.exit(0),
};

function changed(uri, version, text) {
  if (mode === "crashes" && version > 1) process.abort();
  if (mode === "writes") appendFileSync(new URL(uri), "written by the server");
  texts.set(uri, text);
  void publish(uri, version);
}

let rest = Buffer.alloc(0);
process.stdin.on("end", () => process.exit(0));
process.stdin.on("data", (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  while (true) {
    const start = rest.indexOf("\r\n\r\n") + 4;
    const length = Number(/Content-Length: (\d+)/.exec(rest.toString("latin1", 0, start))?.[1]);
    if (start < 4 || rest.length < start + length) return;
    const { method, params, id } = JSON.parse(rest.toString("utf8", start, start + length));
    rest = rest.subarray(start + length);
    handlers[method]?.(params, id);
  }
});
