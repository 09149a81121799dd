// Guard: a small helper process that ends the children of this one should this process be killed outright. One guard serves all
// children: it is sent a line about each, and notices the end of this process by the end of its input.
import type { ChildProcess } from "node:child_process";
import { endWithThisProcess, forget } from "./exit.ts";

/** `target` is what the guard signals: a process group (negative) or a process id. `number` is in the mark. */
type Guarded = { number: number; target: number };

const guarded = new Map<number, Guarded>();
let started = 0;
let guard: ChildProcess | undefined;
const name = `COURSER_CALL_${process.pid.toString(36)}${Math.random().toString(36).slice(2, 8)}_`;

/**
 * Call this before spawning a child: it starts the guard, which then finds the next child by its mark even if this process is killed
 * before it can send the pid. The mark is the name of an environment variable that all descendants inherit. Each child gets its own
 * name, not its own value, so that the marks of outer calls stay beside those of inner ones.
 */
export function nextMark(): string {
  guard ??= startGuard();
  return `${name}${started + 1}`;
}

/** Registers the child that was spawned with the next mark. Returns a function that reports its end. */
export function guardChild(pid: number, { leadsGroup }: { leadsGroup: boolean }): () => void {
  const number = ++started;
  const child = { number, target: leadsGroup ? -pid : pid };
  guarded.set(number, child);
  guard?.stdin?.write(`${child.number} ${child.target}\n`);
  return () => {
    if (guarded.delete(number)) guard?.stdin?.write(`${number}\n`);
  };
}

function startGuard(): ChildProcess | undefined {
  // On Windows, Node starts children in a job, so the system ends them together with their parent.
  if (process.platform === "win32") return undefined;
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn("/bin/sh", ["-c", script, "guard", name], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const onExit = { endNow: () => child.kill("SIGKILL") }; // the exit handler of this process ends the children too
  const over = () => {
    forget(onExit);
    if (guard === child) guard = undefined; // the next child starts a new guard
  };
  child.on("error", over).on("exit", over);
  child.stdin.on("error", () => {});
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  if (child.pid === undefined) return undefined;
  endWithThisProcess(onExit);
  for (const each of guarded.values()) child.stdin.write(`${each.number} ${each.target}\n`);
  return child;
}

/**
 * Reads lines: `number target` for a new child, `number` for its end. When its input ends, it sends SIGTERM to everything left and SIGKILL
 * a moment later. It does not find a process that sheds its group, its parent and its environment at once: only the sandbox can hold that.
 */
const script = `
trap '' HUP INT QUIT TERM
calls= last=0
while read -r number target; do
  if [ -n "$target" ]; then
    calls="$calls $number:$target" last=$number
  else
    before=\${calls%% $number:*} after=\${calls#* $number:}
    case $after in *' '*) calls="$before \${after#* }" ;; *) calls=$before ;; esac
  fi
done

marks="-e $1$((last + 1))="
targets=
for call in $calls; do
  marks="$marks -e $1\${call%%:*}="
  targets="$targets \${call#*:}"
done

marked() {
  if [ -d /proc/self ]; then
    for path in $(grep -ls $marks /proc/[0-9]*/environ 2>/dev/null); do path=\${path#/proc/}; echo "\${path%/*}"; done
  else
    ps -axEww -o pid=,command= | grep $marks | while read -r id _; do echo "$id"; done
  fi
}
add() {
  for id; do
    case " $found " in
      *" $id "*) ;;
      *) found="$found $id"; add $(cat /proc/$id/task/*/children 2>/dev/null) ;;
    esac
  done
}
look() {
  found=
  add $(marked)
  for target in $targets; do
    if kill -s 0 -- $target 2>/dev/null; then add \${target#-}; fi
  done
}
send() {
  for target in $targets; do kill -s $1 -- $target; done
  for id in $found; do kill -s $1 -- $id; done
} 2>/dev/null

# A child that was just being made becomes visible a moment later: it must be quiet for a while.
round=0 quiet=0
while [ $round -lt 60 ] && [ $quiet -lt 3 ]; do
  look
  if [ -z "$found" ]; then quiet=$((quiet + 1)); else quiet=0; fi
  if [ $round -eq 0 ]; then send TERM; send CONT; fi
  if [ $round -ge 5 ]; then send KILL; fi
  round=$((round + 1))
  sleep 0.05
done
`;
