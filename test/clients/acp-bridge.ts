// A client of the kind "ACP bridge": an editor's session on top of print mode. It checks the login, makes the chat first, resumes it with
// every prompt, turns deltas into message chunks and calls into tool updates, and cancels with SIGINT.
import { runAgent } from "./client-process.ts";
import type { ClientPlace } from "./place.ts";

export type Update =
  | { type: "agent_message_chunk"; text: string }
  | { type: "agent_thought_chunk"; text: string }
  | { type: "tool_call"; id: string; kind: string }
  | { type: "tool_call_update"; id: string; status: "completed" | "failed" };

export type PromptEnd = { stopReason: "end_turn" | "cancelled" | "refusal"; updates: Update[]; error?: string };

const kinds: Record<string, string> = { read: "read", edit: "edit", shell: "execute", grep: "search", glob: "search" };

export class BridgeSession {
  readonly #place: ClientPlace;
  readonly #cwd: string;
  readonly #chat: string;

  private constructor(place: ClientPlace, cwd: string, chat: string) {
    this.#place = place;
    this.#cwd = cwd;
    this.#chat = chat;
  }

  static async open(place: ClientPlace, cwd: string): Promise<BridgeSession> {
    const ask = async (...args: string[]) => (await runAgent({ place, cwd, args }).ended).stdout.trim();
    const status = await ask("status");
    const [, account] = /Logged in as (\S+)/.exec(status) ?? [];
    if (!account) throw new Error(`auth_required: ${status}`);
    const chat = await ask("create-chat");
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(chat))
      throw new Error(`no chat id: ${chat}`);
    return new BridgeSession(place, cwd, chat);
  }

  get chatId(): string {
    return this.#chat;
  }

  /** `cancelAt`: the editor cancels when such an update came. */
  async prompt(text: string, options: { cancelAt?: Update["type"] } = {}): Promise<PromptEnd> {
    const updates: Update[] = [];
    let isCancelled = false;
    let failure: string | undefined;
    const args = ["-p", "--output-format", "stream-json", "--stream-partial-output", "--trust", "--force"];
    const { child, ended } = runAgent({
      place: this.#place,
      cwd: this.#cwd,
      args: [...args, "--resume", this.#chat, text],
      onLine: (line) => {
        const event = JSON.parse(line);
        const update = updateOf(event);
        if (event.type === "result" && event.is_error) failure = event.result;
        if (!update) return;
        updates.push(update);
        if (update.type !== options.cancelAt || isCancelled) return;
        isCancelled = true;
        child.kill("SIGINT");
      },
    });
    const { code, stderr } = await ended;
    if (isCancelled) return { stopReason: "cancelled", updates };
    if (code === 0) return { stopReason: "end_turn", updates };
    return { stopReason: "refusal", updates, error: failure ?? stderr.trim() };
  }
}

function updateOf(event: any): Update | undefined {
  switch (event.type) {
    case "assistant":
      // With partial output both kinds of flush only repeat what was sent.
      return event.timestamp_ms !== undefined && event.model_call_id === undefined
        ? { type: "agent_message_chunk", text: event.message.content[0].text }
        : undefined;
    case "thinking":
      return event.subtype === "delta" ? { type: "agent_thought_chunk", text: event.text } : undefined;
    case "tool_call": {
      const name = Object.keys(event.tool_call)
        .find((key) => key.endsWith("ToolCall"))!
        .slice(0, -8);
      if (event.subtype === "started") return { type: "tool_call", id: event.call_id, kind: kinds[name] ?? "other" };
      const isDone = event.tool_call[`${name}ToolCall`].result?.success !== undefined;
      return { type: "tool_call_update", id: event.call_id, status: isDone ? "completed" : "failed" };
    }
    default:
      return undefined;
  }
}
