// Runs inside a network namespace: addresses, a name server, web servers, and then the CLI. Writes down what was seen.
import { spawn, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import { isIPv4, type Server } from "node:net";
import { codeNamedIn } from "../../src/protocol/error-codes.ts";
import { answersOf, answerWith, namesOf } from "./ssrf-upstream.ts";

export type InsideJob = {
  input: Record<string, unknown>;
  addresses: string[];
  ports: number[];
  securePorts: number[];
  certificate?: string | undefined;
  command: string[];
  cwd: string;
  env: Record<string, string>;
  report: string;
  maxMs: number;
};

export type InsideSeen = {
  call: { verdict: "refused" | "granted"; kind: string; markdown: string; reasons: string };
  connections: { address: string; port: number }[];
  requests: number;
  ms: number;
  peakMb: number;
};

const job = JSON.parse(process.argv[2]!) as InsideJob;
const connections: InsideSeen["connections"] = [];
let requests = 0;

for (const address of job.addresses) {
  const bits = isIPv4(address) ? 32 : 128;
  const added = spawnSync(
    "ip",
    ["addr", "add", `${address}/${bits}`, "dev", "lo", ...(bits === 128 ? ["nodad"] : [])],
    {
      encoding: "utf8",
    },
  );
  if (added.status !== 0) console.error(`${address}: ${added.stderr.trim()}`);
}
await serveNames();
for (const port of job.ports) await serveWeb(port);
const seen = await runCommand();
writeFileSync(job.report, JSON.stringify(seen));
process.exit(0);

/** The n-th question for a name and a kind of address gets the n-th answer. */
async function serveNames(): Promise<void> {
  const addresses = namesOf(job.input);
  const asked = new Map<string, number>();
  const socket = createSocket("udp4");
  socket.on("message", (message, { address, port }) => {
    const { name, type, end } = questionOf(message);
    const count = asked.get(`${type} ${name}`) ?? 0;
    asked.set(`${type} ${name}`, count + 1);
    const known = addresses(name, count);
    const records = (known ?? []).filter((each) => (type === 1) === isIPv4(each) && (type === 1 || type === 28));
    const head = Buffer.from(message.subarray(0, 12));
    head.writeUInt16BE(known ? 0x8180 : 0x8183, 2); // an answer, or: there is no such name
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    const answers = records.map((each) => recordOf(type, each));
    socket.send(Buffer.concat([head, message.subarray(12, end), ...answers]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(53, "127.0.0.1", resolve));
}

function questionOf(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** Points to the name in the question; lives for no time at all. */
function recordOf(type: number, address: string): Buffer {
  const data = type === 1 ? Buffer.from(address.split(".").map(Number)) : bytesOf(address);
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}

function bytesOf(address: string): Buffer {
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [left = "", right] = plain.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [before, after] = [groups(left), groups(right ?? "")];
  const zeros = right === undefined ? [] : new Array<number>(8 - before.length - after.length).fill(0);
  const data = Buffer.alloc(16);
  for (const [index, group] of [...before, ...zeros, ...after].entries()) data.writeUInt16BE(group, index * 2);
  return data;
}

/** On every address there is, so that whoever connects is noticed. */
async function serveWeb(port: number): Promise<void> {
  const answer = answersOf(job.input);
  const listener: RequestListener = (request, response) => {
    request.resume();
    void answerWith(response, answer(requests++));
  };
  const pem = job.certificate && { cert: readFileSync(job.certificate), key: readFileSync(`${job.certificate}.key`) };
  const isSecure = pem && job.securePorts.includes(port);
  const server: Server = isSecure ? createHttps(pem, listener) : createHttp(listener);
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    const address = (socket.localAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
    connections.push({ address, port });
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "::", resolve);
  });
}

async function runCommand(): Promise<InsideSeen> {
  const started = performance.now();
  const [program, ...args] = job.command;
  const child = spawn(program!, args, { cwd: job.cwd, env: job.env, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  let peakMb = 0;
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const watch = setInterval(() => {
    try {
      const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
      peakMb = Math.max(peakMb, Number(kilobytes ?? 0) / 1024);
    } catch {}
  }, 50);
  const timer = setTimeout(() => child.kill("SIGKILL"), job.maxMs);
  await new Promise((resolve) => child.on("close", resolve));
  clearInterval(watch);
  clearTimeout(timer);
  return { call: callIn(stdout, stderr), connections, requests, ms: performance.now() - started, peakMb };
}

function callIn(stdout: string, stderr: string): InsideSeen["call"] {
  const lines = stdout.split("\n").filter(Boolean);
  const events = lines.map((line) => JSON.parse(line) as Record<string, any>);
  const end = events.find((event) => event["type"] === "tool_call" && event["subtype"] === "completed");
  const result = end?.["tool_call"]?.["webFetchToolCall"]?.["result"] as Record<string, any> | undefined;
  if (!result) {
    if (codeNamedIn(stderr) !== "UNTRUSTED") throw new Error(`no page was asked for: ${stdout}${stderr}`);
    return { verdict: "refused", kind: "rejected", markdown: "", reasons: stderr };
  }
  const [kind, value] = Object.entries(result)[0]!;
  const verdict = kind === "rejected" ? "refused" : "granted";
  return { verdict, kind, markdown: value.markdown ?? "", reasons: value.reason ?? value.error ?? "" };
}
