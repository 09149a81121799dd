// Which addresses lie outside the public internet. The number is judged, never its spelling.

const words = {
  loopback: "this machine",
  private: "a private network",
  "link-local": "this network segment, where clouds keep their metadata",
  shared: "the shared space of a provider",
  metadata: "the metadata service of a cloud",
  benchmark: "a range for benchmarks",
  documentation: "a range for documentation",
  multicast: "a group, not a machine",
  reserved: "reserved",
};

type ClosedKind = keyof typeof words;

/** `unreadable`: no address at all. Everything but `public` is closed. */
export type AddressVerdict = { kind: "public"; why?: undefined } | { kind: ClosedKind | "unreadable"; why: string };

/**
 * From the registries of special-purpose addresses, and one public address that clouds answer themselves. What lies in two
 * ranges has the kind that stands first.
 */
const closed: Record<ClosedKind, readonly string[]> = {
  loopback: ["127.0.0.0/8", "0.0.0.0/8", "::/128", "::1/128"],
  metadata: ["168.63.129.16/32", "fd00:ec2::/32", "fd20:ce::/32"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10", "64:ff9b:1::/48"],
  "link-local": ["169.254.0.0/16", "fe80::/10"],
  shared: ["100.64.0.0/10"],
  benchmark: ["198.18.0.0/15", "2001:2::/48"],
  documentation: ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"],
  multicast: ["224.0.0.0/4", "ff00::/8"],
  reserved: ["192.0.0.0/24", "192.88.99.0/24", "240.0.0.0/4", "2001::/23"],
};

/** Of version 6, only this is the public internet. */
const public6 = "2000::/3";

/** `reachesPublic`: the address inside decides; nobody uses the others to reach a public site. */
type EmbeddedAddress = { prefix: string; at: number; name: string; reachesPublic?: true; inverted?: true };

/** Addresses of version 6 that carry one of version 4, and the byte where it begins. */
const wrappings: readonly EmbeddedAddress[] = [
  { prefix: "::ffff:0:0/96", at: 12, name: "mapped", reachesPublic: true },
  { prefix: "::ffff:0:0:0/96", at: 12, name: "translated", reachesPublic: true },
  { prefix: "64:ff9b::/96", at: 12, name: "NAT64", reachesPublic: true },
  { prefix: "2002::/16", at: 2, name: "6to4", reachesPublic: true },
  { prefix: "2001::/32", at: 12, name: "Teredo", inverted: true },
  { prefix: "::/96", at: 12, name: "IPv4-compatible" },
];

type AddressBlock = { bytes: Uint8Array; bits: number };

export function judgeAddress(address: string): AddressVerdict {
  const bytes = parseAddress(address);
  return bytes ? judgeBytes(bytes) : { kind: "unreadable", why: `${address} is not an address` };
}

/** As the host of a URL; one of version 4 without what it is wrapped in. Undefined for what is not an address. */
export function plainAddress(address: string): string | undefined {
  const bytes = parseAddress(address);
  if (!bytes) return undefined;
  const text = formatAddress(wrappingOf(bytes)?.inner ?? bytes);
  return text.includes(":") ? `[${text}]` : text;
}

function judgeBytes(bytes: Uint8Array): AddressVerdict {
  const name = formatAddress(bytes);
  const found = tables().blocks.find(([, block]) => isInside(bytes, block));
  if (found?.[1].bits === 128) return refused(name, found[0]); // ::1 is a machine, not a wrapped 0.0.0.1
  const wrapped = wrappingOf(bytes);
  if (wrapped) {
    const verdict = holding(wrapped.inner, `${name} (${wrapped.wrap.name})`);
    return verdict.kind !== "public" || wrapped.wrap.reachesPublic ? verdict : refused(name, "reserved");
  }
  if (found) return refused(name, found[0]);
  if (bytes.length === 4) return { kind: "public" };
  if (!isInside(bytes, tables().public6)) return refused(name, "reserved");
  // ISATAP puts an address of version 4 into the last bytes, below any prefix.
  const isIsatap = (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  return isIsatap ? holding(bytes.slice(12), `${name} (ISATAP)`) : { kind: "public" };
}

function holding(inner: Uint8Array, name: string): AddressVerdict {
  const verdict = judgeBytes(inner);
  return verdict.kind === "public" ? verdict : { ...verdict, why: `${name} contains ${verdict.why}` };
}

function wrappingOf(bytes: Uint8Array): { wrap: EmbeddedAddress; inner: Uint8Array } | undefined {
  const wrap = tables().wraps.find(([, block]) => isInside(bytes, block))?.[0];
  if (!wrap) return undefined;
  return { wrap, inner: bytes.slice(wrap.at, wrap.at + 4).map((byte) => (wrap.inverted ? byte ^ 0xff : byte)) };
}

function refused(name: string, kind: ClosedKind): AddressVerdict {
  return { kind, why: `${name} is ${words[kind]}` };
}

let known: ReturnType<typeof parseTables> | undefined;

function tables() {
  known ??= parseTables();
  return known;
}

function parseTables() {
  return {
    blocks: (Object.keys(closed) as ClosedKind[]).flatMap((kind) =>
      closed[kind].map((text): [ClosedKind, AddressBlock] => [kind, parseBlock(text)]),
    ),
    wraps: wrappings.map((wrap): [EmbeddedAddress, AddressBlock] => [wrap, parseBlock(wrap.prefix)]),
    public6: parseBlock(public6),
  };
}

function parseBlock(text: string): AddressBlock {
  const [address = "", bits] = text.split("/");
  return { bytes: parseAddress(address)!, bits: Number(bits) };
}

function isInside(bytes: Uint8Array, block: AddressBlock): boolean {
  if (bytes.length !== block.bytes.length) return false;
  const whole = block.bits >> 3;
  for (let index = 0; index < whole; index++) if (bytes[index] !== block.bytes[index]) return false;
  return (bytes[whole]! ^ block.bytes[whole]!) >> (8 - (block.bits & 7)) === 0;
}

/** Decimal, octal, hexadecimal and short forms of version 4; version 6 with brackets and zones. */
export function parseAddress(text: string): Uint8Array | undefined {
  const bare = text
    .trim()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/%.*$/s, "");
  return bare.includes(":") ? parseVersion6(bare) : parseVersion4(bare.replace(/\.$/, ""));
}

/** As the C library reads it: one to four parts, the last fills what is left. */
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

/** The last group may be an address of version 4. */
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

function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((bytes[index * 2]! << 8) | bytes[index * 2 + 1]!).toString(16),
  );
  const joined = groups.join(":");
  const zeros = [...joined.matchAll(/\b0(?::0\b)+/g)].sort((one, other) => other[0].length - one[0].length)[0];
  if (!zeros) return joined;
  return `${joined.slice(0, zeros.index).replace(/:$/, "")}::${joined.slice(zeros.index + zeros[0].length).replace(/^:/, "")}`;
}
