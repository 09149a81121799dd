// Payloads: encodes values as message data. A value too large for a message is stored as an object that the message names.
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import { lastWord, word } from "./keys.ts";
import type { Server } from "./server.ts";

type Packed = { value: unknown } | { object: string };

export class Payloads {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Encodes a value for a message; a large one is stored as an object. With `keep`, that survives when the run's log is pruned. */
  async pack(run: string, value: unknown, { keep = false } = {}): Promise<string> {
    const data = JSON.stringify({ value } satisfies Packed);
    if (Buffer.byteLength(data) <= this.#server.maxBytes) return data;
    const name = `${keep ? "spec" : "large"}-${randomUuid()}`;
    await this.#server.publish("state", `${keep ? "kept" : "object"}.${word(run)}.${name}`, "");
    await this.#server.putObject(objectName(run, name), inOnePiece(Buffer.from(JSON.stringify(value))));
    return JSON.stringify({ object: name } satisfies Packed);
  }

  /** Decodes a value that `pack` encoded. Returns undefined if the object that contains it was deleted. */
  async unpack<T>(run: string, data: Uint8Array): Promise<T | undefined> {
    const packed = JSON.parse(Buffer.from(data).toString()) as Packed;
    if ("value" in packed) return packed.value as T;
    const bytes = await this.#server.getObject(objectName(run, packed.object));
    if (!bytes) return undefined;
    const pieces: Uint8Array[] = [];
    for await (const piece of bytes) pieces.push(piece);
    return JSON.parse(Buffer.concat(pieces).toString()) as T;
  }

  async put(run: string, name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#server.publish("state", `object.${word(run)}.${word(name)}`, "");
    await this.#server.putObject(objectName(run, name), bytes);
  }

  get(run: string, name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#server.getObject(objectName(run, name));
  }

  async drop(run: string, kinds: readonly ("object" | "kept")[]): Promise<void> {
    for (const kind of kinds) {
      const filter = `${kind}.${word(run)}.*`;
      const names = (await this.#server.keys("state", filter)).map(lastWord);
      for (const name of names) await this.#server.dropObject(objectName(run, name));
      if (names.length > 0) await this.#server.purge("state", filter);
    }
  }
}

/** Encodes both parts as words, like the key of the object's marker. */
function objectName(run: string, name: string): string {
  return `${word(run)}/${word(name)}`;
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
