// The status line: runs the user's command with facts about the session and shows its output at the bottom of the screen.
import { isObject } from "../json/object.ts";
import { runProgram } from "../process/run-program.ts";
import type { Conversation } from "./conversation.ts";
import { cut, linesOf, type Painted, type Palette } from "./painted.ts";

type StatusCommand = { command: string; padding: number; updateIntervalMs: number; timeoutMs: number };

const shortestIntervalMs = 300;
const maxRows = 3;

/** Parses the setting from cli-config.json: `{ type: "command", command, padding?, updateIntervalMs?, timeoutMs? }`. */
function statusCommand(setting: unknown): StatusCommand | undefined {
  if (!isObject(setting) || typeof setting.command !== "string" || setting.command.trim() === "") return undefined;
  const number = (value: unknown, otherwise: number) => (typeof value === "number" && value >= 0 ? value : otherwise);
  return {
    command: setting.command,
    padding: number(setting.padding, 0),
    updateIntervalMs: Math.max(shortestIntervalMs, number(setting.updateIntervalMs, shortestIntervalMs)),
    timeoutMs: number(setting.timeoutMs, 2000),
  };
}

export type StatusInfo = {
  conversation: Conversation;
  version: string;
  columns: number;
  vim?: string | undefined;
};

/** Runs the command when something changed, at most once per interval; a new run cancels the one before. */
export class StatusLine {
  #command: StatusCommand | undefined;
  readonly #palette: Palette;
  readonly #changed: () => void;
  readonly #env: NodeJS.ProcessEnv;
  #rows: readonly string[] = [];
  #lastSent = "";
  #askedAt = 0;
  #running: AbortController | undefined;
  #later: NodeJS.Timeout | undefined;

  constructor(palette: Palette, env: NodeJS.ProcessEnv, changed: () => void) {
    this.#palette = palette;
    this.#env = env;
    this.#changed = changed;
  }

  get command(): string | undefined {
    return this.#command?.command;
  }

  /** Applies the `statusLine` setting; undefined removes the status line. */
  use(settings: unknown): void {
    this.stop();
    this.#command = statusCommand(settings);
    this.#rows = [];
    this.#lastSent = "";
    this.#changed();
  }

  lines(columns: number): Painted[] {
    const indent = " ".repeat(this.#command?.padding ?? 0);
    return this.#rows.map((row) => cut(this.#palette.withColours(indent + row), columns - 1));
  }

  update(status: StatusInfo): void {
    if (!this.#command) return;
    const payload = JSON.stringify(payloadOf(status));
    if (payload === this.#lastSent) return;
    const wait = this.#askedAt + this.#command.updateIntervalMs - Date.now();
    clearTimeout(this.#later);
    if (wait > 0) {
      this.#later = setTimeout(() => this.update(status), wait);
      return;
    }
    this.#lastSent = payload;
    this.#askedAt = Date.now();
    void this.#ask(payload, status.conversation.request.workspace, this.#command);
  }

  stop(): void {
    clearTimeout(this.#later);
    this.#running?.abort();
  }

  async #ask(payload: string, cwd: string, { command, timeoutMs }: StatusCommand): Promise<void> {
    this.#running?.abort();
    const abort = new AbortController();
    this.#running = abort;
    const { exitCode, stdout, cancelled } = await runProgram({
      command: ["/bin/sh", "-c", command],
      cwd,
      env: this.#env,
      input: payload,
      timeoutMs,
      graceMs: 200,
      signal: abort.signal,
      leftovers: "group",
      keepBytes: 65_536,
    });
    const text = stdout.toString("utf8").trimEnd();
    // Keep the previous rows if the command fails without output.
    if (cancelled || (exitCode !== 0 && text === "")) return;
    this.#rows = text === "" ? [] : linesOf(text).slice(0, maxRows);
    this.#changed();
  }
}

function payloadOf({ conversation, version, columns, vim }: StatusInfo): object {
  const { info, request } = conversation;
  const { context, tokens } = info;
  const used = context ? Math.round((context.used / context.window) * 1000) / 10 : 0;
  return {
    session_id: info.chatId ?? "",
    render_width_chars: columns,
    cwd: request.workspace,
    autorun: info.mode === "force",
    model: { id: info.model, display_name: info.model },
    workspace: { current_dir: request.workspace, project_dir: request.workspace, added_dirs: request.roots ?? [] },
    version,
    output_style: { name: "default" },
    context_window: {
      total_input_tokens: tokens.input,
      total_output_tokens: tokens.output,
      context_window_size: context?.window ?? 0,
      used_percentage: used,
      remaining_percentage: Math.max(0, 100 - used),
    },
    ...(vim !== undefined && { vim: { mode: vim } }),
  };
}
