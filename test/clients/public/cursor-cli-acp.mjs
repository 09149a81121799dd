// rgodha24/cursor-cli-acp: an ACP agent for editors over create-chat, models, status and print mode.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { attempt, bun, check, preamble, prompts, repository, whole, workspace } from "./check.mjs";

const child = spawn(bun, [join(repository, "src/index.ts")], { cwd: workspace, stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let updates = [];
let number = 0;
createInterface({ input: child.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method === "session/update") updates.push(message.params.update);
  else waiting.get(message.id)?.(message);
});
const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const call = (method, params) =>
  new Promise((settle) => {
    const id = ++number;
    waiting.set(id, settle);
    send({ id, method, params });
  });
const say = (sessionId, text) => {
  updates = [];
  return call("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
};
const said = () =>
  updates.flatMap((each) => (each.sessionUpdate === "agent_message_chunk" ? [each.content.text] : [])).join("");
let sessionId;

await attempt("initialize", async () => {
  const { result } = await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { authenticated, models } = result._meta.cursorAgent;
  check("initialize: status and models are understood", authenticated === true && models.length > 5, result);
  const session = await call("session/new", { cwd: workspace, mcpServers: [] });
  ({ sessionId } = session.result);
  await call("session/set_model", { sessionId, modelId: "auto" });
  check("session/new: create-chat gives it a chat", typeof sessionId === "string", session);
});
await attempt("prompt", async () => {
  const { result } = await say(sessionId, prompts.work);
  check("session/prompt: ends its turn", result?.stopReason === "end_turn", result);
  // It knows a line that repeats its deltas only where there was one.
  check("session/prompt: every text is told", said() === preamble + whole, said());
  check(
    "session/prompt: thoughts are told",
    updates.some(({ sessionUpdate }) => sessionUpdate === "agent_thought_chunk"),
    updates,
  );
  const ended = updates.filter(
    ({ sessionUpdate, status }) => sessionUpdate === "tool_call_update" && status === "completed",
  );
  check("session/prompt: two calls are completed", ended.length === 2, updates);
});
await attempt("again", async () => {
  await say(sessionId, prompts.count);
  check("session/prompt: the chat goes on", said() === "2 prompts", said());
});
await attempt("cancel", async () => {
  const ending = say(sessionId, prompts.hang);
  for (
    const end = Date.now() + 20_000;
    Date.now() < end && !updates.some(({ sessionUpdate }) => sessionUpdate === "tool_call");
  )
    await new Promise((settle) => setTimeout(settle, 100));
  send({ method: "session/cancel", params: { sessionId } });
  const { result } = await ending;
  check("session/cancel: ends the turn", result?.stopReason === "cancelled", result);
  check("session/cancel: what was said is there", said().length > 0 && !said().includes(preamble), said());
});
await attempt("failure", async () => {
  const { error } = await say(sessionId, prompts.fail);
  check("a failure comes with its reason", /no such thing/.test(JSON.stringify(error)), error);
});
child.kill();
process.exit(0);
