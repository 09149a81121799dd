// Finds the proxy for a URL by the usual environment variables.
import { BlockList, isIP } from "node:net";
import { decodeUri } from "../text/decode-uri.ts";
import { isLoopback } from "../text/loopback.ts";

export type ProxyServer = {
  protocol: "http:" | "https:";
  hostname: string;
  port: number;
  /** The value of the Proxy-Authorization header. */
  authorization?: string;
};

/** Returns the proxy for a URL, or undefined if it is reached directly. Throws a plain Error with a message for the user. */
export function proxyFor(url: URL, env: NodeJS.ProcessEnv): ProxyServer | undefined {
  if (isLoopback(url.hostname)) return undefined; // loopback addresses would be those of the proxy's machine
  const name = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const found = setting(env, name) ?? setting(env, "all_proxy");
  if (!found || isExcluded(url, setting(env, "no_proxy")?.value ?? "")) return undefined;
  return parseProxy(found.value, found.name);
}

function setting(env: NodeJS.ProcessEnv, name: string): { name: string; value: string } | undefined {
  for (const key of [name, name.toUpperCase()]) {
    const value = env[key]?.trim();
    if (value) return { name: key, value };
  }
  return undefined;
}

function parseProxy(value: string, variable: string): ProxyServer {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new Error(`${variable} is not a URL. Write it as http://host:port.`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Error(
      `${variable} names a ${url.protocol.slice(0, -1)} proxy, which is not supported. Use an http or https proxy.`,
    );
  }
  const proxy: ProxyServer = {
    protocol: url.protocol,
    hostname: removeBrackets(url.hostname),
    port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
  };
  if (url.username) proxy.authorization = basicLogin(url);
  return proxy;
}

export function basicLogin({ username, password }: URL): string {
  return `Basic ${Buffer.from(`${decodeUri(username)}:${decodeUri(password)}`).toString("base64")}`;
}

/** Matches NO_PROXY: `*`, hosts (with their subdomains), `.suffix`, `*.suffix`, `host:port`, addresses and CIDR blocks. */
function isExcluded(url: URL, list: string): boolean {
  const host = removeBrackets(url.hostname).toLowerCase().replace(/\.$/, "");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list.split(/[\s,]+/).some((entry) => entry !== "" && matchesEntry(entry.toLowerCase(), host, port));
}

function matchesEntry(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return inBlock(entry, host);
  const [name, entryPort] = splitPort(entry);
  if (entryPort && entryPort !== port) return false;
  const family = isIP(name);
  if (family) return inBlock(`${name}/${family === 4 ? 32 : 128}`, host);
  const suffix = name.replace(/^\*?\./, "").replace(/\.$/, "");
  return suffix !== "" && !isIP(host) && (host === suffix || host.endsWith(`.${suffix}`));
}

function splitPort(entry: string): [name: string, port: string | undefined] {
  const bracketed = /^\[(.+)\](?::(\d+))?$/.exec(entry);
  if (bracketed) return [bracketed[1]!, bracketed[2]];
  if (isIP(entry)) return [entry, undefined];
  const [name = "", port] = entry.split(":");
  return [name, port];
}

function inBlock(entry: string, host: string): boolean {
  const [address = "", bits = ""] = removeBrackets(entry).split("/");
  const family = isIP(address);
  if (!family || isIP(host) !== family || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const block = new BlockList();
  block.addSubnet(address, Number(bits), family === 4 ? "ipv4" : "ipv6");
  return block.check(host, family === 4 ? "ipv4" : "ipv6");
}

function removeBrackets(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1).replace("]", "") : hostname;
}
