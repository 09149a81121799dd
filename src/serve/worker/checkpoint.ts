// Checkpoints of a run: after its steps, the chat and the workspace are copied while no call runs, then put into the fleet.
// Only what is there is said to be there. A run whose worker is lost goes on from the last one.
import { createReadStream, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline, type Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { happensWithin, milliseconds } from "../../process/clock.ts";
import { copyStore } from "../../store/chats/carry-chat.ts";
import { bundleState, headOf, recordState, type WorkspaceStates } from "../../worktrees/workspace-states.ts";
import type { Entry, Fleet } from "../fleet.ts";

export type CheckpointParts = {
  fleet: Fleet;
  run: string;
  attempt: number;
  /** For files on their way. */
  folder: string;
  /** The folder of the chat; undefined while it is not known. */
  chat(): string | undefined;
  states?: WorkspaceStates;
  /** Where the log of the run ends now, with everything that was shown in it. */
  position(): Promise<number>;
  heard(): number;
  add(entry: Entry): void;
  /** Why there is none. Told once. */
  onProblem(message: string): void;
};

/** So long a call waits for a checkpoint to be stored. */
const mostWaitMs = 5000;
/** Not more often. */
const everyMs = 1000;
const mostChatBytes = 64 * 1024 * 1024;
const mostWorkspaceBytes = 256 * 1024 * 1024;

type Copy = { chat: string; position: number; heard: number; state?: { tree: string; key: string } };

export class Checkpoints {
  readonly #parts: CheckpointParts;
  /** Calls that run, and subagents that work by themselves: no moment for a copy. */
  readonly #running = new Set<string>();
  #copying: Promise<unknown> | undefined;
  #storing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextAt = 0;
  #isWanted = false;
  #isClosed = false;
  #hasProblem = false;
  #count = 0;
  /** What the last one holds of the workspace, and under which name. */
  #workspace: { key: string; name: string; slot: number } | undefined;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
  }

  /**
   * A call may run: no copy is being made, and what was copied is in the fleet, so that a loss takes back as little as can be.
   * A slow way there is not waited for: most of it was spent while the model thought.
   */
  async free(): Promise<void> {
    const waited = milliseconds();
    while (this.#copying || (this.#storing && milliseconds() - waited < mostWaitMs)) {
      const stored = this.#copying ?? this.#storing!;
      await (this.#copying ? stored : happensWithin(stored, mostWaitMs));
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

  /** Something happened that the next one is to hold. */
  touch(): void {
    this.#isWanted = true;
  }

  /** The last one holds all that happened, where no call runs. */
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
    else this.#take();
  }

  #take(): void {
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
    const heard = this.#parts.heard();
    const file = join(folder, `chat-${++this.#count}.db`);
    const tree = states && (await recordState(states));
    const key = states && `${tree} ${await headOf(states)}`;
    copyStore(chat, file);
    return { chat: file, position, heard, ...(tree !== undefined && { state: { tree, key: key! } }) };
  }

  /** Two names in turn: what the last entry names is never written to, also not by a host that has lost its run. */
  async #store({ chat, position, heard, state }: Copy): Promise<void> {
    const { attempt, add } = this.#parts;
    if (statSync(chat).size > mostChatBytes) throw new Error(`the chat has more than ${mostChatBytes} bytes`);
    const workspace = state && (await this.#storeWorkspace(state));
    const name = `chat-${attempt}-${this.#count % 2}`;
    await this.#put(
      name,
      pipeline(createReadStream(chat), createGzip({ level: 1 }), () => {}),
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
    if (statSync(file).size > mostWorkspaceBytes)
      throw new Error(`what changed in the workspace has more than ${mostWorkspaceBytes} bytes`);
    await this.#put(name, createReadStream(file));
    rmSync(file, { force: true });
    this.#workspace = { key, name, slot };
    return name;
  }

  /** What goes wrong with the file or the fleet ends both, and comes back from here. */
  async #put(name: string, bytes: Readable): Promise<void> {
    try {
      await this.#parts.fleet.put(this.#parts.run, name, bytes);
    } finally {
      bytes.destroy();
    }
  }

  /** The run goes on without: if its worker is lost, it goes on from an earlier step. */
  #fail(why: string): undefined {
    if (!this.#hasProblem) this.#parts.onProblem(`No checkpoint could be stored: ${why.replace(/\.$/, "")}.`);
    this.#hasProblem = true;
  }
}
