// Objects: stores bytes of any length as messages of one stream, in the format of the NATS object store: pieces under an id, and a
// description under the object's name that refers to the pieces.
import { createHash } from "node:crypto";
import { UserError } from "../../../protocol/error-codes.ts";
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import { answerMs, type Connected } from "./connect.ts";
import { isPassing } from "./errors.ts";
import { lastMessage, readPages } from "./reads.ts";
import { removeMessages } from "./removal.ts";
import { untilAnswered } from "./retry.ts";

type Description = {
  name: string;
  bucket: string;
  nuid: string;
  size: number;
  chunks: number;
  digest: string;
  mtime: string;
  deleted?: boolean;
};

/** Sends a message or request again until it is answered. */
export type Again = <T>(work: () => Promise<T>) => Promise<T>;

const pieceBytes = 128 * 1024;
const piecesInPage = 16;
/** How long cleanup after a failure may take. */
const tidyMs = 2000;

export class Objects {
  readonly #connected: Connected;
  readonly #again: Again;

  constructor(connected: Connected, again: Again) {
    this.#connected = connected;
    this.#again = again;
  }

  /** Stores the whole object or nothing. On failure the old object of that name is removed too, because a mix of both would be worse. */
  async put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const { names } = this.#connected;
    const old = await this.#describe(name);
    const nuid = randomUuid();
    const hash = createHash("sha256");
    const counts = { size: 0, chunks: 0 };
    try {
      for await (const piece of splitIntoPieces(bytes)) {
        hash.update(piece);
        counts.size += piece.length;
        counts.chunks++;
        await this.#publish(names.piece(nuid), piece);
      }
      const digest = `SHA-256=${padBase64(hash.digest("base64url"))}`;
      const description: Description = {
        ...{ name, bucket: names.objects, nuid, ...counts, digest },
        mtime: new Date().toISOString(),
      };
      await this.#publish(names.description(padBase64(nameWord(name))), JSON.stringify(description));
    } catch (error) {
      await this.#deleteObjects(name, [nuid, ...(old ? [old.nuid] : [])]);
      throw error;
    }
    if (!old) return;
    await this.#purge(names.description(padBase64(nameWord(name))), 1);
    await this.#purge(names.piece(old.nuid));
  }

  async get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = await this.#describe(name);
    return found && this.#pieces(found);
  }

  async drop(name: string): Promise<void> {
    const { names } = this.#connected;
    const found = await this.#describe(name);
    if (!found) return;
    await this.#purge(names.description(padBase64(nameWord(name))));
    await this.#purge(names.piece(found.nuid));
  }

  async *#pieces({ name, nuid, chunks, digest }: Description): AsyncGenerator<Uint8Array> {
    const { names } = this.#connected;
    const source = { stream: names.objectStream, subject: names.piece(nuid) };
    const hash = createHash("sha256");
    for (let next = 1, left = chunks; left > 0; ) {
      const limits = { from: next, most: piecesInPage, batch: piecesInPage };
      const page = await this.#again(async () => {
        for await (const each of readPages(this.#connected, source, limits)) return each;
        return [];
      });
      if (page.length === 0) throw changedObjectError(name);
      for (const { data } of page) {
        hash.update(data);
        yield data;
      }
      left -= page.length;
      next = page.at(-1)!.sequence + 1;
    }
    if (digest !== `SHA-256=${padBase64(hash.digest("base64url"))}`) throw changedObjectError(name);
  }

  async #describe(name: string): Promise<Description | undefined> {
    const { names } = this.#connected;
    const source = { stream: names.objectStream, subject: names.description(padBase64(nameWord(name))) };
    const stored = await this.#again(() => lastMessage(this.#connected, source));
    const found = stored ? (JSON.parse(Buffer.from(stored.data).toString()) as Description) : undefined;
    return found?.deleted ? undefined : found;
  }

  async #publish(subject: string, data: Uint8Array | string): Promise<void> {
    const msgID = randomUuid();
    await this.#again(() => this.#connected.jetstream.publish(subject, data, { msgID, timeout: answerMs }));
  }

  #purge(subject: string, keep = 0): Promise<void> {
    const source = { stream: this.#connected.names.objectStream, subject };
    return removeMessages(this.#connected, source, keep, this.#again);
  }

  async #deleteObjects(name: string, ids: readonly string[]): Promise<void> {
    const { names } = this.#connected;
    const brief: Again = (work) => untilAnswered(work, { patienceMs: tidyMs, isPassing });
    const stream = names.objectStream;
    for (const subject of [names.description(padBase64(nameWord(name))), ...ids.map((id) => names.piece(id))])
      await removeMessages(this.#connected, { stream, subject }, 0, brief).catch(() => {});
  }
}

async function* splitIntoPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    waiting.push(chunk);
    size += chunk.length;
    if (size < pieceBytes) continue;
    const all = Buffer.concat(waiting);
    let at = 0;
    for (; all.length - at >= pieceBytes; at += pieceBytes) yield all.subarray(at, at + pieceBytes);
    waiting = [all.subarray(at)];
    size = all.length - at;
  }
  if (size > 0) yield Buffer.concat(waiting);
}

function nameWord(name: string): string {
  return Buffer.from(name).toString("base64url");
}

function padBase64(text: string): string {
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

function changedObjectError(name: string): UserError {
  return new UserError(
    "FLEET_UNREACHABLE",
    `The object ${name} of the fleet was removed or replaced while it was read.`,
  );
}
