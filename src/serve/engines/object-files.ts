// Stores the objects of runs as files, one folder per run. A name appears once its file is complete and flushed to disk.
import { once } from "node:events";
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { UserError } from "../../protocol/error-codes.ts";
import { randomUuid } from "../../store/chats/random-uuid.ts";
import { syncFoldersUpTo } from "../../store/sync.ts";
import { systemErrorText } from "../../text/system-error.ts";

/** Valid names of runs and objects: a single path component. */
const plainName = /^[\w-][\w.-]*$/;

export class ObjectFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(run: string, name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const file = this.#file(run, name);
    const part = `${file}.${randomUuid()}.part`;
    try {
      mkdirSync(join(this.#folder, run), { recursive: true, mode: 0o700 });
      const whole = createWriteStream(part, { mode: 0o600, flush: true });
      // Its file may still be made after a failure: whoever removes it must wait.
      await pipeline(bytes, whole).finally(() => whole.closed || once(whole, "close"));
      renameSync(part, file);
      syncFoldersUpTo(join(this.#folder, run), this.#folder);
    } catch (error) {
      rmSync(part, { force: true });
      throw new UserError("STORE_FAILED", `${file} cannot be written: ${systemErrorText(error)}.`);
    }
  }

  get(run: string, name: string): AsyncIterable<Uint8Array> | undefined {
    const file = this.#file(run, name);
    return existsSync(file) ? createReadStream(file) : undefined;
  }

  drop(run: string): void {
    rmSync(join(this.#folder, run), { recursive: true, force: true });
  }

  #file(run: string, name: string): string {
    for (const word of [run, name])
      if (!plainName.test(word)) throw new UserError("USAGE", `'${word}' cannot name what is kept for a run.`);
    return join(this.#folder, run, name);
  }
}
