// agent-execution-engine: the executor of agents behind sudocode; it writes the prompt to stdin.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt, check, conclusion, load, otherWorkspace, preamble, prompts, workspace } from "./check.mjs";

const { CursorExecutor } = await load("agent-execution-engine", "dist/agents/cursor/index.js");
const executor = new CursorExecutor({ force: true, model: "auto" });

async function entriesOf(spawned, workDir) {
  const entries = [];
  const chunks = executor.createOutputChunks(spawned.process);
  for await (const entry of executor.normalizeOutput(chunks, workDir)) entries.push(entry);
  return entries;
}

const task = (prompt, workDir) => ({ id: "task", type: "custom", prompt, workDir, config: {} });
let chat;

await attempt("task", async () => {
  const entries = await entriesOf(await executor.executeTask(task(prompts.work, workspace)), workspace);
  const kinds = entries.map(({ type }) => type.kind);
  chat = entries.map(({ metadata }) => metadata?.sessionId).find(Boolean);
  check("a task: the chat is known", typeof chat === "string", entries[0]);
  const said = entries.filter(({ type }) => type.kind === "assistant_message").map(({ content }) => content);
  check(
    "a task: both segments are told",
    said.join("").includes(preamble.trim()) && said.join("").includes(conclusion),
    said,
  );
  const tools = entries.filter(({ type }) => type.kind === "tool_use").map(({ type }) => type.tool);
  const ended = tools.filter((tool) => tool.status === "success");
  check("a task: two calls ended well", ended.length === 2, [kinds, tools]);
});
await attempt("resume", async () => {
  const entries = await entriesOf(await executor.resumeTask(task(prompts.count, workspace), chat), workspace);
  const said = entries.filter(({ type }) => type.kind === "assistant_message").map(({ content }) => content);
  check("a task is resumed with its chat", said.join("").includes("2 prompts"), entries);
});
await attempt("write", async () => {
  await entriesOf(await executor.executeTask(task(prompts.finish, otherWorkspace)), otherWorkspace);
  check("a task that writes does", existsSync(join(otherWorkspace, "done.txt")));
});
await attempt("failure", async () => {
  const spawned = await executor.executeTask(task(prompts.fail, workspace));
  const ended = new Promise((settle) => spawned.process.process.on("close", settle));
  const entries = await entriesOf(spawned, workspace);
  check(
    "a failure ends with its code and its reason",
    (await ended) === 1 && /no such thing/.test(JSON.stringify(entries)),
    entries,
  );
});
process.exit(0);
