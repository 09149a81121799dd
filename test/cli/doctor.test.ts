// `doctor`, with the built program: what is wrong is found, with the next command, and the exit code tells whether a run can begin.
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { probe } from "../../src/net/probe.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace | undefined;
const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  workspace?.remove();
  workspace = undefined;
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

type Report = { usable: boolean; findings: { area: string; level: string; message: string; next?: string }[] };

async function examine(
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Report & { exit: number | null }> {
  const run = await workspace!.run(["doctor", "--format", "json", ...args], { env });
  return { ...(JSON.parse(run.stdout) as Report), exit: run.exit };
}

const levels = ({ findings }: Report, area: string) =>
  findings.filter((each) => each.area === area).map(({ level }) => level);

async function listen(server: Server): Promise<number> {
  servers.push(server.on("connection", (socket: Socket) => sockets.push(socket)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

describe("doctor", () => {
  it("is content with a fresh home, and says what to do next, without a terminal", async () => {
    workspace = createWorkspace();
    const run = await workspace.run(["doctor"]);
    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(/→ .*login/);
    expect(run.stdout.trim().endsWith("Ready.")).toBe(true);
  });

  it("names a broken file, and never shows a key", async () => {
    workspace = createWorkspace();
    workspace.file(`${workspace.config}/cli-config.json`, "{ not json");
    const key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    const report = await examine([], { ANTHROPIC_API_KEY: key });
    expect([report.exit, report.usable]).toEqual([1, false]);
    expect(levels(report, "config")).toEqual(["problem"]);
    expect(JSON.stringify(report)).not.toContain(key.slice(0, 20));
  });

  it("goes to the endpoint hop by hop, and asks the model only with --online", async () => {
    workspace = createWorkspace();
    const asked: string[] = [];
    const port = await listen(
      createServer((request, response) => {
        asked.push(`${request.method} ${request.headers.authorization ?? "no key"}`);
        if (request.method === "HEAD") return void response.writeHead(404).end();
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write('data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"ok"}}]}\n\n');
        response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
      }),
    );
    const args = ["-e", `http://127.0.0.1:${port}/v1`, "--model", "m", "--api-key", "local-key-of-mine"];
    const report = await examine(args);
    expect(report.exit).toBe(0);
    expect(asked).toEqual(["HEAD no key"]);
    const online = await examine([...args, "--online"]);
    expect(online.findings.at(-1)).toBeDefined();
    expect(online.findings.some(({ message }) => message === "call: the model answers")).toBe(true);
    expect(asked.some((each) => each.includes("local-key-of-mine"))).toBe(true);
  });

  it("finds the hop that fails", async () => {
    workspace = createWorkspace();
    const refused = await examine(["-e", "http://127.0.0.1:9/v1", "--model", "m"]);
    expect(refused.exit).toBe(1);
    expect(refused.findings).toContainEqual(
      expect.objectContaining({ level: "problem", message: "tcp: nothing is listening there" }),
    );
    const port = await listen(createTcp((socket) => socket.end("SSH-2.0-x\r\n")));
    const other = await examine(["-e", `http://127.0.0.1:${port}/v1`, "--model", "m"]);
    expect(other.findings).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("does not speak HTTP") }),
    );
  });
});

describe("probe", () => {
  it("tells a proxy that wants a login, a name without an address, and a server without TLS", async () => {
    const proxy = await listen(
      createServer().on("connect", (_request, socket) =>
        socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"),
      ),
    );
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy}` };
    expect((await probe("https://model.test/v1", { env })).at(-1)).toMatchObject({
      hop: "proxy",
      ok: false,
      detail: expect.stringContaining("requires a login"),
    });
    expect((await probe("https://no-such-name.invalid/", { env: {} })).at(-1)).toMatchObject({
      hop: "name",
      ok: false,
    });
    const plain = await listen(createServer((_request, response) => response.end()));
    expect((await probe(`https://127.0.0.1:${plain}/`, { env: {} })).at(-1)).toMatchObject({ hop: "tls", ok: false });
    const silent = await listen(createTcp(() => {}));
    expect((await probe(`http://127.0.0.1:${silent}/`, { env: {}, timeoutMs: 200 })).at(-1)).toMatchObject({
      hop: "http",
      ok: false,
      detail: expect.stringContaining("does not answer"),
    });
  });
});
