// SHA-1 as git names its objects by it. Nothing is protected by it. A few small files are hashed without node:crypto,
// whose loading costs more than hashing them.

/** From here on the engine's own is faster, its loading included. */
const muchInput = 48 * 1024;

let native: typeof import("node:crypto") | undefined;
let hashed = 0;

export function sha1(...pieces: readonly Uint8Array[]): string {
  for (const piece of pieces) hashed += piece.length;
  if (native || hashed > muchInput) {
    const hash = newHash();
    for (const piece of pieces) hash.update(piece);
    return hash.digest("hex");
  }
  return plainSha1(Buffer.concat(pieces));
}

/** For contents that come in pieces. */
export function newHash(): import("node:crypto").Hash {
  native ??= process.getBuiltinModule("node:crypto");
  return native.createHash("sha1");
}

function plainSha1(bytes: Buffer): string {
  const padded = Buffer.alloc(Math.ceil((bytes.length + 9) / 64) * 64);
  bytes.copy(padded);
  padded[bytes.length] = 0x80;
  padded.writeUInt32BE((bytes.length << 3) >>> 0, padded.length - 4);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  for (let start = 0; start < padded.length; start += 64) compress(state, padded, start);
  let text = "";
  for (const word of state) text += (word >>> 0).toString(16).padStart(8, "0");
  return text;
}

const words = new Int32Array(80);

function compress(state: Int32Array, bytes: Buffer, start: number): void {
  for (let index = 0; index < 16; index++) words[index] = bytes.readInt32BE(start + index * 4);
  for (let index = 16; index < 80; index++) {
    const mixed = words[index - 3]! ^ words[index - 8]! ^ words[index - 14]! ^ words[index - 16]!;
    words[index] = (mixed << 1) | (mixed >>> 31);
  }
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let index = 0; index < 80; index++) {
    const sum = ((a << 5) | (a >>> 27)) + roundOf(index, b, c, d) + e + words[index]!;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = sum | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
}

function roundOf(index: number, b: number, c: number, d: number): number {
  if (index < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (index < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (index < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}
