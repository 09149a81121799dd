// Computes SHA-256 of short texts without loading node:crypto, which takes a quarter of the startup time.

/** The length of input (one text or all together) from which the native hash is faster, loading included. */
const longInput = 16 * 1024;

let native: typeof import("node:crypto") | undefined;
let hashed = 0;

export function sha256(data: Uint8Array | string): string {
  hashed += data.length;
  if (native || hashed >= longInput) return nativeSha256(data);
  return shortSha256(typeof data === "string" ? Buffer.from(data) : data);
}

/** Hashes with node:crypto, which takes time to load but is then ten times faster: use it for many hashes. */
export function nativeSha256(data: Uint8Array | string): string {
  native ??= process.getBuiltinModule("node:crypto");
  return native.hash("sha256", data, "hex");
}

/** Returns the faster of the two for this total number of bytes. */
export function hasherFor(bytes: number): (data: Uint8Array | string) => string {
  return bytes >= longInput ? nativeSha256 : sha256;
}

function shortSha256(bytes: Uint8Array): string {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  new DataView(padded.buffer).setUint32(padded.length - 4, bytes.length * 8);
  const state = Int32Array.from(initial);
  for (let start = 0; start < padded.length; start += 64) compress(state, padded, start);
  let text = "";
  for (const word of state) text += (word >>> 0).toString(16).padStart(8, "0");
  return text;
}

const words = new Int32Array(64);

function compress(state: Int32Array, bytes: Uint8Array, start: number): void {
  for (let index = 0; index < 16; index++) {
    const at = start + index * 4;
    words[index] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
  }
  for (let index = 16; index < 64; index++) {
    const x = words[index - 15]!;
    const y = words[index - 2]!;
    const small = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const large = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[index] = (words[index - 16]! + small + words[index - 7]! + large) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let index = 0; index < 64; index++) {
    const large = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const first = (h + large + ((e & f) ^ (~e & g)) + constants[index]! + words[index]!) | 0;
    const small = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const second = (small + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

/** The first 32 bits of the fractional parts of the square roots of the first eight primes. */
const initial = hexWords("6a09e667 bb67ae85 3c6ef372 a54ff53a 510e527f 9b05688c 1f83d9ab 5be0cd19");
/** The constants of SHA-256: the cube roots of the first 64 primes. */
const constants = hexWords(`
  428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5
  d807aa98 12835b01 243185be 550c7dc3 72be5d74 80deb1fe 9bdc06a7 c19bf174
  e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da
  983e5152 a831c66d b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967
  27b70a85 2e1b2138 4d2c6dfc 53380d13 650a7354 766a0abb 81c2c92e 92722c85
  a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070
  19a4c116 1e376c08 2748774c 34b0bcb5 391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3
  748f82ee 78a5636f 84c87814 8cc70208 90befffa a4506ceb bef9a3f7 c67178f2`);

function hexWords(text: string): Int32Array {
  return Int32Array.from(text.trim().split(/\s+/), (word) => Number.parseInt(word, 16));
}
