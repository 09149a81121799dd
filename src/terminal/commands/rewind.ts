// Rewinds the chat and the files to an earlier message, and forward again as long as no new message was sent.
import { openRewind } from "../../agent/snapshots/rewind.ts";
import { findChat, forkChat } from "../../store/chats/find-chat.ts";
import { openChat } from "../../store/chats/open-chat.ts";
import { readChat } from "../../store/chats/read-chat.ts";
import { configDir } from "../../store/config-dir.ts";
import { oneLine } from "../../text/one-line.ts";
import type { Desk } from "../desk.ts";
import { resumeChat } from "./resume-chat.ts";

/** For each chat that was rewound, a copy from before its last rewind. */
const before = new Map<string, { copy: string; turns: number }>();

type Target = { type: "turn"; number: number; prompt: string } | { type: "forward" };

export async function chooseTurn(desk: Desk): Promise<void> {
  const { conversation } = desk;
  const { chatId } = conversation.info;
  const { workspace, ephemeral } = conversation.request;
  if (ephemeral) return desk.complain("A chat that is not saved cannot be rewound. Start without --no-persist.");
  if (chatId === undefined) return;
  const config = configDir(desk.env);
  const folder = findChat(config, chatId, workspace, desk.program);
  const { turns } = readChat(folder, { events: false });
  const forward = before.get(chatId);
  if (turns.length === 0 && !forward) return desk.say("There is nothing to rewind yet.");
  const target = await desk.choose<Target>({
    title: "Rewind to before",
    items: [
      ...(forward
        ? [
            {
              value: { type: "forward" } as const,
              label: "Undo the rewind",
              detail: `to turn ${forward.turns}, with its files`,
            },
          ]
        : []),
      ...[...turns].reverse().map(({ number, prompt }) => ({
        value: { type: "turn", number, prompt } as const,
        label: oneLine(prompt, 200),
        note: `turn ${number}`,
      })),
    ],
  });
  if (!target) return;
  if (target.type === "forward") return goForward(desk, chatId);
  const copy = forkChat(config, folder);
  await conversation.run!.rewind(target.number);
  before.set(chatId, { copy: copy.id, turns: turns.length });
  await desk.reprint();
  desk.write(target.prompt);
}

/** Deletes the copy kept for going forward, once a new message is sent or the program ends. */
export async function forgetForward(desk: Desk): Promise<void> {
  const { chatId } = desk.conversation.info;
  const kept = chatId === undefined ? undefined : before.get(chatId);
  if (!kept) return;
  before.delete(chatId!);
  const { deleteChat } = await import("../../store/chats/delete-chat.ts");
  const config = configDir(desk.env);
  deleteChat(config, findChat(config, kept.copy, desk.conversation.request.workspace, desk.program));
}

/** Undoes the rewind of the files and resumes the copy of the conversation. */
async function goForward(desk: Desk, chatId: string): Promise<void> {
  const { workspace } = desk.conversation.request;
  const config = configDir(desk.env);
  const { copy } = before.get(chatId)!;
  await desk.conversation.close();
  const chat = openChat(findChat(config, chatId, workspace, desk.program));
  try {
    await openRewind({ configDir: config, workspace, chat }).undo();
  } finally {
    chat.close();
  }
  before.delete(chatId);
  await resumeChat(desk, copy);
}
