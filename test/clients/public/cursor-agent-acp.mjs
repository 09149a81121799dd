// @blowmage/cursor-agent-acp: an ACP agent on stdio that drives print mode.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { attempt, check, folder, prompts, whole, workspace } from "./check.mjs";

const program = join(folder, "node_modules/.bin/cursor-agent-acp");
const child = spawn(process.execPath, [program], {
  cwd: workspace,
  stdio: ["pipe", "pipe", "ignore"],
});
const waiting = new Map();
const updates = [];
let lastId = 0;
createInterface({ input: child.stdout }).on("line", (line) => {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return;
  }
  if (message.method === "session/update") updates.push(message.params.update);
  else if (message.method !== undefined && message.id !== undefined) answer(message);
  else waiting.get(message.id)?.(message);
});

/** What an editor is asked: it permits. */
function answer({ id, method, params }) {
  const option = params?.options?.find((each) => each.kind === "allow_once") ?? params?.options?.[0];
  const result =
    method === "session/request_permission" ? { outcome: { outcome: "selected", optionId: option?.optionId } } : {};
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}

function call(method, params, ms = 60_000) {
  const id = ++lastId;
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${method}: no answer within ${ms} ms`)), ms);
    waiting.set(id, (message) => {
      clearTimeout(timer);
      resolve(message);
    });
  });
}

const said = () =>
  updates
    .filter((each) => each.sessionUpdate === "agent_message_chunk")
    .map((each) => each.content?.text ?? "")
    .join("");
const text = (words) => [{ type: "text", text: words }];

await attempt("session", async () => {
  const begun = await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
  check("initialize", begun.result?.protocolVersion === 1, begun);
  const made = await call("session/new", { cwd: workspace, mcpServers: [] });
  const sessionId = made.result?.sessionId;
  check(
    "session/new: finds the program, its version, the login, and makes a chat",
    typeof sessionId === "string",
    made,
  );
  const first = await call("session/prompt", { sessionId, prompt: text(prompts.work) });
  check("session/prompt: ends the turn", first.result?.stopReason === "end_turn", first);
  check("session/prompt: the whole answer arrives", said().includes(whole), said());
  updates.length = 0;
  const next = await call("session/prompt", { sessionId, prompt: text(prompts.count) });
  check(
    "session/prompt: goes on with the chat",
    next.result?.stopReason === "end_turn" && said().includes("2 prompts"),
    [next, said()],
  );
});
child.kill();
process.exit(0);
