// The other side of runner.mjs: starts it for a tree, asks it to run tests, and starts it anew when it comes to no end.
import { fork } from "node:child_process";
import { join } from "node:path";

export async function startHelper(tree, how = "") {
  let child = await start(tree, how);
  return {
    /** "lost" when the time is over, or the process has ended by itself. */
    async run(task, limitMs) {
      const answer = await ask(child, task, limitMs);
      if (answer !== "lost") return answer;
      child = await start(tree, how);
      return "lost";
    },
    stop: () => child.connected && child.disconnect(),
  };
}

async function start(tree, how) {
  const child = fork(join(import.meta.dirname, "runner.mjs"), [tree, ...(how ? [how] : [])], {
    cwd: tree,
    stdio: ["ignore", "ignore", process.env.MUTATE_DEBUG ? "inherit" : "ignore", "ipc"],
    // A group of its own, to end it with all that tests have started.
    detached: true,
    env: testEnvironment(),
  });
  const first = await new Promise((settle) => {
    child.once("message", settle);
    child.once("exit", (code) => settle(code));
  });
  if (first !== "ready")
    throw new Error(`The test runner does not start in ${tree} (${first}). MUTATE_DEBUG=1 shows why.`);
  child.removeAllListeners();
  return child;
}

function ask(child, task, limitMs) {
  return new Promise((settle) => {
    const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), limitMs);
    const end = (answer) => {
      clearTimeout(timer);
      child.removeAllListeners();
      settle(answer);
    };
    child.once("message", end);
    child.once("exit", () => end("lost"));
    child.send(task);
  });
}

/** As `npm test` gives it: without the keys and settings of whoever runs it. */
function testEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/(_API_KEY|_TOKEN|_SECRET)$|^(CURSOR|COURSER)_|^NODE_EXTRA_CA_CERTS$|^XDG_|^npm_/.test(name),
  );
  return Object.fromEntries(kept);
}
