// `/background` and `& …`: a copy of this chat works on a prompt by itself, in the background.
import type { RunRequest } from "../../protocol/run.ts";
import type { Desk } from "../desk.ts";
import type { SlashCommand } from "./command.ts";

export const backgroundCommand: SlashCommand = {
  name: "background",
  operands: "<prompt>",
  help: "Run a prompt in the background, in a copy of this chat (& prompt)",
  group: "Session",
  async run(desk, prompt) {
    if (prompt === "") return desk.complain("A prompt is missing. Example: & run the tests and fix what fails");
    const { code, text } = await desk.command(["-b", ...flagsOf(desk), "--", prompt]);
    if (code !== 0) return desk.complain(text.trim());
    const id = text.trim();
    desk.say(`Started ${id}. To watch it: ${desk.program} runs attach ${id.slice(0, 12)}`);
  },
};

type Field = (request: RunRequest) => readonly string[];

/** What the copy takes over. What it was allowed here for this chat alone stays here. */
const fields: readonly Field[] = [
  ({ model }) => (model === undefined ? [] : ["--model", model]),
  ({ effort }) => (effort === undefined ? [] : ["--effort", effort]),
  ({ endpoint }) => (endpoint === undefined ? [] : ["--endpoint", endpoint]),
  ({ endpointType }) => (endpointType === undefined ? [] : ["--endpoint-type", endpointType]),
  ({ roots = [] }) => roots.flatMap((root) => ["--add-dir", root]),
  ({ sandbox }) => (sandbox === undefined ? [] : ["--sandbox", sandbox]),
];

function flagsOf({ conversation: { facts, request, turn } }: Desk): string[] {
  const mode = facts.mode === "force" ? ["--force"] : facts.mode === "default" ? [] : ["--mode", facts.mode];
  const isKept = facts.chatId !== undefined && turn > 0 && !request.unkept;
  return [
    ...fields.flatMap((flags) => flags(request)),
    ...mode,
    ...(isKept ? ["--resume", facts.chatId!, "--fork"] : []),
  ];
}
