// The least that an agent on Node does for a turn: it asks a model over node:http, prints and appends each event, runs the
// calls in bash. No settings, rules, permissions, snapshots or recovery: a yardstick, not a product.
//   node floor-agent.mjs BASE_URL SESSION_FILE
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { Agent, request } from "node:http";

const [base, session] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const text = { type: "string" };
const shell = {
  name: "Shell",
  description: "Runs a command.",
  parameters: { type: "object", properties: { command: text }, required: ["command"] },
};
const body = {
  model: "bench",
  stream: true,
  messages: [
    { role: "system", content: "You are a coding agent. ".repeat(80) },
    { role: "user", content: "go" },
  ],
  tools: [{ type: "function", function: shell }],
};

function emit(event) {
  const line = `${JSON.stringify(event)}\n`;
  process.stdout.write(line);
  appendFileSync(session, line);
}

function ask() {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const asked = request(`${base}/chat/completions`, { method: "POST", agent, headers }, (response) => {
      let waiting = "";
      const reply = { text: "", call: undefined };
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        const blocks = (waiting + chunk).split("\n\n");
        waiting = blocks.pop();
        for (const block of blocks) {
          if (!block.startsWith("data: {")) continue;
          const { content, tool_calls: calls } = JSON.parse(block.slice(6)).choices[0]?.delta ?? {};
          if (content) emit({ type: "assistant", text: content });
          reply.text += content ?? "";
          const [call] = calls ?? [];
          if (call && reply.call) reply.call.function.arguments += call.function.arguments;
          else reply.call ??= call;
        }
      });
      response.on("end", () => resolve(reply));
    });
    asked.on("error", reject);
    asked.end(JSON.stringify(body));
  });
}

function run(command) {
  return new Promise((resolve) => {
    let output = "";
    const child = spawn("bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.on("close", () => resolve(output));
  });
}

emit({ type: "system", subtype: "init" });
for (;;) {
  const { text: said, call } = await ask();
  if (!call) {
    emit({ type: "result", result: said });
    break;
  }
  const args = JSON.parse(call.function.arguments);
  emit({ type: "tool_call", args });
  const output = await run(args.command);
  emit({ type: "tool_result", output });
  body.messages.push(
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: call.id, content: output },
  );
}
agent.destroy();
