// The black box of the group `ssrf`: the built CLI in a network of its own, where every address of the case is on `lo`, a name
// server answers from the case, and servers note who connects. Nothing leaves the namespace.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { trust } from "../../src/store/trust.ts";
import { bundle, maxOf } from "../agent/process-bundle.ts";
import type { Case } from "../support/case.ts";
import { cli } from "../support/run-cli.ts";
import type { Seen } from "./ssrf-driver.ts";
import type { InsideJob, InsideSeen } from "./ssrf-inside.ts";

const maxMs = 55_000;

/** `expected`: what the library said, for what --force does not permit either and a person could. `long`: with the program's own time limits. */
export async function seenInNamespace(
  given: Case,
  expected: Pick<Seen, "verdict" | "reasons">,
  long: boolean,
): Promise<Seen | { skipped: string }> {
  const skipped = namespaceMissing();
  if (skipped !== undefined) return { skipped };
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-ssrf-")));
  try {
    const place = { ...prepare(given, base), limits: long ? [] : quickLimits(given, base) };
    const isForced = given.config["mode"] === "force";
    const first = await runInside(given, place, { force: isForced });
    const { verdict, reasons } = first.call;
    // What is refused under --force as well is denied; what is not was only not permitted yet.
    const again = verdict === "refused" && !isForced ? await runInside(given, place, { force: true }) : first;
    const isAsked = expected.verdict === "ask" && expected.reasons === reasons;
    const refused = again.call.verdict === "refused" && !isAsked ? "deny" : "ask";
    const { markdown, kind } = first.call;
    return {
      verdict: verdict === "refused" ? refused : "allow",
      reasons,
      result: kind === "success" ? "ok" : "error",
      body: markdown.slice(0, 65_536),
      bodyBytes: Buffer.byteLength(markdown),
      truncated: /\[The page is truncated here[^\]]*\]$/.test(markdown),
      connections: first.connections,
      requests: first.requests,
      elapsedMs: first.ms,
      // The limits of cases count a run of 50 MB as nothing.
      grownMb: Math.max(0, first.peakMb - 50),
    };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** Options of Node for a body that never ends: long time limits pass ten times as fast. */
function quickLimits({ input }: Case, base: string): string[] {
  const answers = (input["responses"] ?? []) as { drip_bytes_per_s?: number }[];
  if (!answers.some((each) => each.drip_bytes_per_s)) return [];
  const file = join(base, "quick-limits.cjs");
  writeFileSync(
    file,
    "const real = setTimeout; globalThis.setTimeout = (f, ms, ...rest) => real(f, ms >= 20_000 ? ms / 10 : ms, ...rest);",
  );
  return ["--require", file];
}

let reason: string | undefined | null = null;

/** Why there can be no such network here, asked once. */
export function namespaceMissing(): string | undefined {
  if (reason === null) reason = findMissing();
  return reason;
}

function findMissing(): string | undefined {
  if (process.platform !== "linux") return "network namespaces are a thing of Linux";
  for (const program of ["unshare", "ip", "mount", "openssl"]) {
    if (
      spawnSync(program, ["--version"], { stdio: "ignore" }).error &&
      spawnSync(program, ["-V"], { stdio: "ignore" }).error
    )
      return `${program} is not installed, and the network of its own needs it`;
  }
  const tried = spawnSync(
    "unshare",
    [...unsharing(), "sh", "-c", "ip link set lo up && mount --bind /etc/hosts /etc/hosts"],
    {
      encoding: "utf8",
    },
  );
  return tried.status === 0
    ? undefined
    : `no network of its own can be made here: ${tried.stderr.trim().split("\n")[0]}`;
}

/** Root makes one by right, others inside a user namespace. */
function unsharing(): string[] {
  return ["--net", "--mount", ...(process.getuid?.() === 0 ? [] : ["--map-root-user", "--user"]), "--"];
}

type Place = {
  base: string;
  workspace: string;
  config: string;
  script: string;
  resolver: string;
  certificate?: string;
};

function prepare({ config, input }: Case, base: string): Place {
  const place: Place = {
    base,
    workspace: join(base, "work"),
    config: join(base, "config"),
    script: join(base, "script.json"),
    resolver: join(base, "resolv.conf"),
  };
  mkdirSync(join(place.workspace, ".cursor"), { recursive: true });
  mkdirSync(place.config);
  mkdirSync(join(base, "home"));
  const permissions = { allow: config["allow"] ?? [], deny: config["deny"] ?? [] };
  const isProject = config["source"] === "project";
  const own = isProject ? { allow: [], deny: [] } : permissions;
  writeFileSync(join(place.config, "cli-config.json"), JSON.stringify({ version: 1, permissions: own }));
  if (isProject) writeFileSync(join(place.workspace, ".cursor/cli.json"), JSON.stringify({ permissions }));
  if (config["trusted"] !== false) trust(place.config, place.workspace);
  const call = { name: "WebFetch", args: { url: input["url"] } };
  writeFileSync(place.script, JSON.stringify([{ calls: [call] }, { text: "done" }]));
  writeFileSync(place.resolver, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
  const hosts = hostsOf(input);
  if (urlsOf(input).some((url) => url.protocol === "https:")) place.certificate = makeCertificate(base, hosts);
  return place;
}

/** Every URL that the case names, as far as they are any. */
function urlsOf(input: Case["input"]): URL[] {
  const locations = ((input["responses"] ?? []) as { location?: string }[]).map((answer) => answer.location);
  return [input["url"] as string, ...locations].flatMap((text) =>
    text !== undefined && URL.canParse(text, String(input["url"])) ? [new URL(text, String(input["url"]))] : [],
  );
}

function hostsOf(input: Case["input"]): string[] {
  const names = [...Object.keys(input["dns"] ?? {}), ...Object.keys(input["dns_sequence"] ?? {})];
  return [...new Set([...names, ...urlsOf(input).map((url) => url.hostname.replace(/^\[|\]$/g, ""))])].filter(Boolean);
}

function makeCertificate(base: string, hosts: readonly string[]): string {
  const file = join(base, "certificate.pem");
  const names = hosts.map((host) => (isIP(host) ? `IP:${host}` : `DNS:${host}`)).join(",");
  const made = spawnSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
      ...["-subj", "/CN=case", "-addext", `subjectAltName=${names}`, "-keyout", `${file}.key`, "-out", file],
    ],
    { encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`no certificate: ${made.stderr}`);
  return file;
}

/** Addresses that would answer if somebody connected: all that the case names, in whatever disguise. */
function addressesOf(input: Case["input"]): string[] {
  const fixed = Object.values((input["dns"] ?? {}) as Record<string, string[]>).flat();
  const sequences = Object.values((input["dns_sequence"] ?? {}) as Record<string, string[][]>).flat(2);
  const literals = urlsOf(input).map((url) => url.hostname.replace(/^\[|\]$/g, ""));
  const all = [...fixed, ...sequences, ...literals].filter((address) => isIP(address) > 0);
  return [...new Set(all)].filter((address) => !/^(?:127\.|0\.0\.0\.0$|::1?$)/.test(address));
}

async function runInside(
  given: Case,
  place: Place & { limits: string[] },
  { force }: { force: boolean },
): Promise<InsideSeen> {
  const { input } = given;
  const ports = [80, 443, 8080, ...urlsOf(input).map((url) => Number(url.port))].filter((port) => port > 0);
  const report = join(place.base, `seen-${force ? "force" : "plain"}.json`);
  const args = ["-p", "--output-format", "stream-json", "--sandbox", "disabled", "--model", `script:${place.script}`];
  const job: InsideJob = {
    input,
    addresses: addressesOf(input),
    ports: [...new Set(ports)],
    securePorts: urlsOf(input).flatMap((url) => (url.protocol === "https:" ? [Number(url.port) || 443] : [])),
    certificate: place.certificate,
    command: [process.execPath, ...place.limits, cli, ...args, ...(force ? ["--force"] : []), "go"],
    cwd: place.workspace,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: join(place.base, "home"),
      CURSOR_CONFIG_DIR: place.config,
      LANG: "C.UTF-8",
      ...(place.certificate && { NODE_EXTRA_CA_CERTS: place.certificate }),
    },
    report,
    maxMs: maxMs - 5_000,
  };
  const program = await bundle("test/net/ssrf-inside.ts");
  const set = 'ip link set lo up && mount --bind "$1" /etc/resolv.conf && exec "$2" "$3" "$4"';
  const words = ["sh", "-c", set, "sh", place.resolver, process.execPath, program, JSON.stringify(job)];
  const child = spawn("unshare", [...unsharing(), ...words], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr = maxOf(stderr + chunk);
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), maxMs);
  const exit = await new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
  clearTimeout(timer);
  if (!existsSync(report)) throw new Error(`nothing was seen in the namespace (${exit}): ${stderr}`);
  return JSON.parse(readFileSync(report, "utf8")) as InsideSeen;
}
