// Deletes a chat for good: its store, its transcript, its words in the search index. Its snapshots go with the next sweep.
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { storeError } from "../sqlite.ts";
import { subagentOutput } from "../subagent-output.ts";
import { chatsDir, isChatId, storeFile } from "./layout.ts";
import { forgetChat } from "./search-index.ts";
import { readMetadataFile } from "./transcript-files.ts";
import { lockName, takeWriterLock } from "./writer-lock.ts";

/** The store of a chat that is being deleted. One that is found by this name is what a crash left. */
const goneStore = "store.db.deleted";

/** A chat that a run is using is left alone. */
export function deleteChat(configDir: string, folder: string): void {
  const id = basename(folder);
  const project = dirname(folder);
  if (!isChatId(id) || dirname(project) !== chatsDir(configDir)) throw new Error(`${folder} is not a folder of a chat`);
  const lock = takeWriterLock(folder);
  try {
    const parent = readMetadataFile(folder)?.parent;
    // Gone for everybody in one step. The folder stays, because the lock in it is an open file.
    renameSync(storeFile(folder), join(folder, goneStore));
    for (const path of [...transcriptsOf(configDir, id, parent), subagentOutput(configDir, id)])
      rmSync(path, { recursive: true, force: true });
    removeFiles(folder);
  } catch (error) {
    throw storeError(error, folder);
  } finally {
    lock.freeFolder();
  }
  forgetChat(configDir, `${basename(project)}/${id}`);
  finishOthers(project);
  removeEmpty(project);
}

function removeFiles(folder: string): void {
  const others = namesIn(folder).filter((name) => name !== lockName && name !== goneStore);
  for (const name of [...others, goneStore]) rmSync(join(folder, name), { recursive: true, force: true });
}

/** Brings to an end what a crash cut off. */
function finishOthers(project: string): void {
  for (const name of namesIn(project)) {
    const folder = join(project, name);
    if (!existsSync(join(folder, goneStore))) continue;
    try {
      const lock = takeWriterLock(folder, { waitMs: 0 });
      if (!existsSync(storeFile(folder))) removeFiles(folder);
      lock.freeFolder();
    } catch {
      // Another process is at it.
    }
  }
}

/** In every project: which one the chat belonged to is not known of all chats. Older ones lie flat. */
function transcriptsOf(configDir: string, id: string, parent: string | undefined): string[] {
  const projects = join(configDir, "projects");
  const names = ["", ".jsonl", ".txt"].map((end) => id + end);
  if (parent !== undefined && isChatId(parent)) names.push(join(parent, "subagents", `${id}.jsonl`));
  return namesIn(projects).flatMap((project) =>
    names.map((name) => join(projects, project, "agent-transcripts", name)),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It holds other chats.
  }
}
