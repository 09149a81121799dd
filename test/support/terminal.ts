// A conversation by lines, on a real terminal that only prints: made by `script`.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cli, type Workspace } from "./run-cli.ts";

export const hasScript = existsSync("/usr/bin/script");

/** Types each answer when its question has appeared. */
export async function converse(
  args: string,
  dialogue: [question: RegExp, answer: string][],
  workspace: Workspace,
): Promise<{ screen: string; exit: number | null }> {
  const child = spawn("script", ["-qfec", `"${process.execPath}" "${cli}" ${args}`, "/dev/null"], {
    cwd: workspace.path,
    env: { ...workspace.env, TERM: "dumb", SHELL: "/bin/sh" },
  });
  let screen = "";
  let seen = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
    const next = dialogue[0];
    if (next?.[0].test(screen.slice(seen))) {
      dialogue.shift();
      seen = screen.length;
      child.stdin.write(next[1]);
    }
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const exit = await new Promise<number | null>((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  return { screen: screen.replaceAll("\r", ""), exit };
}
