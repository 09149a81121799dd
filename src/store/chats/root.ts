// The root of a chat: a protobuf node that lists the ids of the message blobs in order.
import { sha256 } from "./sha256.ts";

/** The bytes before each reference in a root: field 1, with a value of 32 bytes. */
const referenceTag = [0x0a, 0x20] as const;
const referenceBytes = 34;
/** The same bytes as hexadecimal digits, in which ids are written. */
export const referenceDigits = "0a20";

/** A small JSON after the references, which decoders skip. One popular reader requires nodes to contain JSON. */
const tail = encodeRootEnd('{"type":"root"}');

function encodeRootEnd(json: string): Buffer {
  return Buffer.concat([Buffer.from([0xc2, 0x3e, json.length]), Buffer.from(json)]);
}

/** The root of a new chat. Its hash is a constant, so that none must be computed before the first event. */
export const emptyRoot = { id: "7d04a955b63a86fdb6eb992589111c4faead43524a512aaf306c2d2b458449e2", data: tail };

/** A growing root: adding a message costs the same at any length. */
export class RootBuilder {
  #references: Buffer;
  #length: number;

  constructor(references = Buffer.alloc(0)) {
    this.#references = references;
    this.#length = references.length;
  }

  add(id: string): void {
    if (this.#length + referenceBytes > this.#references.length)
      this.#references = Buffer.concat([this.#references], (this.#length + referenceBytes * 32) * 2);
    this.#references[this.#length] = referenceTag[0];
    this.#references[this.#length + 1] = referenceTag[1];
    this.#references.write(id, this.#length + 2, 32, "hex");
    this.#length += referenceBytes;
  }

  /** Returns whether a node equals this root or an earlier, shorter state of it. */
  was(node: Uint8Array): boolean {
    const length = node.length - tail.length;
    const names = this.#references.subarray(0, Math.max(0, length));
    return length <= this.#length && length % referenceBytes === 0 && Buffer.concat([names, tail]).equals(node);
  }

  build(): { id: string; data: Buffer } {
    const data = Buffer.concat([this.#references.subarray(0, this.#length), tail]);
    return { id: sha256(data), data };
  }
}

export function rootFromIds(ids: readonly string[]): RootBuilder {
  const root = new RootBuilder();
  for (const id of ids) root.add(id);
  return root;
}

/** Builds a root from ids joined with `referenceDigits`. */
export function rootOfDigits(ids: string): RootBuilder {
  return new RootBuilder(Buffer.from(ids === "" ? "" : referenceDigits + ids, "hex"));
}

/** Returns the ids in field 1; undefined if the bytes are not a root. */
export function readRoot(data: Uint8Array): string[] | undefined {
  const ids: string[] = [];
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  let at = 0;
  while (at < bytes.length) {
    const tag = varint(bytes, at);
    if (!tag || tag.value < 8) return undefined;
    at = tag.end;
    const wireType = tag.value % 8;
    if (wireType === 0) {
      const value = varint(bytes, at);
      if (!value) return undefined;
      at = value.end;
    } else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else if (wireType === 2) {
      const length = varint(bytes, at);
      if (!length || length.end + length.value > bytes.length) return undefined;
      if (tag.value === referenceTag[0]) {
        if (length.value !== 32) return undefined;
        ids.push(bytes.toString("hex", length.end, length.end + 32));
      }
      at = length.end + length.value;
    } else return undefined;
  }
  return at === bytes.length ? ids : undefined;
}

function varint(bytes: Buffer, start: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let at = start, factor = 1; at < bytes.length && at < start + 10; at++, factor *= 128) {
    const byte = bytes[at]!;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}
