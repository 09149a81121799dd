// Renders background runs as lines, and the events of a run for terminals without a full screen.
import type { AgentEvent } from "../../../protocol/event.ts";
import type { RunRecord } from "../../../serve/fleet.ts";
import { ageOf } from "../../../text/age.ts";
import { shortPath } from "../../../text/short-path.ts";
import { visible } from "../../../text/visible.ts";
import { cut } from "../../../text/width.ts";
import { callLine } from "../../call-line.ts";
import { tableLines } from "../../table.ts";
import { printableLine } from "../sessions/chat-lines.ts";

export function runLines(runs: readonly RunRecord[], { home, now }: { home: string; now: number }): string[] {
  const cells = runs.map((run) => [
    run.id,
    ageOf(run.createdAt, now),
    runStateText(run),
    run.spec.cli,
    cut(printableLine(run.spec.prompt.text), 50),
    printableLine(shortPath(run.spec.request.workspace, home)),
  ]);
  return tableLines([["ID", "AGE", "STATE", "AGENT", "PROMPT", "WORKSPACE"], ...cells]);
}

export function runStateText({ state, open }: RunRecord): string {
  return state === "running" && open > 0 ? "asking" : state;
}

export function runJson({
  id,
  agent,
  spec,
  state,
  open,
  createdAt,
  startedAt,
  endedAt,
  sessionId,
  end,
}: RunRecord): object {
  const { cli, request, prompt, source, placement } = spec;
  return {
    id,
    agent,
    state,
    questions: open,
    cli,
    workspace: request.workspace,
    prompt: prompt.text,
    ...(source && { source }),
    ...(placement && { placement }),
    createdAt,
    startedAt: startedAt ?? null,
    endedAt: endedAt ?? null,
    sessionId: sessionId ?? null,
    result: end ?? null,
  };
}

/** Prints the events of a run as lines. `write` receives escaped text, in which foreign content cannot move the cursor. */
export function createRunScreen(workspace: string, write: (text: string) => void) {
  /** Paths are shown relative to the agent's workspace, which on a worker is another folder. */
  let place = workspace;
  let isOpen = false;
  const put = (text: string) => {
    write(text);
    isOpen = !text.endsWith("\n");
  };
  const line = (text: string) => put(`${isOpen ? "\n" : ""}${text}\n`);
  /** The text that was streamed so far, so that it is not printed a second time when it is complete. */
  let answerText = "";
  const show = (event: AgentEvent) => {
    switch (event.type) {
      case "init":
        place = event.cwd;
        break;
      case "user":
        line(`> ${visible(event.text)}`);
        break;
      case "text":
        answerText += event.text;
        put(visible(event.text));
        break;
      case "text_end":
        if (answerText === "") put(visible(event.text));
        if (isOpen) put("\n");
        answerText = "";
        break;
      case "tool_start":
        line(callLine(event, place));
        break;
      case "tool_end":
        if (event.outcome?.kind !== "success") line(`  ${event.outcome?.kind ?? "ended"}`);
        break;
      case "notice":
        if (event.message.trim() !== "") line(`· ${visible(event.message)}`);
        break;
      case "fail":
        line(`Error: ${visible(event.message)}`);
        break;
      default:
        break;
    }
  };
  return { line, event: show };
}
