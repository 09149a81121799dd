// Logging in to MCP servers with the built CLI, against an authorization server on loopback.
import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type OAuthServer, startOAuthServer } from "../support/oauth-server.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let place: Workspace;
let server: OAuthServer;
afterEach(async () => {
  await server?.stop();
  place?.remove();
});

async function open(metadata: Record<string, unknown> = {}): Promise<void> {
  server = await startOAuthServer(metadata);
  place = createWorkspace();
  await place.run(["mcp", "add", "guarded", "--url", `${server.url}/mcp`, "-H", "X-Extra: secret-header"]);
}

/** Types the command, and does in place of the browser what it is sent to do. */
function login(port: number | undefined = 0, browse = true) {
  const args = ["mcp", "login", "guarded", ...(port === undefined ? [] : ["--port", String(port)])];
  let seen = "";
  return place.run(args, {
    env: { NO_OPEN_BROWSER: "1" },
    timeoutMs: 15_000,
    onStart: (child) =>
      child.stderr!.on("data", (chunk: Buffer) => {
        const before = seen;
        seen += chunk.toString("utf8");
        const [url] = /http:\/\/127\.0\.0\.1\S*\/authorize\S*/.exec(seen) ?? [];
        if (url && browse && !before.includes(url)) void fetch(url).catch(() => {});
      }),
  });
}

const call = [{ calls: [{ name: "guarded-who", args: {} }] }, { text: "ok" }];

describe("mcp login", () => {
  it("mcp login registers a client, uses PKCE, and saves, renews and deletes tokens privately", async () => {
    await open();
    const before = await place.play(call);
    expect(before.stdout).toContain("Log in with: courser mcp login guarded");
    expect(before.lines().find((line) => line["subtype"] === "mcp_server")).toMatchObject({ status: "needs-login" });
    expect(server.registrations).toBe(0);

    const done = await login();
    expect(done.stdout, done.stderr).toContain("✓ Logged in to guarded");
    expect(server.registrations).toBe(1);
    const file = join(place.config, "mcp-auth.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const run = await place.play(call);
    expect(run.stdout).toContain("you, with extra");
    // Old tokens are renewed without a person, and the new ones are kept.
    server.tokens.clear();
    const renewed = await place.play(call);
    expect(renewed.stdout).toContain("you, with extra");
    expect(server.refreshes).toBe(1);
    expect((await place.run(["mcp", "list"])).stdout).toContain("guarded: ready (1 tool)");
    expect(server.refreshes).toBe(1);

    // Neither the agent's tools nor what it says show a token.
    const [token] = [...server.tokens];
    const read = await place.play([{ calls: [{ name: "Read", args: { path: file } }] }, { text: "ok" }]);
    expect(read.stdout).not.toContain(token);
    expect(read.stdout).toContain("denies");

    expect((await place.run(["mcp", "logout", "guarded"])).stdout).toContain("✓ Logged out of guarded");
    expect(readFileSync(file, "utf8")).not.toContain(token);
    expect((await place.run(["mcp", "list", "--format", "json"])).stdout).toContain('"needs-login"');
  });

  it("mcp login fails at once if the port is taken", async () => {
    await open();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const run = await login((other.address() as AddressInfo).port);
    other.close();
    expect(run.exit).toBe(1);
    expect(run.stderr).toContain("[PORT_TAKEN]");
    expect(run.ms).toBeLessThan(5000);
    expect(server.asked).toEqual([]);
  });

  it.each([
    ["file:///bin/sh", {}],
    ["http://example.com/authorize", {}],
    ["javascript:alert(1)", {}],
  ])("mcp login does not open %s", async (authorization_endpoint) => {
    await open({ authorization_endpoint });
    // A browser that writes down what it is given.
    const log = join(place.home, "opened");
    place.file("bin/xdg-open", `#!/bin/sh\necho "$@" >> ${log}\n`);
    chmodSync(join(place.path, "bin/xdg-open"), 0o755);
    const run = await place.run(["mcp", "login", "guarded", "--port", "0"], {
      env: { PATH: `${join(place.path, "bin")}:${process.env["PATH"]}` },
      timeoutMs: 10_000,
    });
    expect(run.exit).toBe(1);
    expect(existsSync(log)).toBe(false);
    expect(server.asked).not.toContain("/token");
  });

  it("mcp login does not follow a token endpoint to a private address, nor send it our headers", async () => {
    await open({ token_endpoint: "https://169.254.169.254/token" });
    const run = await login();
    expect(run.exit).toBe(1);
    expect(run.stderr).toContain("which is closed");
    expect(run.stderr).not.toContain("secret-header");
  });

  it("mcp login refuses to run inside an agent, and for servers without a URL", async () => {
    await open();
    const agent = await place.run(["mcp", "login", "guarded"], { env: { CURSOR_AGENT: "1" } });
    expect(agent.stderr).toContain("agents may not change their logins");
    await place.run(["mcp", "add", "local", "--", "node", "x.js"]);
    expect((await place.run(["mcp", "login", "local"])).stderr).toContain("no address to log in to");
  });
});
