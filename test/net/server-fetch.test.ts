// The fetch for a server that the user named: that host as it is, others only where they are safe.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createServerFetch, isLoopback } from "../../src/net/server-fetch.ts";

let servers: Server[] = [];
afterEach(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  servers = [];
});

async function listen(answer: (request: IncomingMessage) => string): Promise<string> {
  const server = createServer((request, response) => response.end(answer(request)));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("createServerFetch", () => {
  it("gives configured headers to the named host alone, below what a request says itself", async () => {
    const echo = (request: IncomingMessage) => JSON.stringify(request.headers);
    const [named, other] = [await listen(echo), await listen(echo)];
    const fetch = createServerFetch(new URL(named), { env: {}, headers: { "X-Key": "k", Authorization: "mine" } });
    const own = await (await fetch(`${named}/mcp`, { headers: { authorization: "Bearer t" } })).json();
    expect(own).toMatchObject({ "x-key": "k", authorization: "Bearer t" });
    const elsewhere = await (
      await fetch(`${other}/token`, { method: "POST", body: new URLSearchParams({ a: "b" }) })
    ).json();
    expect(elsewhere).not.toHaveProperty("x-key");
    expect(elsewhere).not.toHaveProperty("authorization");
    expect(elsewhere).toMatchObject({ "content-length": "3" });
  });

  it.each([
    ["https://example.com/mcp", "http://example.org/token", /not encrypted/],
    ["https://example.com/mcp", "https://127.0.0.1:9/token", /closed/],
    ["https://example.com/mcp", "https://10.0.0.1/token", /closed/],
    ["https://example.com/mcp", "https://localhost/token", /closed/],
    ["http://127.0.0.1:9/mcp", "https://169.254.169.254/latest", /closed/],
    ["http://127.0.0.1:9/mcp", "http://192.168.0.1/token", /not encrypted/],
  ])("from %s does not go to %s", async (named, other, why) => {
    await expect(createServerFetch(new URL(named), { env: {} })(other)).rejects.toThrow(why);
  });

  it("ends a line that never ends", async () => {
    const named = await listen(() => "x".repeat(17 * 2 ** 20));
    const response = await createServerFetch(new URL(named), { env: {} })(named);
    await expect(response.text()).rejects.toThrow("16 MiB");
  });

  it("knows this machine by every spelling", () => {
    for (const host of ["localhost", "127.0.0.1", "[::1]", "127.1", "0x7f.1", "2130706433"])
      expect(isLoopback(new URL(`http://${host}/`))).toBe(true);
    for (const host of ["localhost.example.com", "128.0.0.1", "example.com", "10.0.0.1"])
      expect(isLoopback(new URL(`http://${host}/`))).toBe(false);
  });
});
