// @cloudcli-ai/cloudcli: the runtime of its server for this agent, with a socket that keeps what the browser would be sent, and its own
// reader of stored chats.
import { attempt, check, load, otherWorkspace, prompts, whole, workspace } from "./check.mjs";

const name = "@cloudcli-ai/cloudcli";
const provider = "dist-server/server/modules/providers/list/cursor";
// What its server logs is none of ours.
console.error = () => {};
const print = console.log;
console.log = (text) => typeof text === "string" && text.startsWith('{"check"') && print(text);
const { cursorRuntime } = await load(name, `${provider}/cursor-runtime.provider.js`);
const { CursorSessionsProvider } = await load(name, `${provider}/cursor-sessions.provider.js`);
const sessions = new CursorSessionsProvider();

async function send(command, { cwd, native, onMessage, ...options }) {
  const sent = [];
  const socket = {
    send(message) {
      const value = typeof message === "string" ? JSON.parse(message) : message;
      sent.push(value);
      onMessage?.(value);
    },
    setSessionId() {},
  };
  const context = {
    resolveProviderSessionId: () => native,
    resolveResumeModel: async (_id, model) => model,
    normalizeMessage: (raw, id) => sessions.normalizeMessage(raw, id),
    isProviderInstalled: async () => true,
  };
  const failure = await cursorRuntime.run(command, { cwd, ...options }, socket, context).then(
    () => undefined,
    (error) => error.message,
  );
  return { sent, failure };
}

const kinds = (sent, kind) => sent.filter((each) => each.kind === kind);
const said = (sent) =>
  sent
    .filter((each) => each.kind !== "session_created" && each.kind !== "complete")
    .map((each) => each.content ?? "")
    .join("");
let native;

await attempt("first message", async () => {
  const { sent, failure } = await send(prompts.work, { cwd: workspace, model: "composer-1", sessionId: "app-1" });
  native = kinds(sent, "session_created")[0]?.newSessionId;
  const ends = kinds(sent, "complete");
  check("the first message in a new project ends well, once", ends.length === 1 && ends[0].exitCode === 0 && !failure, [
    ends,
    failure,
  ]);
  check("nothing is shown as an error", kinds(sent, "error").length === 0, sent);
  check("the answer is shown, nothing twice", said(sent) === whole, said(sent));
});
await attempt("more", async () => {
  const next = await send(prompts.count, { cwd: workspace, native, sessionId: "app-1", skipPermissions: true });
  check("the next message goes on with the chat", said(next.sent) === "2 prompts", next);
  const failed = await send(prompts.fail, { cwd: otherWorkspace, skipPermissions: true });
  check(
    "a failure ends once, as such",
    kinds(failed.sent, "complete").length === 1 && kinds(failed.sent, "complete")[0].exitCode !== 0,
    failed,
  );
  const stopped = await send(prompts.hang, {
    cwd: workspace,
    sessionId: "app-2",
    skipPermissions: true,
    onMessage: ({ kind }) => kind !== "session_created" && setTimeout(() => cursorRuntime.abort("app-2"), 500),
  });
  check("stopping ends it", stopped.failure !== undefined, stopped);
});
await attempt("stored chats", async () => {
  const found = await sessions.fetchHistory(native, { projectPath: workspace, providerSessionId: native });
  const text = JSON.stringify(found);
  check(
    "its reader of stored chats sees prompts, answers and tools",
    text.includes(prompts.work) && text.includes("They have 2 lines."),
    text,
  );
});
process.exit(0);
