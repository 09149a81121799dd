// `doctor`, with the built program: what is wrong is found, with the next command, and the exit code tells whether a run can begin.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import { connect, createServer as createTcp, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { probe } from "../../src/net/probe.ts";
import { openServers } from "../support/open-servers.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";

let workspace: Workspace | undefined;
const { listen, close } = openServers();
afterEach(async () => {
  workspace?.remove();
  workspace = undefined;
  await close();
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

describe("doctor", () => {
  it("doctor passes in a fresh home and says what to do next, without a terminal", async () => {
    workspace = createWorkspace();
    const run = await workspace.run(["doctor"]);
    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(/→ .*login/);
    for (const [area, message] of [
      ["version", /courser \S+, Node \d+\.\d+\.\d+, \w+-\w+/],
      ["hooks", /no hooks/],
      ["mcp", /no servers/],
      ["plugins", /none/],
      ["agents", /no others found|\w+ \S+ \(\/.+\)/],
    ] as const)
      expect(run.stdout).toMatch(new RegExp(`^✓ ${area} +(?:${message.source})$`, "m"));
    expect(run.stdout).toMatch(/\n\nReady, with \d warnings?: see ! above\.\n$/);
  });

  it("doctor starts MCP servers and reports a failed one", async () => {
    workspace = createWorkspace();
    const mcpServers = {
      bad: { command: "no-such-program" },
      worse: { command: "node", args: ["-e", "process.exit(3)"] },
    };
    workspace.file(`${workspace.config}/mcp.json`, JSON.stringify({ mcpServers }));
    const report = await examine();
    expect(report.exit).toBe(0);
    expect(report.findings.filter(({ area }) => area === "mcp")).toEqual([
      {
        area: "mcp",
        level: "warning",
        message: expect.stringMatching(/^bad failed: /),
        next: expect.stringMatching(/courser mcp list$/),
      },
      { area: "mcp", level: "warning", message: expect.stringMatching(/^worse failed: /), next: expect.any(String) },
    ]);
  });

  it("doctor names a broken file, and never shows a key", async () => {
    workspace = createWorkspace();
    workspace.file(`${workspace.config}/cli-config.json`, "{ not json");
    const key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    const report = await examine([], { ANTHROPIC_API_KEY: key });
    expect([report.exit, report.usable]).toEqual([1, false]);
    expect(levels(report, "config")).toEqual(["problem"]);
    expect(JSON.stringify(report)).not.toContain(key.slice(0, 20));
  });

  it("doctor checks the endpoint hop by hop, and asks the model only with --online", async () => {
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

  it("doctor names the network hop that fails", async () => {
    workspace = createWorkspace();
    const refused = await examine(["-e", "http://127.0.0.1:9/v1", "--model", "m"]);
    expect(refused.exit).toBe(1);
    expect(refused.findings).toContainEqual(
      expect.objectContaining({
        level: "problem",
        message: "tcp: nothing is listening there",
        next: "is the server running? A firewall may need HTTPS_PROXY",
      }),
    );
    // What is right needs no advice.
    expect(refused.findings.filter(({ level, next }) => level === "ok" && next !== undefined)).toEqual([]);
    const lost = await examine(["-e", "http://no-such-name.invalid/v1", "--model", "m"]);
    expect(lost.findings).toContainEqual(
      expect.objectContaining({
        level: "problem",
        message: expect.stringMatching(/^name: /),
        next: expect.stringMatching(/^check the address/),
      }),
    );
    const port = await listen(createTcp((socket) => socket.end("SSH-2.0-x\r\n")));
    const other = await examine(["-e", `http://127.0.0.1:${port}/v1`, "--model", "m"]);
    expect(other.findings).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("does not speak HTTP") }),
    );
  });
});

describe("network probes of doctor", () => {
  it("doctor tells apart a proxy that needs a login, an unknown host and a server without TLS", async () => {
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
    // Whoever is silent, at whichever hop, is not waited for.
    expect((await probe(`https://127.0.0.1:${silent}/`, { env: {}, timeoutMs: 200 })).at(-1)).toMatchObject({
      hop: "tls",
      detail: expect.stringContaining("handshake does not end"),
    });
    for (const protocol of ["http", "https"]) {
      const behind = { HTTPS_PROXY: `${protocol}://127.0.0.1:${silent}` };
      expect((await probe("https://model.test/", { env: behind, timeoutMs: 200 })).at(-1)).toMatchObject({
        hop: "proxy",
        ok: false,
        detail: expect.stringMatching(/within 0\.2 s$/),
      });
    }
  });
});

const noOpenssl = spawnSync("openssl", ["version"]).status !== 0 && "there is no openssl here";

describe.skipIf(noOpenssl)(orSkipped("the way to an https server", noOpenssl), () => {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: workspace!.home, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

  /** Of an authority of its own, or of nobody but itself. */
  function certificate(name: string, { by, days = 2, names }: { by?: string; days?: number; names?: string } = {}) {
    const file = names?.split(":")[1] ?? name.replaceAll(" ", "-");
    const isCa = names === undefined;
    openssl("req", "-new", ...newKey, "-keyout", `${file}.key`, "-out", `${file}.csr`, "-subj", `/CN=${name}`);
    const signer = by ? ["-CA", `${by}.pem`, "-CAkey", `${by}.key`, "-CAcreateserial"] : ["-signkey", `${file}.key`];
    workspace!.file(
      `${workspace!.home}/${file}.ext`,
      isCa ? "basicConstraints=CA:TRUE\n" : `subjectAltName=${names}\n`,
    );
    const out = ["-days", String(days), "-out", `${file}.pem`, "-extfile", `${file}.ext`];
    openssl("x509", "-req", "-in", `${file}.csr`, ...signer, ...out);
    const read = (kind: string) => readFileSync(`${workspace!.home}/${file}.${kind}`);
    return {
      key: read("key"),
      cert: Buffer.concat([read("pem"), by ? readFileSync(`${workspace!.home}/${by}.pem`) : Buffer.alloc(0)]),
    };
  }

  const serve = (
    options: { key: Buffer; cert: Buffer },
    answer: RequestListener = (_, response) => response.writeHead(401).end(),
  ) => listen(createHttps(options, answer) as unknown as Server);

  const hopsOf = async (url: string, env: Record<string, string> = {}, more: string[] = []) =>
    (await examine(["-e", url, "--model", "m", ...more], env)).findings.filter(({ message }) =>
      /^(name|tcp|proxy|tls|http): /.test(message),
    );

  it("doctor shows the certificate chain and its issuer, trusted or not, with or without a proxy", async () => {
    workspace = createWorkspace();
    certificate("Test Authority");
    const leaf = certificate("model", { by: "Test-Authority", names: "IP:127.0.0.1,DNS:model.test" });
    const port = await serve(leaf);
    const url = `https://127.0.0.1:${port}/v1`;
    const unknown = (await hopsOf(url)).at(-1)!;
    expect(unknown).toMatchObject({ level: "problem", next: expect.stringContaining("NODE_EXTRA_CA_CERTS") });
    expect(unknown.message).toMatch(
      /^tls: the root certificate is not trusted here; TLSv1\.3, certificate of model ← Test Authority$/,
    );
    const trusting = { NODE_EXTRA_CA_CERTS: `${workspace.home}/Test-Authority.pem` };
    expect((await hopsOf(url, trusting)).map(({ level }) => level)).toEqual(["ok", "ok", "ok", "ok"]);
    const insecure = await hopsOf(url, {}, ["--insecure"]);
    expect(insecure.map(({ level }) => level)).toEqual(["ok", "ok", "warning", "ok"]);
    const proxy = await listen(
      createServer().on("connect", (request, socket: Socket) => {
        expect(request.url).toBe("model.test:443");
        const through = connect(port, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
        socket
          .on("error", () => {})
          .pipe(through.on("error", () => {}))
          .pipe(socket);
      }),
    );
    const tunnelled = await hopsOf("https://model.test/v1", { ...trusting, HTTPS_PROXY: `http://127.0.0.1:${proxy}` });
    expect(tunnelled.map(({ message }) => message.split(" ").slice(0, 3).join(" "))).toEqual([
      "name: proxy 127.0.0.1:" + proxy,
      "tcp: connected to",
      "proxy: opens a",
      "tls: TLSv1.3, certificate",
      "http: answers 'HTTP/1.1",
    ]);
  });

  it("doctor reports an expired certificate and one of another host", async () => {
    workspace = createWorkspace();
    const own = certificate("own", { names: "DNS:model.test" });
    const trusting = { NODE_EXTRA_CA_CERTS: `${workspace.home}/model.test.pem` };
    const other = (await hopsOf(`https://127.0.0.1:${await serve(own)}/v1`, trusting)).at(-1)!;
    expect(other.message).toContain("tls: the certificate is for another name: model.test");
    expect(other.next).toContain("name in the certificate");
    const old = certificate("old", { names: "IP:127.0.0.1", days: -1 });
    const expired = (
      await hopsOf(`https://127.0.0.1:${await serve(old)}/v1`, {
        NODE_EXTRA_CA_CERTS: `${workspace.home}/127.0.0.1.pem`,
      })
    ).at(-1)!;
    expect(expired.message).toMatch(/^tls: the certificate expired on /);
    expect(expired.next).toContain("renew");
  });
});

describe("an endpoint that answers doctor", () => {
  it("doctor treats a refusal by the endpoint as usable and a server error as a warning", async () => {
    workspace = createWorkspace();
    const statuses: [status: number, http: string, call: RegExp, next: RegExp][] = [
      [401, "ok", /^call: .*(invalid|401|refused)/i, /API_KEY|login|--api-key/],
      [429, "ok", /^call: .*(rate|429|many)/i, /^$/],
      [500, "warning", /^call: .*500/, /^$/],
    ];
    for (const [status, level, called, next] of statuses) {
      const port = await listen(createServer((_request, response) => response.writeHead(status).end("{}")));
      const args = ["-e", `http://127.0.0.1:${port}/v1`, "--model", "m", "--api-key", "local-key-of-mine"];
      const report = await examine([...args, "--online"]);
      expect(report.findings.find(({ message }) => message.startsWith("http: "))).toMatchObject({ level });
      const call = report.findings.find(({ message }) => message.startsWith("call: "))!;
      expect([status, report.exit, call.level]).toEqual([status, 1, "problem"]);
      expect(call.message).toMatch(called);
      expect(call.next ?? "").toMatch(next);
      if (status === 500) expect((await examine(args)).exit).toBe(0);
    }
  });

  it("doctor sends the whole address through a proxy for plain requests", async () => {
    workspace = createWorkspace();
    const asked: string[] = [];
    const proxy = await listen(
      createServer((request, response) => {
        asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"]}`);
        response.writeHead(404).end();
      }),
    );
    const env = { HTTP_PROXY: `http://me:secret@127.0.0.1:${proxy}` };
    const report = await examine(["-e", "http://model.test:81/v1", "--model", "m"], env);
    expect(report.exit).toBe(0);
    expect(asked).toEqual([`HEAD http://model.test:81/v1 Basic ${Buffer.from("me:secret").toString("base64")}`]);
    expect(JSON.stringify(report)).not.toContain("secret");
  });
});
