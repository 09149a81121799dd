// A plain conversation for terminals that can only print lines: reads prompts, prints answers and asks questions.

import { createInterface, type Interface } from "node:readline";
import { exitCodeOf, UserError } from "../protocol/error-codes.ts";
import type { AgentEvent, EventOf } from "../protocol/event.ts";
import type { LiveRun } from "../protocol/run.ts";
import { errorTextOf, outcomeGroupOf } from "../protocol/tool-calls.ts";
import { shownTitle } from "../store/chats/list-chats.ts";
import { configDir } from "../store/config-dir.ts";
import { programName } from "../text/program-name.ts";
import { visible } from "../text/visible.ts";
import { cut } from "../text/width.ts";
import { callLine } from "./call-line.ts";
import { flagList } from "./flags.ts";
import type { Invocation } from "./main.ts";
import { openRunByFlags } from "./open-run.ts";
import { runHost, settledRequest } from "./run-request.ts";
import { handleShutdown } from "./shutdown.ts";
import { terminalHuman } from "./terminal-human.ts";
import { terminalLines } from "./terminal-question.ts";

export async function runLineMode(invocation: Invocation): Promise<number> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await converse(invocation, terminal);
  } finally {
    terminal.close();
  }
}

async function converse(invocation: Invocation, terminal: Interface): Promise<number> {
  const request = await settledRequest(invocation, "terminal");
  const show = createScreen(request.workspace);
  const lines = terminalLines(terminal);
  const whole = new AbortController();
  const watch = handleShutdown(whole, invocation);
  try {
    const run = await openRunByFlags(invocation.line.flags, request, {
      ...runHost(invocation),
      attended: () => true,
      human: terminalHuman(lines, show.line),
      signal: whole.signal,
    });
    let isAnswering = false;
    // Readline intercepts Ctrl+C. It stops the answer, or ends the program if no answer is running.
    terminal.on("SIGINT", () => (isAnswering ? run.interrupt("Stopped.") : terminal.close()));
    whole.signal.addEventListener("abort", () => terminal.close());
    const followed = follow(run, show);
    await run.names(); // ask the questions of hooks and MCP servers before the first prompt
    if (request.chat?.type === "resume" && !request.ephemeral)
      show.line(await resuming(invocation, run, request.workspace));
    show.line("Type /quit or press Ctrl+D to quit, /help for more; Ctrl+C stops an answer.");
    let code: number | undefined;
    try {
      let text: string | undefined = invocation.line.words.join(" ") || undefined;
      const { resolve } = await import("node:path");
      let images = flagList(invocation.line.flags, "image").map((path) => resolve(path));
      while (!whole.signal.aborted) {
        text ??= await lines.next("\n> ");
        if (text === undefined || /^\/?(quit|exit)$/.test(text.trim())) break;
        const refusal = await notSent(text, run);
        if (text.trim() === "/help") show.line(await helpText(run));
        else if (refusal !== undefined) show.line(refusal);
        else if (text.trim() !== "") {
          isAnswering = true;
          const ending = await run.send({ text, images }).ending;
          await show.settled();
          isAnswering = false;
          code = ending.type === "done" ? 0 : 1;
          if (ending.type === "fail" && ending.code === "MAX_TIME") break;
          images = [];
        }
        text = undefined;
      }
      const hasChat = code !== undefined && !request.ephemeral;
      show.line(hasChat ? `\nResume with: ${programName()} --resume ${run.chatId}` : "");
    } finally {
      await run.close();
      await followed;
    }
    const reason: unknown = whole.signal.reason;
    return reason instanceof UserError ? exitCodeOf(reason.code) : (code ?? 0);
  } catch (error) {
    // The user has just refused to trust the folder on this terminal, so print no error.
    if (error instanceof UserError && error.code === "UNTRUSTED") return exitCodeOf(error.code);
    throw error;
  } finally {
    watch.stop();
  }
}

async function resuming({ env, name }: Invocation, { chatId }: LiveRun, workspace: string): Promise<string> {
  const { findChat } = await import("../store/chats/find-chat.ts");
  const { readChat } = await import("../store/chats/read-chat.ts");
  const { metadata, turns } = readChat(findChat(configDir(env), chatId, workspace, name), { events: false });
  const title = cut(visible(shownTitle(metadata)).replace(/\s+/g, " "), 60);
  return `Resuming “${title}”: ${turns.length === 1 ? "one turn" : `${turns.length} turns`} so far.`;
}

async function follow(run: LiveRun, show: Screen): Promise<void> {
  for await (const { event, agent } of run.events()) if (agent === undefined) show.event(event);
}

/** Returns an error text for input that begins with a slash and is not a known command; it is not sent. */
async function notSent(text: string, run: LiveRun): Promise<string | undefined> {
  if (!text.trim().startsWith("/")) return undefined;
  const { readTyped } = await import("../terminal/commands/index.ts");
  const typed = readTyped(text, await run.names());
  if (typed.type === "unknown") return typed.message;
  if (typed.type === "prompt") return undefined;
  return `/${typed.command.name} needs a terminal that can draw; this one says that it is ${process.env["TERM"] || "none"}.`;
}

function outcomeWords({ outcome }: EventOf<"tool_end">): string {
  const why = errorTextOf(outcome);
  return `${outcomeGroupOf(outcome) === "refused" ? "refused" : "failed"}${why ? `: ${why}` : ""}`;
}

async function helpText(run: LiveRun): Promise<string> {
  const names = await run.names();
  return [
    "@path attaches a file, a directory or an image; /name … calls one of these:",
    ...names.map(({ name, kind, description = "" }) => `  /${visible(name)}  ${visible(description)} (${kind})`),
    `/quit leaves. What the agent may do without asking: ${programName()} permissions list`,
  ].join("\n");
}

type Screen = {
  event(event: AgentEvent): void;
  line(text: string): void;
  /** Resolves when the whole answer has been shown. */
  settled(): Promise<void>;
};

function createScreen(workspace: string): Screen {
  let open = false;
  let isSettled = true;
  let settle = () => {};
  const write = (text: string) => {
    process.stdout.write(text);
    open = !text.endsWith("\n");
  };
  const line = (text: string) => {
    if (open) write("\n");
    write(`${text}\n`);
  };
  const end = () => {
    isSettled = true;
    settle();
  };
  const show = (event: AgentEvent) => {
    switch (event.type) {
      case "init":
        line(
          `${event.model} in ${event.cwd}${/^(plan|ask)$/.test(event.permissionMode) ? `, in ${event.permissionMode} mode` : ""}`,
        );
        break;
      case "user":
        isSettled = false;
        break;
      case "text":
        write(visible(event.text));
        break;
      case "tool_start":
        line(callLine(event, workspace));
        break;
      case "tool_output":
        write(visible(event.chunk));
        break;
      case "tool_end":
        if (outcomeGroupOf(event.outcome) !== "ok") line(`  ${visible(outcomeWords(event))}`);
        break;
      case "notice":
        line(event.kind === "warning" ? `Warning: ${visible(event.message)}` : `· ${visible(event.message)}`);
        break;
      case "retry":
        line(`· ${visible(`retrying: ${event.reason ?? ""}`)}`);
        break;
      case "done":
        if (open) write("\n");
        end();
        break;
      case "fail":
        line(`Error: ${visible(event.message)}`);
        end();
        break;
      default:
        break;
    }
  };
  return {
    line,
    event: show,
    settled: () =>
      new Promise((resolve) => {
        settle = resolve;
        if (isSettled) resolve();
      }),
  };
}
