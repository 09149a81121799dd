// Parses IP addresses to bytes, in every notation that programs accept.

/** Parses decimal, octal, hexadecimal and short forms of IPv4, and IPv6 with brackets and zones. */
export function parseAddress(text: string): Uint8Array | undefined {
  const bare = text
    .trim()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/%.*$/s, "");
  return bare.includes(":") ? parseVersion6(bare) : parseVersion4(bare.replace(/\.$/, ""));
}

/** Parses IPv4 as the C library does: one to four parts, of which the last fills the rest. */
function parseVersion4(text: string): Uint8Array | undefined {
  const parts = text.split(".");
  if (parts.length > 4) return undefined;
  const numbers = parts.map(parseNumber);
  const last = numbers.pop();
  if (last === undefined || last >= 256 ** (4 - numbers.length)) return undefined;
  const bytes = new Uint8Array(4);
  for (const [index, number] of numbers.entries()) {
    if (number === undefined || number > 255) return undefined;
    bytes[index] = number;
  }
  let rest = last;
  for (let index = 3; index >= numbers.length; index--) {
    bytes[index] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return bytes;
}

function parseNumber(text: string): number | undefined {
  if (/^0x[0-9a-f]*$/i.test(text)) return Number.parseInt(`0${text.slice(2)}`, 16);
  if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8);
  return /^\d+$/.test(text) && !/^0\d/.test(text) ? Number(text) : undefined;
}

function parseVersion6(text: string): Uint8Array | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(parseGroups);
  if (!head || (halves.length === 2 && !tail)) return undefined;
  const length = head.length + (tail?.length ?? 0);
  if (halves.length === 1 ? length !== 16 : length >= 16) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(head);
  if (tail) bytes.set(tail, 16 - tail.length);
  return bytes;
}

/** Parses the groups of an IPv6 address, of which the last may be an IPv4 address. */
function parseGroups(text: string): number[] | undefined {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const number = Number.parseInt(group, 16);
      bytes.push(number >> 8, number & 0xff);
      continue;
    }
    const dotted = index === groups.length - 1 && /^\d+(\.\d+){3}$/.test(group) ? parseVersion4(group) : undefined;
    if (!dotted) return undefined;
    bytes.push(...dotted);
  }
  return bytes;
}

export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((bytes[index * 2]! << 8) | bytes[index * 2 + 1]!).toString(16),
  );
  const joined = groups.join(":");
  const zeros = [...joined.matchAll(/\b0(?::0\b)+/g)].sort((one, other) => other[0].length - one[0].length)[0];
  if (!zeros) return joined;
  return `${joined.slice(0, zeros.index).replace(/:$/, "")}::${joined.slice(zeros.index + zeros[0].length).replace(/^:/, "")}`;
}
