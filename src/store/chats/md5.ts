// Computes the MD5 of a path, which names a project's folder. It has no security purpose.

const shifts = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];

export function md5(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const words = new Int32Array(padded.buffer);
  words[words.length - 2] = bytes.length * 8;
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let start = 0; start < words.length; start += 16) compress(state, words, start);
  return Buffer.from(state.buffer).toString("hex");
}

/** Processes one block. It is one function because it runs only once: calls would cost more than the steps. */
function compress(state: Int32Array, words: Int32Array, start: number): void {
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  for (let index = 0; index < 64; index++) {
    const round = index >> 4;
    let mixed = c ^ (b | ~d);
    let word = 7 * index;
    if (round === 0) {
      mixed = (b & c) | (~b & d);
      word = index;
    } else if (round === 1) {
      mixed = (d & b) | (~d & c);
      word = 5 * index + 1;
    } else if (round === 2) {
      mixed = b ^ c ^ d;
      word = 3 * index + 5;
    }
    const constant = Math.floor(Math.abs(Math.sin(index + 1)) * 0x100000000);
    const sum = (a + mixed + constant + words[start + (word & 15)]!) | 0;
    const shift = shifts[round * 4 + (index & 3)]!;
    a = d;
    d = c;
    c = b;
    b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
}
