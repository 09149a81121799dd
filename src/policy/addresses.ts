// Classifies IP addresses as public or closed. It compares the numeric address, never its spelling.
import { formatAddress, parseAddress } from "../text/ip-address.ts";

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

/** `unreadable` means that the text is not an address. Every kind except `public` is closed. */
export type AddressVerdict = { kind: "public"; why?: undefined } | { kind: ClosedKind | "unreadable"; why: string };

/** Ranges from the IANA special-purpose registries, plus a public address that Azure serves itself. On overlap, the first kind wins. */
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

/** The only IPv6 range that is part of the public internet. */
const public6 = "2000::/3";

/** With `reachesPublic`, the embedded address decides; the other forms are not used to reach public sites. */
type EmbeddedAddress = { prefix: string; at: number; name: string; reachesPublic?: true; inverted?: true };

/** IPv6 prefixes that embed an IPv4 address, and the byte where it begins. */
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

/** Formats an address as a URL host and unwraps an embedded IPv4 address. Returns undefined if it is not an address. */
export function plainAddress(address: string): string | undefined {
  const bytes = parseAddress(address);
  if (!bytes) return undefined;
  const text = formatAddress(wrappingOf(bytes)?.inner ?? bytes);
  return text.includes(":") ? `[${text}]` : text;
}

function judgeBytes(bytes: Uint8Array): AddressVerdict {
  const name = formatAddress(bytes);
  const found = tables().blocks.find(([, block]) => isInside(bytes, block));
  if (found?.[1].bits === 128) return refused(name, found[0]); // ::1 is the loopback address, not an embedded 0.0.0.1
  const wrapped = wrappingOf(bytes);
  if (wrapped) {
    const verdict = verdictOfInner(wrapped.inner, `${name} (${wrapped.wrap.name})`);
    return verdict.kind !== "public" || wrapped.wrap.reachesPublic ? verdict : refused(name, "reserved");
  }
  if (found) return refused(name, found[0]);
  if (bytes.length === 4) return { kind: "public" };
  if (!isInside(bytes, tables().public6)) return refused(name, "reserved");
  // ISATAP embeds an IPv4 address in the last four bytes, under any prefix.
  const isIsatap = (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  return isIsatap ? verdictOfInner(bytes.slice(12), `${name} (ISATAP)`) : { kind: "public" };
}

function verdictOfInner(inner: Uint8Array, name: string): AddressVerdict {
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
