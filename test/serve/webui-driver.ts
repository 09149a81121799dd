// Runs a case of the group `webui` against a real service, from outside: requests, handshakes, floods, answers that come late.
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { atExit } from "../support/at-exit.ts";
import type { Case, CaseResult } from "../support/case.ts";
import { createWorkspace, repository } from "../support/run-cli.ts";
import { type Reply, send, TestService } from "./service-support.ts";
import { playWebuiScenario } from "./webui-scenarios.ts";

/** What was seen, by the names of `expect`. */
export type Seen = Record<string, unknown>;

let shared: Promise<TestService> | undefined;

/** One for all cases of this process; it ends with it. */
export function sharedService(): Promise<TestService> {
  shared ??= (async () => {
    const service = new TestService();
    await service.start([], { COURSER_EXIT_WITH_PARENT: "1" });
    atExit(() => {
      process.kill(service.info.pid, "SIGKILL");
      service.workspace.remove();
    });
    return service;
  })();
  return shared;
}

export async function runWebuiCase(given: Case, { long }: { long: boolean }): Promise<CaseResult> {
  const seen = await play(given, long);
  const faults = Object.entries(given.expect).flatMap(([key, wanted]) => {
    const check = checks[key];
    if (!check) return [`${key}: this driver does not know it`];
    return check(wanted, seen)
      ? []
      : [`${key}: wanted ${JSON.stringify(wanted)}, saw ${JSON.stringify(seen[key] ?? seen)}`];
  });
  const pass = faults.length === 0;
  return {
    pass,
    safe: pass,
    exact: pass,
    verdict: pass ? "as expected" : "different",
    expected: JSON.stringify(given.expect),
    detail: faults.join("; "),
  };
}

async function play({ config, input }: Case, long: boolean): Promise<Seen> {
  if (input["request"]) return playRequest(input["request"], config);
  if (input["websocket"]) return playHandshake(input["websocket"], config);
  if (input["check"]) return playCheck(String(input["check"]), config);
  const service = await sharedService();
  return playWebuiScenario(service, input, { long });
}

async function playRequest(request: any, config: Record<string, any>): Promise<Seen> {
  const service = await sharedService();
  const { port, token } = service.info;
  const filled = (text: string) => text.replaceAll("{PORT}", String(port)).replaceAll("{TOKEN}", token);
  const headers = Object.fromEntries(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name, filled(String(value))]),
  );
  if (config["cookie"]) headers["Cookie"] = String(config["cookie"]).replace(/=T$/, `=${token}`);
  const body = request.body_gen ? `"${"x".repeat(request.body_gen)}"` : request.body;
  const before = await stateOf(service);
  const reply = await send(filled(request.path), {
    method: request.method,
    ...(body !== undefined && { body }),
    headers,
    port,
    ...(config["token"] !== undefined && { token }),
  });
  return { ...seenOf(reply), side_effect: before !== (await stateOf(service)) };
}

/** Everything that a request could change. */
async function stateOf({ fleet, workspace }: TestService): Promise<string> {
  const { readdirSync } = await import("node:fs");
  return JSON.stringify([
    await fleet.position(),
    await fleet.runs(),
    await fleet.agents(),
    readdirSync(workspace.path),
  ]);
}

function seenOf({ status, headers }: Reply): Seen {
  return { status, headers, acao_absent: headers["access-control-allow-origin"] === undefined };
}

async function playHandshake(handshake: any, config: Record<string, any>): Promise<Seen> {
  const { port, token } = (await sharedService()).info;
  const lines = Object.entries({
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": Buffer.from("0123456789abcdef").toString("base64"),
    ...(config["token"] !== undefined && { Authorization: `Bearer ${token}` }),
    ...handshake.headers,
  }).map(([name, value]) => `${name}: ${String(value).replaceAll("{PORT}", String(port))}`);
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let said = "";
    socket.on("data", (chunk) => (said += chunk.toString()));
    socket.on("close", () => resolve(said));
    socket.on("error", reject);
    socket.write(`GET ${handshake.path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  });
  return { handshake: /^HTTP\/1\.1 101/.test(answer) ? "accepted" : "refused" };
}

async function playCheck(check: string, config: Record<string, any>): Promise<Seen> {
  const argv: string[] = (config["argv"] ?? []).filter((word: string) => word !== "web" && word !== "serve");
  if (/^start/.test(check)) {
    const workspace = createWorkspace();
    const { exit, stdout, stderr } = await workspace.run(["serve", ...argv], {
      env: config["env"] ?? {},
      timeoutMs: 3000,
    });
    workspace.remove();
    return { refuses_to_start: exit !== 0 && exit !== null && !stdout.includes("Serving"), stderr };
  }
  const service = argv.length === 0 ? await sharedService() : new TestService();
  if (argv.length > 0) await service.start(argv);
  const { pid, port } = service.info;
  const other = new TestService();
  if (/port/.test(check)) await other.start();
  const seen = {
    only: listeningAddresses(pid),
    port_random: other.info === undefined || (other.info.port !== port && other.info.port > 1024),
    token_differs: other.info?.token !== service.info.token,
  };
  await other.remove();
  if (argv.length > 0) await service.remove();
  return seen;
}

/** Local addresses of the sockets that a process listens on. */
function listeningAddresses(pid: number): string[] {
  const { readdirSync, readlinkSync } = process.getBuiltinModule("node:fs");
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  const rows = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/net/${table}`, "utf8").split("\n").slice(1));
  return rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/);
    if (state !== "0A" || !inodes.has(inode)) return [];
    const hex = local.split(":")[0]!;
    if (hex.length > 8) return [hex === "00000000000000000000000001000000" ? "::1" : hex];
    return [[...Buffer.from(hex, "hex")].reverse().join(".")];
  });
}

const checks: Record<string, (wanted: any, seen: Seen) => boolean> = {
  status: (wanted, seen) => seen["status"] === wanted,
  status_in: (wanted: number[], seen) => wanted.includes(seen["status"] as number),
  side_effect: (wanted, seen) => seen["side_effect"] === wanted,
  acao_absent: (wanted, seen) => seen["acao_absent"] === wanted,
  // Cannot be seen from outside: the guard compares digests of equal length, and its test says so.
  constant_time: () => /timingSafeEqual/.test(readFileSync(join(repository, "src/serve/http/guard.ts"), "utf8")),
  handshake: (wanted, seen) => seen["handshake"] === wanted,
  only: (wanted: string[], seen) => {
    const addresses = seen["only"] as string[];
    return addresses.length > 0 && addresses.every((each) => wanted.includes(each));
  },
  headers: (wanted: Record<string, string>, seen) =>
    Object.entries(wanted).every(([name, value]) =>
      String((seen["headers"] as any)[name.toLowerCase()] ?? "").includes(value),
    ),
  csp: (_wanted, seen) => {
    const policy = String(seen["csp"]);
    return /default-src 'self'/.test(policy) && !/unsafe-inline|unsafe-eval|https?:|\*/.test(policy);
  },
  max_rss_mb: (wanted, seen) => Number(seen["rss_mb"]) <= wanted,
  approved: (_wanted, seen) => seen["approved"] !== "B",
  ...Object.fromEntries(
    "rendered_as_text no_request_to ui_usable B_runs counted_once refused refuses_to_start port_random token_differs"
      .split(" ")
      .map((key) => [
        key,
        (wanted: unknown, seen: Seen) => (Array.isArray(wanted) ? seen[key] === true : seen[key] === wanted),
      ]),
  ),
};
