// glekner/obsidian-cursor-agent: a chat panel in a notes app; here its bridge, which starts the agent and hands its events on.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, bun, check, folder, prompts, repository, whole, workspace } from "./check.mjs";

const script = join(folder, "drive-bridge.ts");
writeFileSync(
  script,
  `import { CursorBridge, listConversations } from ${JSON.stringify(join(repository, "src/cursor/bridge.ts"))};
console.log = () => {};
const settings: any = { permissionMode: "force", customInstructions: "", cursorAgentPath: "", apiKey: "", defaultModel: "auto" };
const bridge = new CursorBridge({ settings, workingDirectory: ${JSON.stringify(workspace)} });
const turn = (prompt: string, onEvent?: (event: any) => void) => new Promise<any>((settle) => {
  bridge.removeAllListeners();
  const seen: any = { init: [], assistant: [], toolCall: [], result: [], error: [] };
  for (const kind of ["init", "assistant", "toolCall", "result"] as const)
    bridge.on(kind, (event: any) => { seen[kind].push(event); onEvent?.(event); });
  bridge.on("error", (error) => seen.error.push(error.message));
  bridge.on("close", (code) => settle({ ...seen, code }));
  void bridge.send(prompt);
});
const work = await turn(${JSON.stringify(prompts.work)});
const count = await turn(${JSON.stringify(prompts.count)});
const failed = await turn(${JSON.stringify(prompts.fail)});
const stopped = await turn(${JSON.stringify(prompts.hang)}, (event) => event.type === "tool_call" && bridge.cancel());
const conversations = await listConversations(${JSON.stringify(workspace)}, settings);
process.stdout.write(JSON.stringify({ work, count, failed, stopped, conversations }));
process.exit(0);
`,
);
await attempt("bridge", async () => {
  const { stdout, stderr } = spawnSync(bun, [script], { cwd: workspace, encoding: "utf8", timeout: 120_000 });
  if (!stdout) throw new Error(stderr);
  const { work, count, failed, stopped, conversations } = JSON.parse(stdout);
  check("finds somebody logged in, and the session begins", work.init.length === 1, work);
  const deltas = work.assistant.filter((event) => event.timestamp_ms !== undefined && !event.model_call_id);
  check(
    "deltas joined are the answer",
    deltas.map(({ message }) => message.content[0].text).join("") === whole,
    deltas,
  );
  const calls = work.toolCall.map(({ subtype, call_id }) => `${subtype} ${call_id}`);
  check("both calls start and end, each by its id", calls.length === 4 && new Set(calls).size === 4, calls);
  check("the result is the answer", work.result[0]?.result === whole && work.code === 0, work.result);
  check("the next prompt goes on with the session", count.result[0]?.result === "2 prompts", count);
  check("a failure is an error with its reason", /no such thing/.test(failed.error.join("\n")), failed);
  check(
    "cancel ends a command",
    stopped.result.every(({ subtype }) => subtype !== "success"),
    stopped,
  );
  check("lists conversations", conversations.length > 0, conversations);
});
process.exit(0);
