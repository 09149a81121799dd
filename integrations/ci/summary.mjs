// Reads the stream of a run from its input: keeps it in a file, prints a line for every call, and writes what came of it as Markdown.
import { randomUUID } from "node:crypto";
import { appendFileSync, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";

const { STREAM: streamFile, SUMMARY: summaryFile, OUTPUTS: outputsFile } = process.env;
const kept = createWriteStream(streamFile);
kept.on("error", (error) => console.error(`The stream is not kept: ${error.message}`));

/** GitHub takes summaries and outputs of up to 1 MiB, and then none of it. The stream has everything. */
const longestText = 50_000;
const longestList = 50;

let model = "";
let session = "";
let result;
let calls = 0;
const changed = new Set();

for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
  kept.write(`${line}\n`);
  const event = parsed(line);
  if (event?.type === "system" && event.subtype === "init") {
    model = event.model;
    session = event.session_id;
  } else if (event?.type === "tool_call" && event.subtype === "completed") {
    calls++;
    console.log(callLine(event.tool_call));
  } else if (event?.type === "result") result = event;
}
await new Promise((resolve) => kept.end(resolve));

const code = result?.error_code;
const outcome = !result ? "no result" : result.is_error ? "failure" : "success";
console.log(`\n${plain(cut(result?.result ?? "The run ended without a result."))}`);
if (summaryFile) appendFileSync(summaryFile, summary());
if (outputsFile) {
  const outputs = { outcome, result: cut(result?.result ?? ""), session, stream: streamFile };
  for (const [name, value] of Object.entries(outputs)) {
    const end = randomUUID(); // nothing in the value can end it
    appendFileSync(outputsFile, `${name}<<${end}\n${value}\n${end}\n`);
  }
}

function summary() {
  const usage = result?.usage;
  const facts = {
    Model: inCode(model),
    Calls: calls,
    Refused: result?.permission_denials?.length,
    Seconds: result && Math.round(result.duration_ms / 1000),
    Tokens:
      usage && `${usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens} in, ${usage.outputTokens} out`,
    Dollars: usage?.totalCost,
  };
  const rows = Object.entries(facts).filter(([, value]) => value !== undefined && value !== "");
  const ended = {
    success: "Agent: done",
    failure: `Agent: failed${code ? ` (${code})` : ""}`,
    "no result": "Agent: no result",
  };
  return [
    `## ${ended[outcome]}`,
    rows.length > 0 && ["| | |", "| --- | --- |", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n"),
    result && fenced(cut(result.result ?? "")),
    list("Changed files", [...changed].map(inCode)),
    list(
      "Refused",
      (result?.permission_denials ?? []).map(({ tool, reason }) => `${inCode(tool)}: ${inCode(reason)}`),
    ),
    "",
  ]
    .filter((part) => part !== undefined && part !== false)
    .join("\n\n");
}

function list(title, lines) {
  if (lines.length === 0) return undefined;
  const more = lines.length - longestList;
  const shown = [...lines.slice(0, longestList), ...(more > 0 ? [`and ${more} more`] : [])];
  return [`### ${title}`, "", ...shown.map((line) => `- ${line}`)].join("\n");
}

function cut(text) {
  const more = text.length - longestText;
  return more > 0 ? `${text.slice(0, longestText)}\n… ${more} more characters are in the stream` : text;
}

/** Foreign text is shown as text: no link, picture or heading of it takes effect. */
function fenced(text) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function inCode(text) {
  const line = plain(String(text ?? ""))
    .replaceAll(/[\n|]/g, " ")
    .replaceAll("`", "'")
    .slice(0, 500);
  return line && `\`${line}\``;
}

function callLine(call) {
  const [kind, told] = Object.entries(call ?? {}).find(([name]) => /ToolCall$/.test(name)) ?? ["call"];
  const { args = {}, result: ended = {} } = told ?? {};
  const name = kind.replace(/ToolCall$/, "");
  const [outcome = "no end"] = Object.keys(ended);
  if (outcome === "success" && /^(edit|delete)$/.test(name) && args.path) changed.add(args.path);
  const about = args.command ?? args.path ?? args.pattern ?? args.url ?? args.description ?? "";
  return plain(`${name} ${String(about).split("\n")[0].slice(0, 160)} (${outcome})`);
}

/** Without what would steer a terminal. */
function plain(text) {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
