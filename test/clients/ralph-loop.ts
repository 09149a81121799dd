// A client of the kind "ralph loop": the same prompt again and again in plain text or JSON, until the answer holds the word it waits for,
// a limit is reached, or the agent fails too often in a row.
import { runAgent } from "./client-process.ts";
import type { ClientPlace } from "./place.ts";

export type Loop = {
  place: ClientPlace;
  cwd: string;
  prompt: string;
  format: "text" | "json";
  most: number;
  /** Given up after so many failures in a row. */
  maxFailures?: number;
};

export type LoopEnd = { isComplete: boolean; rounds: number; failures: string[]; answers: string[]; tokens: number };

export async function loop({ place, cwd, prompt, format, most, maxFailures = 2 }: Loop): Promise<LoopEnd> {
  const end: LoopEnd = { isComplete: false, rounds: 0, failures: [], answers: [], tokens: 0 };
  while (end.rounds < most && !end.isComplete) {
    end.rounds++;
    const args = ["--print", "--force", "--output-format", format, prompt];
    const { code, stdout, stderr } = await runAgent({ place, cwd, args }).ended;
    if (code !== 0) {
      end.failures.push(stderr.trim());
      if (end.failures.length >= maxFailures) break;
      continue;
    }
    const answer = format === "json" ? lastObject(stdout) : { result: stdout };
    end.answers.push(answer.result);
    end.tokens += (answer.usage?.inputTokens ?? 0) + (answer.usage?.outputTokens ?? 0);
    end.isComplete = answer.result.includes("<promise>COMPLETE</promise>");
  }
  return end;
}

/** The object is the last line: others may stand before it. */
function lastObject(stdout: string): { result: string; usage?: { inputTokens: number; outputTokens: number } } {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
}
