// Debug mode: instructs the agent to find the cause by a fixed method before it changes anything.
import type { SlashCommand } from "./command.ts";
import { reopen } from "./resume-chat.ts";

export const debugMethod = `# Debug mode

The user is after the cause of a fault. Work in this order, and say at which step you are:
1. Name two to five hypotheses that would explain what was observed.
2. Add the smallest logging that tells them apart. Mark each such line with the comment "debug-mode".
3. Run what shows the fault. Where only the user can do that, say exactly what to do, and wait for what they saw.
4. Decide by what was logged which hypothesis holds. If none does, begin again with new ones.
5. Fix the cause, not the symptom; run it again to see that the fault is gone.
6. Remove every line that is marked "debug-mode".`;

export const debugCommand: SlashCommand = {
  name: "debug",
  operands: "[prompt]",
  help: "Debug mode on or off: hypotheses, logging, cause, fix",
  needsIdle: true,
  async run(desk, prompt) {
    const { request } = desk.conversation;
    const appendedPrompt = request.appendSystemPrompt ?? "";
    const isOn = appendedPrompt.includes(debugMethod);
    if (isOn && prompt !== "") return desk.submit(prompt);
    const parts = isOn ? [appendedPrompt.replace(debugMethod, "")] : [appendedPrompt, debugMethod];
    const appendSystemPrompt = parts
      .map((part) => part.trim())
      .filter(Boolean)
      .join("\n\n");
    const { appendSystemPrompt: _before, ...rest } = request;
    const isOpen = await reopen(desk, { ...rest, ...(appendSystemPrompt !== "" && { appendSystemPrompt }) });
    if (!isOpen) return;
    desk.say(
      isOn ? "Debug mode is off." : "Debug mode is on: first the cause, then the fix. /debug again turns it off.",
    );
    if (prompt !== "") desk.submit(prompt);
  },
};
