// Deletes a chat for good: its store, its transcript, its words in the search index. Its snapshots go with the next sweep.
import { readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { storeError } from "../sqlite.ts";
import { subagentOutput } from "../subagent-output.ts";
import { chatsDir, isChatId } from "./layout.ts";
import { forgetChat } from "./search-index.ts";
import { readMetadataFile } from "./transcript-files.ts";
import { takeWriterLock } from "./writer-lock.ts";

/** A chat that a run is using is left alone. */
export function deleteChat(configDir: string, folder: string): void {
  const id = basename(folder);
  const project = dirname(folder);
  if (!isChatId(id) || dirname(project) !== chatsDir(configDir)) throw new Error(`${folder} is not a folder of a chat`);
  const lock = takeWriterLock(folder);
  try {
    // Gone for everybody in one step. What a crash leaves of it has a name that no chat has, and goes with the next one.
    renameSync(folder, join(project, `.deleted-${id}`));
    const parent = readMetadataFile(join(project, `.deleted-${id}`))?.parent;
    const deleted = namesIn(project).filter((name) => name.startsWith(".deleted-"));
    for (const path of [
      ...transcriptsOf(configDir, id, parent),
      subagentOutput(configDir, id),
      ...deleted.map((name) => join(project, name)),
    ])
      rmSync(path, { recursive: true, force: true });
  } catch (error) {
    throw storeError(error, folder);
  } finally {
    lock.free();
  }
  forgetChat(configDir, `${basename(project)}/${id}`);
  removeEmpty(project);
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
