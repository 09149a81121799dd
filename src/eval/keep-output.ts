// Keeps an attempt's output when its folders are removed, and its recording if it passed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { exporters } from "../export/index.ts";
import { findChat } from "../store/chats/find-chat.ts";
import { readWhatIsLeft } from "../store/chats/read-chat.ts";
import { tryOr } from "../text/try-or.ts";
import type { Attempt, AttemptResult } from "./attempt.ts";
import { type AttemptFolders, readIfThere } from "./folders.ts";

export function recordingIn({ base }: AttemptFolders): string {
  return join(base, "recording.jsonl");
}

export async function keepOutput(
  { output, recordTo, task, label }: Attempt,
  folders: AttemptFolders,
  result: AttemptResult,
): Promise<void> {
  const recording = recordingIn(folders);
  if (recordTo !== undefined && result.status === "passed" && existsSync(recording)) {
    mkdirSync(dirname(recordTo), { recursive: true });
    writeFileSync(recordTo, makePortable(readFileSync(recording, "utf8"), folders));
  }
  if (output === undefined) return;
  const { patch, ...withoutPatch } = result;
  const agent = join(folders.logs, "agent");
  const outputFiles: Record<string, string | undefined> = {
    "patch.diff": patch,
    "result.json": `${JSON.stringify(withoutPatch, null, 2)}\n`,
    "stream.jsonl": readIfThere(join(agent, "cursor-cli.txt")),
    "answer.txt": readIfThere(join(agent, "answer.txt")),
    "verifier.txt": readIfThere(join(folders.logs, "verifier", "output.txt")),
    "recording.jsonl": readIfThere(recording),
    "trajectory.json": await trajectoryOf(folders, result.agent.sessionId),
  };
  const folder = join(output, task.name, label);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(outputFiles))
    if (text !== undefined) writeFileSync(join(folder, name), text);
}

/** Exports the trajectory in the format of Harbor. Returns undefined if no chat was kept. */
async function trajectoryOf(
  { config, work }: AttemptFolders,
  sessionId: string | undefined,
): Promise<string | undefined> {
  if (sessionId === undefined) return undefined;
  const exporter = await exporters.atif();
  // The agent ended before its first event.
  return tryOr(
    () => [...exporter(readWhatIsLeft(findChat(config, sessionId, work), { events: true }))].join(""),
    undefined,
  );
}

/** Removes what is specific to this machine and attempt. Lengths and digests stay valid: paths and platform are not compared. */
function makePortable(recording: string, { base }: AttemptFolders): string {
  const same = base.replace(/[^/-]{6}$/, "000000");
  return recording.replaceAll(base, same).replace(/(?<=\\nPlatform: )\w+ [^\\]*?(?=;|\\n)/g, process.platform);
}
