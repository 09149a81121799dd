// Stores checkpoints of a run: after a step, the chat and the workspace are copied while no call runs, then put into the fleet. A
// checkpoint is logged only once it is stored. A run whose worker is lost resumes from the last one.
import { createReadStream, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline, type Readable } from "node:stream";
import { milliseconds, settlesWithin } from "../../process/clock.ts";
import { copyStore } from "../../store/chats/carry-chat.ts";
import { bundleState, headCommit, recordState, type WorkspaceStates } from "../../worktrees/workspace-states.ts";
import type { Entry, Fleet } from "../fleet.ts";

export type CheckpointParts = {
  fleet: Fleet;
  run: string;
  attempt: number;
  /** The folder for temporary files. */
  folder: string;
  /** Returns the folder of the chat; undefined until it is known. */
  chat(): string | undefined;
  states?: WorkspaceStates;
  /** Returns the end of the run's log, once everything shown so far is in it. */
  position(): Promise<number>;
  lastHandled(): number;
  add(entry: Entry): void;
  /** Called once, with the reason, when a checkpoint fails. */
  onProblem(message: string): void;
};

/** How long a call waits for a checkpoint to be stored. */
const maxWaitMs = 5000;
/** The minimum time between checkpoints. */
const everyMs = 1000;
const maxChatBytes = 64 * 1024 * 1024;
const maxWorkspaceBytes = 256 * 1024 * 1024;

type Copy = { chat: string; position: number; heard: number; state?: { tree: string; key: string } };

export class Checkpoints {
  readonly #parts: CheckpointParts;
  /** Calls and independent subagents that are running: no copy is made meanwhile. */
  readonly #running = new Set<string>();
  #copying: Promise<unknown> | undefined;
  #storing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextAt = 0;
  #isWanted = false;
  #isClosed = false;
  #hasProblem = false;
  #count = 0;
  /** The workspace state of the last checkpoint, and the object that holds it. */
  #workspace: { key: string; name: string; slot: number } | undefined;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when a call may run: no copy is being made, and the last copy is in the fleet, so that a lost worker costs as little
   * as possible. Waits for slow storage only briefly: most of it happens while the model is thinking.
   */
  async free(): Promise<void> {
    const waited = milliseconds();
    while (this.#copying || (this.#storing && milliseconds() - waited < maxWaitMs)) {
      const stored = this.#copying ?? this.#storing!;
      await (this.#copying ? stored : settlesWithin(stored, maxWaitMs));
    }
  }

  begin(what: string): void {
    this.#running.add(what);
  }

  end(what: string): void {
    this.#running.delete(what);
    this.#isWanted = true;
    this.#plan();
  }

  /** Marks that something happened that the next checkpoint should include. */
  touch(): void {
    this.#isWanted = true;
  }

  /** Makes a last checkpoint that includes everything so far, unless a call is running. */
  async last(): Promise<void> {
    do {
      this.#nextAt = 0;
      this.#plan();
      while (this.#copying || this.#storing) await (this.#copying ?? this.#storing);
    } while (this.#isWanted && this.#running.size === 0 && !this.#isClosed);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #plan(): void {
    clearTimeout(this.#timer);
    if (!this.#isWanted || this.#isClosed || this.#running.size > 0 || this.#copying || this.#storing) return;
    const waitMs = this.#nextAt - milliseconds();
    if (waitMs > 0) this.#timer = setTimeout(() => this.#plan(), waitMs);
    else this.#takeCheckpoint();
  }

  #takeCheckpoint(): void {
    this.#isWanted = false;
    this.#nextAt = milliseconds() + everyMs;
    const copying = this.#copy();
    this.#copying = copying
      .catch((error: Error) => this.#fail(error.message))
      .then((copy) => {
        this.#copying = undefined;
        if (!copy) return;
        this.#storing = this.#store(copy)
          .catch((error: Error) => this.#fail(error.message))
          .finally(() => {
            this.#storing = undefined;
            rmSync(copy.chat, { force: true });
            this.#plan();
          });
      });
  }

  async #copy(): Promise<Copy | undefined> {
    const { states, folder } = this.#parts;
    const chat = this.#parts.chat();
    if (chat === undefined) return undefined;
    const position = await this.#parts.position();
    const heard = this.#parts.lastHandled();
    const file = join(folder, `chat-${++this.#count}.db`);
    const tree = states && (await recordState(states));
    const key = states && `${tree} ${await headCommit(states)}`;
    copyStore(chat, file);
    return { chat: file, position, heard, ...(tree !== undefined && { state: { tree, key: key! } }) };
  }

  /** Alternates between two names, so that the object in the last log entry is never overwritten, even by a host that lost its run. */
  async #store({ chat, position, heard, state }: Copy): Promise<void> {
    const { attempt, add } = this.#parts;
    if (statSync(chat).size > maxChatBytes) throw new Error(`the chat has more than ${maxChatBytes} bytes`);
    const workspace = state && (await this.#storeWorkspace(state));
    const name = `chat-${attempt}-${this.#count % 2}`;
    await this.#put(
      name,
      pipeline(createReadStream(chat), process.getBuiltinModule("node:zlib").createGzip({ level: 1 }), () => {}),
    );
    if (!this.#isClosed) add({ type: "checkpoint", chat: name, ...(workspace && { workspace }), position, heard });
  }

  async #storeWorkspace({ tree, key }: { tree: string; key: string }): Promise<string> {
    const { attempt, states, folder } = this.#parts;
    if (this.#workspace?.key === key) return this.#workspace.name;
    const slot = this.#workspace?.slot === 0 ? 1 : 0;
    const name = `workspace-${attempt}-${slot}`;
    const file = join(folder, "workspace.bundle");
    await bundleState(states!, tree, file);
    if (statSync(file).size > maxWorkspaceBytes)
      throw new Error(`what changed in the workspace has more than ${maxWorkspaceBytes} bytes`);
    await this.#put(name, createReadStream(file));
    rmSync(file, { force: true });
    this.#workspace = { key, name, slot };
    return name;
  }

  /** Destroys the stream in any case; errors of the file and of the fleet are thrown from here. */
  async #put(name: string, bytes: Readable): Promise<void> {
    try {
      await this.#parts.fleet.put(this.#parts.run, name, bytes);
    } finally {
      bytes.destroy();
    }
  }

  /** Reports the first problem. The run continues; if its worker is lost, it resumes from an earlier step. */
  #fail(why: string): undefined {
    if (!this.#hasProblem) this.#parts.onProblem(`No checkpoint could be stored: ${why.replace(/\.$/, "")}.`);
    this.#hasProblem = true;
  }
}
