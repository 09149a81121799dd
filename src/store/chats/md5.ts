// MD5 of a path: the name of a project's folder. Nothing is protected by it.

const shifts = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
];

export function md5(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  const padded = Buffer.alloc(Math.ceil((bytes.length + 9) / 64) * 64);
  bytes.copy(padded);
  padded[bytes.length] = 0x80;
  padded.writeUInt32LE((bytes.length << 3) >>> 0, padded.length - 8);
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let start = 0; start < padded.length; start += 64) compress(state, padded, start);
  const digest = Buffer.alloc(16);
  for (const [index, word] of state.entries()) digest.writeUInt32LE(word, index * 4);
  return digest.toString("hex");
}

function compress(state: Uint32Array, bytes: Buffer, start: number): void {
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  for (let index = 0; index < 64; index++) {
    const round = index >> 4;
    const constant = Math.floor(Math.abs(Math.sin(index + 1)) * 0x100000000);
    const word = bytes.readUInt32LE(start + wordAt(round, index) * 4);
    const sum = (a + mix(round, b, c, d) + constant + word) | 0;
    const shift = shifts[round]![index & 3]!;
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

function mix(round: number, b: number, c: number, d: number): number {
  if (round === 0) return (b & c) | (~b & d);
  if (round === 1) return (d & b) | (~d & c);
  return round === 2 ? b ^ c ^ d : c ^ (b | ~d);
}

function wordAt(round: number, index: number): number {
  if (round === 0) return index;
  if (round === 1) return (5 * index + 1) & 15;
  return round === 2 ? (3 * index + 5) & 15 : (7 * index) & 15;
}
