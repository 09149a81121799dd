// Where clients are tried: a folder that nobody has trusted, a home of its own, `cursor-agent` on the PATH, and a model on loopback
// that answers by the words of the prompt.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type ModelAnswer, modelServer, type RecordedRequest } from "../../src/testing/kit/model-server.ts";
import { cli } from "../support/run-cli.ts";

export type ClientPlace = {
  workspace: string;
  home: string;
  /** What a client and all that it starts has for an environment. */
  env: Record<string, string>;
  /** Another folder that nobody has trusted. */
  freshWorkspace(): string;
  /** What the model was asked. */
  requests: readonly RecordedRequest[];
  remove(): Promise<void>;
};

export async function clientPlace(): Promise<ClientPlace> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-client-")));
  const [home, bin] = [join(base, "home"), join(base, "bin")];
  for (const folder of [home, bin]) mkdirSync(folder);
  symlinkSync(cli, join(bin, "cursor-agent"));
  symlinkSync(cli, join(bin, "agent"));
  let count = 0;
  const freshWorkspace = () => {
    const folder = join(base, `work-${++count}`);
    mkdirSync(folder);
    writeFileSync(join(folder, "notes.txt"), "alpha\nbeta\n");
    return folder;
  };
  const server = await modelServer(answerTo);
  return {
    workspace: freshWorkspace(),
    home,
    env: {
      PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
      HOME: home,
      LANG: "C.UTF-8",
      ANTHROPIC_API_KEY: "sk-ant-client",
      ANTHROPIC_BASE_URL: `${server.url}/v1`,
    },
    freshWorkspace,
    requests: server.requests,
    async remove() {
      await server.stop();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** What the model says before and after its calls, and in all. */
export const preamble = "I look at the notes. ";
export const conclusion = "They have 2 lines.";
/** The end of a finished task, in the words of several loops. */
export const finished = "Done. <promise>COMPLETE</promise> <ralph>COMPLETE</ralph>";

/** Words of a prompt that mean something to the model; to anything else it says hello. */
export const prompts = {
  /** Says the preamble, calls Read and Shell together, then says the conclusion. */
  work: "Please do the work.",
  /** Writes a file and ends with the words that ralph loops wait for. */
  finish: "Please finish the task.",
  /** Runs a command that takes a minute. */
  hang: "Please hang.",
  /** The vendor refuses the request. */
  fail: "Please fail.",
  /** Says how many prompts it has been told in this conversation. */
  count: "Please count the prompts.",
} as const;

function answerTo({ json }: RecordedRequest): ModelAnswer {
  const told = (json?.messages ?? []) as { role: string; content: unknown }[];
  const content = told.at(-1)?.content;
  // The result of a call that was cut off stands before the next prompt, in one message with it.
  const last = JSON.stringify(Array.isArray(content) ? content.at(-1) : content);
  const all = JSON.stringify(told);
  const call = (name: string, args: object) => ({ name, args });
  if (last.includes("tool_result"))
    return {
      text: all.includes(prompts.finish) ? finished : conclusion,
    };
  if (last.includes(prompts.work))
    return {
      thinking: "Two tools will do.",
      text: [preamble.slice(0, 6), preamble.slice(6)],
      toolCalls: [call("Read", { path: "notes.txt" }), call("Shell", { command: "wc -l < notes.txt" })],
    };
  if (last.includes(prompts.finish)) return { toolCalls: [call("Write", { path: "done.txt", content: "done\n" })] };
  if (last.includes(prompts.hang)) return { text: "Wait. ", toolCalls: [call("Shell", { command: "sleep 60" })] };
  if (last.includes(prompts.fail))
    return { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: "no such thing" } } };
  if (last.includes(prompts.count))
    return { text: `${all.split(prompts.count).length - 1 + all.split(prompts.work).length - 1} prompts` };
  return { text: ["Hel", "lo."] };
}
