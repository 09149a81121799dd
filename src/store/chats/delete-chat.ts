// Deletes a chat permanently: its store, its transcript, its entries in the search index. The next sweep removes its snapshots.
import { existsSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { namesIn } from "../folder-names.ts";
import { storeError } from "../sqlite.ts";
import { subagentOutput } from "../subagent-output.ts";
import { chatsDir, isChatId, storeFile } from "./layout.ts";
import { forgetChat } from "./search-index.ts";
import { readMetadataFile } from "./transcript-files.ts";
import { lockName, takeWriterLock } from "./writer-lock.ts";

/** The name of the store during deletion. A file with this name was left by a crash. */
const goneStore = "store.db.deleted";

/** Deletes a chat. Throws if a run is using it. */
export function deleteChat(configDir: string, folder: string): void {
  const id = basename(folder);
  const project = dirname(folder);
  if (!isChatId(id) || dirname(project) !== chatsDir(configDir)) throw new Error(`${folder} is not a folder of a chat`);
  const lock = takeWriterLock(folder);
  try {
    const parent = readMetadataFile(folder)?.parent;
    // Renaming removes the chat in one step. The folder stays for now, because the lock in it is an open file.
    renameSync(storeFile(folder), join(folder, goneStore));
    for (const path of [...transcriptsOf(configDir, id, parent), subagentOutput(configDir, id)])
      rmSync(path, { recursive: true, force: true });
    removeFiles(folder);
  } catch (error) {
    throw storeError(error, folder);
  } finally {
    lock.releaseAndRemoveFolder();
  }
  forgetChat(configDir, `${basename(project)}/${id}`);
  finishOthers(project);
  removeEmpty(project);
}

function removeFiles(folder: string): void {
  const others = namesIn(folder).filter((name) => name !== lockName && name !== goneStore);
  for (const name of [...others, goneStore]) rmSync(join(folder, name), { recursive: true, force: true });
}

/** Completes deletions that were interrupted by a crash. */
function finishOthers(project: string): void {
  for (const name of namesIn(project)) {
    const folder = join(project, name);
    if (!existsSync(join(folder, goneStore))) continue;
    try {
      const lock = takeWriterLock(folder, { waitMs: 0 });
      if (!existsSync(storeFile(folder))) removeFiles(folder);
      lock.releaseAndRemoveFolder();
    } catch {
      // Another process is completing this deletion.
    }
  }
}

/** Lists the paths in every project, since the project of a chat is not always known. Older transcripts are not in a subfolder. */
function transcriptsOf(configDir: string, id: string, parent: string | undefined): string[] {
  const projects = join(configDir, "projects");
  const names = ["", ".jsonl", ".txt"].map((end) => id + end);
  if (parent !== undefined && isChatId(parent)) names.push(join(parent, "subagents", `${id}.jsonl`));
  return namesIn(projects).flatMap((project) =>
    names.map((name) => join(projects, project, "agent-transcripts", name)),
  );
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder contains other chats, so it stays.
  }
}
