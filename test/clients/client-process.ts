// How clients start the CLI: through the PATH, by its name, with pipes.
import { type ChildProcess, spawn } from "node:child_process";
import type { ClientPlace } from "./place.ts";

export type ClientCall = {
  place: Pick<ClientPlace, "env">;
  cwd: string;
  args: readonly string[];
  /** Written to stdin; without it stdin is closed at once. */
  stdin?: string;
  /** In a group of its own, as programs do that end everything below. */
  detached?: boolean;
  onLine?(line: string, child: ChildProcess): void;
  onStderr?(text: string): void;
};

export type ClientEnd = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };

export function runAgent(call: ClientCall): { child: ChildProcess; ended: Promise<ClientEnd> } {
  const { place, cwd, args, stdin, detached = false, onLine, onStderr } = call;
  const child = spawn("cursor-agent", args, { cwd, env: place.env, detached, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin!.on("error", () => {});
  child.stdin!.end(stdin ?? "");
  let stdout = "";
  let stderr = "";
  let rest = "";
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    // Chunks end anywhere: the last piece waits for its newline.
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line.trim() !== "") onLine?.(line, child);
  });
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
    onStderr?.(chunk);
  });
  const ended = new Promise<ClientEnd>((settle, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (rest.trim() !== "") onLine?.(rest, child);
      settle({ code, signal, stdout, stderr });
    });
  });
  return { child, ended };
}
