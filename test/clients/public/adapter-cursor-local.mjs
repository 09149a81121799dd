// @paperclipai/adapter-cursor-local: the adapter of an orchestrator, which writes the prompt to stdin of `agent`.
import { attempt, check, load, otherWorkspace, prompts, workspace } from "./check.mjs";

const { execute, testEnvironment } = await load("@paperclipai/adapter-cursor-local", "dist/server/index.js");
const logs = [];

function run(promptTemplate, { cwd = workspace, session = null, ...config } = {}) {
  return execute({
    runId: `run-${Math.random().toString(36).slice(2)}`,
    agent: { id: "agent-1", companyId: "company-1", name: "One", adapterType: "cursor", adapterConfig: {} },
    runtime: {
      sessionId: session,
      sessionParams: session ? { sessionId: session, cwd } : null,
      sessionDisplayId: session,
      taskKey: null,
    },
    config: { cwd, promptTemplate, timeoutSec: 60, graceSec: 2, env: { ...process.env }, ...config },
    context: {},
    onLog: async (stream, chunk) => void logs.push(`${stream}: ${chunk}`),
  });
}

let session;
await attempt("execute", async () => {
  const result = await run(prompts.work);
  session = result.sessionId;
  check(
    "execute: succeeds in a fresh folder, with a session",
    result.exitCode === 0 && typeof session === "string",
    result,
  );
  check("execute: the summary has the answer", /They have 2 lines\./.test(result.summary), result.summary);
  check("execute: usage is read", typeof result.usage?.inputTokens === "number", result.usage);
  const next = await run(prompts.count, { session });
  check("execute: resumes", next.sessionId === session && /2 prompts/.test(next.summary), next.summary);
});
await attempt("failures", async () => {
  const failed = await run(prompts.fail);
  check(
    "execute: a failure has its reason",
    failed.exitCode === 1 && /no such thing/.test(failed.errorMessage),
    failed.errorMessage,
  );
  const lost = await run("hi", { session: "0bae1f09-3bb0-49b8-9b9d-96a70ede533f", cwd: otherWorkspace });
  check("execute: an unknown session is begun anew", lost.exitCode === 0 && /Hello\./.test(lost.summary), [
    lost.errorMessage,
    lost.summary,
  ]);
  const slow = await run(prompts.hang, { timeoutSec: 3 });
  check("execute: a run that takes too long is ended", slow.timedOut === true, slow);
});
await attempt("environment", async () => {
  const config = { cwd: otherWorkspace, env: { ...process.env } };
  const tested = await testEnvironment({ companyId: "company-1", adapterType: "cursor", config });
  check("testEnvironment: passes", tested.status !== "fail", tested);
});
process.exit(0);
