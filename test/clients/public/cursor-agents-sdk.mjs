// @nothumanwork/cursor-agents-sdk: typed events over print mode.
import { attempt, check, load, otherWorkspace, prompts, whole, workspace } from "./check.mjs";

const { CursorAgent } = await load("@nothumanwork/cursor-agents-sdk", "dist/index.js");
process.chdir(workspace);
const agent = new CursorAgent({ forceWrites: true });
let chatId;

await attempt("stream", async () => {
  const events = [];
  for await (const event of agent.stream({ prompt: prompts.work, streamPartialOutput: true })) events.push(event);
  const result = events.at(-1);
  chatId = result.session_id;
  check(
    "stream: every line fits its schemas, the last is the result",
    result.type === "result" && result.result === whole,
    result,
  );
  const said = events.filter(
    (event) => event.type === "assistant" && event.timestamp_ms !== undefined && !event.model_call_id,
  );
  check(
    "stream: deltas joined are the answer",
    said.map((event) => event.message.content[0].text).join("") === whole,
    said,
  );
  const calls = events.filter((event) => event.type === "tool_call").map((event) => event.subtype);
  check("stream: calls start and end", calls.filter((each) => each === "completed").length === 2, calls);
});
await attempt("generate", async () => {
  const result = await agent.generate({ prompt: prompts.count, chatId });
  check("generate: resumes the chat", result.result === "2 prompts" && result.session_id === chatId, result);
});
await attempt("failures", async () => {
  const failed = await agent.generate({ prompt: prompts.fail }).then(
    () => undefined,
    (error) => error,
  );
  check(
    "generate: a failure is an exception with the reason",
    failed?.exitCode === 1 && /no such thing/.test(failed.stderr),
    failed,
  );
  process.chdir(otherWorkspace);
  const untrusted = await new CursorAgent().generate({ prompt: "hi" }).then(
    () => undefined,
    (error) => error,
  );
  check(
    "generate: an untrusted folder is told on stderr",
    /Workspace Trust Required/.test(untrusted?.stderr),
    untrusted,
  );
});
await attempt("abort", async () => {
  const abort = new AbortController();
  const seen = [];
  const failed = await (async () => {
    for await (const event of agent.stream({ prompt: prompts.hang, signal: abort.signal })) {
      seen.push(event.type);
      if (event.type === "tool_call") abort.abort();
    }
  })().then(
    () => undefined,
    (error) => error,
  );
  check("stream: abort ends it", failed !== undefined, seen);
});
process.exit(0);
