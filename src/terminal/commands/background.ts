// `/background` and `& …`: a copy of this chat works on a prompt in the background.
import type { RunRequest } from "../../protocol/run.ts";
import type { Desk } from "../desk.ts";
import type { SlashCommand } from "./command.ts";

export const backgroundCommand: SlashCommand = {
  name: "background",
  operands: "<prompt>",
  help: "Run a prompt in the background, in a copy of this chat (& prompt)",
  async run(desk, prompt) {
    if (prompt === "") return desk.complain("A prompt is missing. Example: & run the tests and fix what fails");
    const words = ["-b", "--request-on-stdin", "--", prompt];
    const { code, text } = await desk.command(words, JSON.stringify(backgroundRequest(desk)));
    if (code !== 0) return desk.complain(text.trim());
    const id = text.trim();
    desk.say(`Started ${id}. To watch it: ${desk.program} runs attach ${id.slice(0, 12)}`);
  },
};

/**
 * The copy inherits what this run was started with: every restriction, and the grants given at that time. Permissions granted for
 * this chat only, and force that was switched on later, are not inherited.
 */
function backgroundRequest({ conversation: { info, request, turn } }: Desk): RunRequest {
  const { mode: _mode, force, ...same } = request;
  const isKept = info.chatId !== undefined && turn > 0 && !request.ephemeral;
  const isReadOnly = info.mode === "plan" || info.mode === "ask";
  return {
    ...same,
    chat: isKept ? { type: "resume", id: info.chatId!, fork: true } : { type: "new" },
    ...(isReadOnly && { mode: info.mode as "plan" | "ask" }),
    ...(force && info.mode !== "default" && { force }),
  };
}
