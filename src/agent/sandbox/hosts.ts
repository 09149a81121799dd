// Decides which hosts commands in the sandbox may reach: by name, by port, and by every address that the name resolves to.
import { BlockList, isIP } from "node:net";
import { judgeAddress, plainAddress } from "../../policy/addresses.ts";
import type { NetworkSettings } from "../../store/sandbox-settings.ts";
import type { HostJudge, Target } from "../host-proxy.ts";

export function judgeByPolicy(network: NetworkSettings): HostJudge {
  return {
    who: "The sandbox",
    name: (target) => nameProblem(target, network),
    addresses: (target, addresses) => addressProblem(target, addresses, network),
  };
}

/** Checks the name before it is looked up. Returns why it is refused, as the end of a sentence, or undefined. */
export function nameProblem({ host, port }: Target, network: NetworkSettings): string | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return "it has no port";
  if (!/^[a-z0-9._:-]+$/i.test(host) || host.length > 253) return "it is not a host name";
  if (network.deny.some((pattern) => matchesHost(pattern, host, port, "any"))) return "networkPolicy.deny names it";
  if (network.default === "allow" || network.allow.some((pattern) => matchesHost(pattern, host, port, "usual")))
    return undefined;
  // The address of a host that is not listed may still be in an allowed block of addresses.
  return network.allow.some(isBlock) ? undefined : notListed;
}

const notListed = "networkPolicy.allow does not name it";

/** Checks all addresses: one that is refused refuses the host. */
export function addressProblem(
  target: Target,
  addresses: readonly string[],
  network: NetworkSettings,
): string | undefined {
  const { host, port } = target;
  for (const address of addresses) {
    const verdict = judgeAddress(address);
    if (verdict.kind !== "public") return `${verdict.why}, which is closed`;
    const spelt = normalizeHost(plainAddress(address) ?? address);
    const denies = (pattern: string) =>
      isBlock(pattern) ? inBlock(pattern, spelt) : matchesHost(pattern, spelt, port, "any");
    if (network.deny.some(denies)) return `networkPolicy.deny names ${address}, where it leads`;
  }
  if (network.default === "allow" || network.allow.some((pattern) => matchesHost(pattern, host, port, "usual")))
    return undefined;
  const isCovered = (address: string) => network.allow.some((pattern) => isBlock(pattern) && inBlock(pattern, address));
  return addresses.length > 0 && addresses.every(isCovered) && usualPorts.has(port) ? undefined : notListed;
}

const usualPorts = new Set([80, 443]);

/**
 * Matches `host`, `*.host` (including the host itself) and `*`. With
 * `:port` only that port matches; otherwise any, or only the usual ones.
 */
function matchesHost(pattern: string, host: string, port: number, ports: "usual" | "any"): boolean {
  if (isBlock(pattern)) return false;
  const [, name = "", wantedPort] = /^(.*?)(?::(\d+))?$/.exec(isIP(pattern) === 6 ? `[${pattern}]` : pattern)!;
  if (wantedPort === undefined ? ports === "usual" && !usualPorts.has(port) : Number(wantedPort) !== port) return false;
  const wanted = normalizeHost(name);
  const normalizedHost = normalizeHost(host);
  if (wanted === "*" || wanted === normalizedHost) return true;
  return wanted.startsWith("*.") && (normalizedHost === wanted.slice(2) || normalizedHost.endsWith(wanted.slice(1)));
}

function normalizeHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

function isBlock(pattern: string): boolean {
  return pattern.includes("/");
}

function inBlock(pattern: string, address: string): boolean {
  const [base = "", bits = ""] = pattern.split("/");
  const family = isIP(base);
  if (family === 0 || isIP(address) !== family || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const block = new BlockList();
  block.addSubnet(base, Number(bits), family === 4 ? "ipv4" : "ipv6");
  return block.check(address, family === 4 ? "ipv4" : "ipv6");
}
