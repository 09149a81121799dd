// A program that starts things and waits: to be killed by a test.
import { Supervisor } from "../../src/process/supervisor.ts";

const [kinds, seconds] = process.argv.slice(2) as [string, string];
const starts: Record<string, { script: string; plain?: boolean; leftovers?: "ignore" | "group" }> = {
  "a command": { script: `sleep ${seconds}` },
  "one that ignores signals": { script: `trap '' TERM INT HUP; sleep ${seconds} & sleep ${seconds}; sleep ${seconds}` },
  "its own session": { script: `setsid sleep ${seconds} & sleep ${seconds}` },
  "a double fork": { script: `(setsid nohup sleep ${seconds} >/dev/null 2>&1 &); sleep ${seconds}` },
  "an empty environment": { script: `exec env -i sleep ${seconds}` },
  "a plain program": { script: `exec sleep ${seconds}`, plain: true, leftovers: "ignore" },
  "a stopped one": { script: `kill -STOP $$; sleep ${seconds}` },
  // Ends once the process has left the group: before that, it is one that was merely forgotten.
  "what a hook left on purpose": {
    script: `setsid sleep ${seconds} >/dev/null 2>&1 & until [ "$session" = $! ]; do read -r _ _ _ _ _ session _ </proc/$!/stat; done`,
    leftovers: "group",
  },
};

for (const kind of kinds.split(",")) {
  const { script, ...more } = starts[kind]!;
  const command = ["bash", "-c", script, "guarded", seconds];
  const supervisor = new Supervisor({ command, cwd: "/", env: process.env, ...more });
  void supervisor.ended.then(() => process.stdout.write("ended\n"));
}
process.stdout.write("started\n");
setTimeout(() => {}, 60_000);
