// Runs a case of the group `ssrf`: names are answered from the case, and every connection ends at a server of ours on loopback.
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect as connectSocket, type Socket } from "node:net";
import type { Connect } from "../../src/net/fetch.ts";
import { GuardRefusal, guardedFetch, type Resolve } from "../../src/net/guarded.ts";
import { decide } from "../../src/policy/decide.ts";
import type { Verdict } from "../../src/policy/need.ts";
import type { NetworkSituation } from "../../src/policy/network.ts";
import { rulesOf, situationOf } from "../policy/fixture.ts";
import type { Case, CaseResult } from "../support/case.ts";
import { type Fault, faultsWithWays, listOf, shownFaults } from "../support/ways.ts";
import { seenInNamespace } from "./ssrf-namespace.ts";
import { answersOf, answerWith, namesOf } from "./ssrf-upstream.ts";

export type Seen = {
  verdict: Verdict;
  reasons: string;
  result: "ok" | "error";
  body: string;
  bodyBytes: number;
  truncated: boolean;
  connections: { address: string; port: number }[];
  requests: number;
  elapsedMs: number;
  grownMb: number;
};

/** Without --long a run has a tenth of its time, and so has the limit of the case. */
const shortening = 10;

export async function runSsrfCase(
  given: Case,
  { driver, long }: { driver: "library" | "cli"; long: boolean },
): Promise<CaseResult> {
  const inLibrary = await fetchFor(given, long);
  if (driver === "library") return judged(given, inLibrary, long);
  const seen = await seenInNamespace(given, inLibrary, long);
  if ("skipped" in seen) return { ...judged(given, inLibrary, long), pass: false, skipped: seen.skipped };
  // The CLI has its own limits.
  const result = judged(given, seen, true);
  if (seen.verdict === inLibrary.verdict) return result;
  const detail = `the library says ${inLibrary.verdict}, the CLI ${seen.verdict} | ${result.detail}`;
  return { ...result, pass: false, exact: false, detail };
}

function judged(given: Case, seen: Seen, long: boolean): CaseResult {
  const faults = faultsWithWays(given.expect, {
    faults: (expect) => faultsOf(expect, seen, long),
    isSo: (sentence) => sentence === seen.verdict || sentence === seen.result,
  });
  return {
    pass: faults.length === 0,
    safe: faults.every(({ key }) => key === "verdict"),
    exact: faults.length === 0,
    verdict: seen.verdict,
    expected: String(given.expect["verdict"]),
    detail: [shownFaults(faults), seen.reasons].filter(Boolean).join(" | "),
  };
}

/** Addresses have nothing to do with files. */
const nowhere = situationOf({ base: "/nowhere", workspace: "/nowhere/ws", home: "/nowhere/home" });

async function fetchFor({ config, input }: Case, long: boolean): Promise<Seen> {
  const scope = config["source"] === "project" ? "project" : "user";
  const withAllow = scope === "user" || config["trusted"] !== false;
  const rules = rulesOf({ allow: withAllow ? config["allow"] : [], deny: config["deny"] }, scope);
  const situation: NetworkSituation = { mode: config["mode"] === "force" ? "force" : "default", rules };
  const upstream = await startUpstream(input);
  const connections: Seen["connections"] = [];
  const connect: Connect = ({ address, port }) => {
    connections.push({ address, port });
    return connectSocket(upstream.port, "127.0.0.1");
  };
  const started = performance.now();
  const rss = process.memoryUsage.rss();
  let grown = 0;
  const seen: Seen = {
    ...{ verdict: "allow", reasons: "", result: "ok", body: "", bodyBytes: 0, truncated: false, requests: 0 },
    ...{ connections, elapsedMs: 0, grownMb: 0 },
  };
  try {
    const url = String(input["url"]);
    const judged = await decide([{ kind: "WebFetch", target: url }], { ...nowhere, ...situation });
    Object.assign(seen, { verdict: judged.verdict, reasons: judged.reasons.join(" ") });
    if (judged.verdict === "allow") {
      const limits = { totalMs: long ? 30_000 : 30_000 / shortening };
      const resolve = resolverOf(input);
      const response = await guardedFetch(url, { ...situation, resolve, connect, env: {}, limits });
      const decoder = new TextDecoder();
      for await (const chunk of response.body) {
        seen.bodyBytes += chunk.byteLength;
        if (seen.body.length < 65_536) seen.body += decoder.decode(chunk, { stream: true });
        grown = Math.max(grown, process.memoryUsage.rss() - rss);
      }
      seen.truncated = response.isTruncated;
    }
  } catch (error) {
    if (error instanceof GuardRefusal) Object.assign(seen, { verdict: error.verdict, reasons: error.message });
    else Object.assign(seen, { result: "error", reasons: String(error) });
  } finally {
    await upstream.stop();
  }
  return {
    ...seen,
    requests: upstream.requests(),
    elapsedMs: performance.now() - started,
    grownMb: grown / 2 ** 20,
  };
}

function resolverOf(input: Case["input"]): Resolve {
  const addresses = namesOf(input);
  const asked = new Map<string, number>();
  return async (host) => {
    const count = asked.get(host) ?? 0;
    asked.set(host, count + 1);
    const answer = addresses(host, count);
    if (answer) return answer;
    if (/(^|\.)localhost$/.test(host)) return ["127.0.0.1", "::1"];
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" });
  };
}

type Upstream = { port: number; requests(): number; stop(): Promise<void> };

async function startUpstream(input: Case["input"]): Promise<Upstream> {
  const answer = answersOf(input);
  const sockets = new Set<Socket>();
  let requests = 0;
  const server: Server = createServer((request, response) => {
    request.resume();
    void answerWith(response, answer(requests++));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function faultsOf(expect: Record<string, unknown>, seen: Seen, long: boolean): Fault[] {
  return Object.entries(expect).flatMap(([key, wanted]) => {
    const text = checks[key]?.(wanted, seen, long) ?? (checks[key] ? undefined : "nobody knows how to check this");
    return text === undefined ? [] : [{ key, text }];
  });
}

/** What is wrong, or undefined. */
type Check = (wanted: unknown, seen: Seen, long: boolean) => string | undefined;

const checks: Record<string, Check> = {
  verdict: (wanted, { verdict }) => unless(verdict === wanted, `${verdict} instead of ${String(wanted)}`),
  acceptable: (wanted, { verdict }) => unless(listOf(wanted).includes(verdict), `${verdict} is not acceptable`),
  connects_to: (wanted, { connections }) => {
    const list = listOf(wanted).map(String);
    const holds =
      list.length === connections.length && list.every((place, index) => isPlace(place, connections[index]!));
    return unless(holds, `connected to ${shownPlaces(connections)}`);
  },
  never_connects_to: (wanted, { connections }) =>
    unless(
      !listOf(wanted).some((place) => connections.some((connection) => isPlace(String(place), connection))),
      `connected to ${shownPlaces(connections)}`,
    ),
  result: (wanted, { result }) => unless(result === wanted, `the result is ${result}`),
  max_requests: (wanted, { requests }) => unless(requests <= Number(wanted), `${requests} requests`),
  max_read_bytes: (wanted, { bodyBytes }) => unless(bodyBytes <= Number(wanted), `${bodyBytes} bytes`),
  max_rss_mb: (wanted, { grownMb }) => unless(grownMb + 50 <= Number(wanted), `${Math.round(grownMb)} MB more`),
  truncated: (wanted, { truncated }) => unless(truncated === wanted, truncated ? "cut" : "not cut"),
  max_ms: (wanted, { elapsedMs }, long) =>
    unless(elapsedMs <= Number(wanted) / (long ? 1 : shortening), `${Math.round(elapsedMs)} ms`),
  must_not_contain: (wanted, { body }) =>
    unless(!listOf(wanted).some((text) => body.includes(String(text))), "the body holds it"),
};

function unless(holds: boolean, otherwise: string): string | undefined {
  return holds ? undefined : otherwise;
}

function isPlace(wanted: string, { address, port }: Seen["connections"][number]): boolean {
  return wanted === address || wanted === `${address}:${port}` || wanted === `[${address}]:${port}`;
}

function shownPlaces(connections: Seen["connections"]): string {
  return connections.map(({ address, port }) => `${address}:${port}`).join(", ") || "nothing";
}
