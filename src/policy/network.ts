// Decides whether a URL may be fetched. Rules and requests share one parser; private addresses need an exact rule of the user.
import type { Rule } from "../protocol/permission-rule.ts";
import { matchesText } from "../text/glob.ts";
import { parseAddress } from "../text/ip-address.ts";
import { judgeAddress, plainAddress } from "./addresses.ts";
import { allow, ask, deny, type Judgement } from "./need.ts";
import { nameOf } from "./rules.ts";

export { judgeAddress } from "./addresses.ts";

export type NetworkSituation = { mode: "default" | "force" | "plan" | "ask"; rules: readonly Rule[] };

/** The ports that a rule without a port covers. */
const usualPorts = new Set(["80", "443"]);

/** Judges a URL before its name is resolved; `judgeAddresses` judges the resolved addresses. */
export function judgeUrl(address: string | URL, situation: NetworkSituation): Judgement {
  const url = parseUrl(String(address));
  if (!url) return deny(`${JSON.stringify(String(address).slice(0, 200))} is not a URL.`);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return deny(`Only http and https are fetched, not ${url.protocol}`);
  const host = hostOf(url);
  const rules = situation.rules.filter((rule) => rule.kind === "WebFetch" && coversUrl(rule, url));
  const denying = rules.find((rule) => rule.verdict === "deny");
  if (denying) return deny(`${nameOf(denying)} denies it.`);
  const isClosed = closedHost(host);
  if (isClosed && !opens(situation.rules, url)) return deny(closedReason(isClosed, url));

  if (situation.mode === "force") return allow("--force allows it.");
  if (url.username || url.password) return ask(`The URL contains a user name or a password for ${url.host}.`);
  if (/^[^?#]*[\\\t\r\n]/.test(String(address)))
    return ask(
      `It contains a backslash or a line break, which programs parse in different ways; here it means ${url.host}.`,
    );
  const allowing = rules.filter((rule) => rule.verdict === "allow");
  const port = portOf(url);
  const decisive = usualPorts.has(port)
    ? allowing[0]
    : allowing.find((rule) => hostPattern(rule.pattern).port === port);
  if (decisive) return allow(`${nameOf(decisive)} allows it.`);
  if (allowing[0])
    return ask(
      `Port ${port} is unusual for the web: only a rule that names it allows it, "WebFetch(${host}:${port})".`,
    );
  return ask(`It fetches from ${url.host}, and no WebFetch rule covers that.`);
}

/** Search goes to the user's configured engine, perhaps at a private address; only the query is sent. Deny rules still apply. */
export function judgeSearchUrl(
  address: string,
  { mode, rules, acceptsSearches }: NetworkSituation & { acceptsSearches?: boolean },
): Judgement {
  const url = parseUrl(address);
  if (!url) return deny("The address of the search engine is not a URL.");
  const covering = rules.filter((rule) => rule.kind === "WebFetch" && coversUrl(rule, url));
  const denying = covering.find((rule) => rule.verdict === "deny");
  if (denying) return deny(`${nameOf(denying)} denies it.`);
  if (mode === "force") return allow("--force allows it.");
  if (acceptsSearches) return allow('"autoAcceptWebSearch" allows it.');
  const allowing = covering.find((rule) => rule.verdict === "allow");
  if (allowing) return allow(`${nameOf(allowing)} allows it.`);
  return ask(
    `It searches the web through ${url.host}: no WebFetch rule covers that, and "autoAcceptWebSearch" is not set.`,
  );
}

/** Judges all addresses that a name resolves to: a single closed one closes the URL. */
export function judgeAddresses(url: URL, addresses: readonly string[], { rules }: NetworkSituation): Judgement {
  for (const address of addresses) {
    const denying = rules.find(
      (rule) =>
        rule.kind === "WebFetch" && rule.verdict === "deny" && coversHost(rule, normalizeAddress(address), portOf(url)),
    );
    if (denying) return deny(`${nameOf(denying)} denies ${address}, where ${url.hostname} leads.`);
    const verdict = judgeAddress(address);
    if (verdict.kind !== "public" && !opens(rules, url)) return deny(closedReason(verdict.why, url));
  }
  return allow("Its addresses are public, or opened by a rule.");
}

/** `example.com` matches that host, `*.example.com` its subdomains, `*` all; a port matches only that port. Deny rules match broadly. */
export function coversUrl(rule: Rule, url: URL): boolean {
  return coversHost(rule, hostOf(url), portOf(url));
}

function coversHost(rule: Rule, host: string, port: string): boolean {
  const wanted = hostPattern(rule.pattern);
  if (wanted.port !== undefined && wanted.port !== port) return false;
  if (/^\*+$/.test(wanted.host) || wanted.host === host) return true;
  if (wanted.host.startsWith("*.")) {
    const end = wanted.host.slice(1);
    return host.endsWith(end) || (rule.verdict === "deny" && host === end.slice(1));
  }
  return (
    rule.verdict === "deny" &&
    [host, normalizeAddress(host)].some((each) => matchesText(normalizeAddress(wanted.host), each))
  );
}

/** Normalises an address in any notation: a rule that denies 1.2.3.4 also denies `[::ffff:1.2.3.4]`. */
function normalizeAddress(host: string): string {
  return plainAddress(host) ?? host;
}

/** Returns whether a user's rule opens an address that is not public, which takes an exact host and port. */
function opens(rules: readonly Rule[], url: URL): boolean {
  return rules.some((rule) => {
    if (rule.kind !== "WebFetch" || rule.verdict !== "allow" || rule.scope !== "user") return false;
    const { host, port } = hostPattern(rule.pattern);
    return host === hostOf(url) && port === portOf(url);
  });
}

/** Normalises hosts as the URL parser does: lower case, punycode, addresses as numbers. */
export function hostPattern(pattern: string): { host: string; port: string | undefined } {
  const isBareVersion6 = !pattern.startsWith("[") && pattern.split(":").length > 2;
  const [, text = "", port] = /^(.*?)(?::(\d+))?$/s.exec(isBareVersion6 ? `[${pattern}]` : pattern)!;
  const [, wildcard = "", name = ""] = /^(\*\.)?(.*)$/s.exec(text)!;
  const url = /[*?@#%\\]/.test(name) ? undefined : parseUrl(`http://${name}/`);
  return { host: wildcard + (url ? hostOf(url) : name.toLowerCase()), port: port && String(Number(port)) };
}

/** Names that are always local, known without a lookup: a proxy would resolve them elsewhere. */
const closedNames: readonly [pattern: RegExp, why: string][] = [
  [/(^|\.)localhost[46]?(\.localdomain[46]?)?$/, "this machine"],
  [/^metadata\.goog$/, "the metadata service of a cloud"],
  [/\.(local|localdomain|internal|intranet|lan|corp|home|private|svc|consul|home\.arpa)$/, "a private network"],
  [/^[^.[\]:]+$/, "a private network"],
];

function closedHost(host: string): string | undefined {
  if (parseAddress(host)) return judgeAddress(host).why;
  const found = closedNames.find(([pattern]) => pattern.test(host));
  return found && `${host} is a name of ${found[1]}`;
}

function closedReason(why: string, url: URL): string {
  const rule = `WebFetch(${hostOf(url)}:${portOf(url)})`;
  return `${why}, which is closed. Only a rule of yours that names host and port opens it: "${rule}".`;
}

function parseUrl(address: string): URL | undefined {
  return URL.canParse(address) ? new URL(address) : undefined;
}

function hostOf(url: URL): string {
  return url.hostname.toLowerCase().replace(/\.$/, "");
}

function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}
