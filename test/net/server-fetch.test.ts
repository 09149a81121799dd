// The fetch for a server that the user named: that host as it is, others only where they are safe.
import type { IncomingMessage } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { createServerFetch, isLoopback } from "../../src/net/server-fetch.ts";
import { openServers } from "../support/open-servers.ts";

const { serve, close } = openServers();
afterEach(close);
const listen = (answer: (request: IncomingMessage) => string) =>
  serve((request, response) => response.end(answer(request)));

describe("createServerFetch", () => {
  it("a server's configured headers go only to that host, and the request's own headers override them", async () => {
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
  ])("a request with the configured headers of %s to %s is refused", async (named, other, why) => {
    await expect(createServerFetch(new URL(named), { env: {} })(other)).rejects.toThrow(why);
  });

  it.each([
    ["line", "x".repeat(17 * 2 ** 20)],
    ["event", `data: ${"x".repeat(1000)}\n`.repeat(17 * 2 ** 10)],
  ])("a server's endless %s is cut off", async (_what, text) => {
    const named = await listen(() => text);
    const response = await createServerFetch(new URL(named), { env: {} })(named);
    const reader = response.body!.getReader();
    const readAll = async () => {
      while (!(await reader.read()).done);
    };
    await expect(readAll()).rejects.toThrow("an event of more than 16 MiB");
  });

  it("a server's long stream of short events is not cut off", async () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      const event = `data: ${"x".repeat(1000)}${end}${end}`;
      const named = await listen(() => event.repeat(17 * 2 ** 10));
      const response = await createServerFetch(new URL(named), { env: {} })(named);
      const reader = response.body!.getReader();
      let length = 0;
      for (let part = await reader.read(); !part.done; part = await reader.read()) length += part.value.length;
      expect(length).toBe(event.length * 17 * 2 ** 10);
    }
  });

  it("the local machine is recognised in every spelling", () => {
    for (const host of ["localhost", "127.0.0.1", "[::1]", "127.1", "0x7f.1", "2130706433"])
      expect(isLoopback(new URL(`http://${host}/`))).toBe(true);
    for (const host of ["localhost.example.com", "128.0.0.1", "example.com", "10.0.0.1"])
      expect(isLoopback(new URL(`http://${host}/`))).toBe(false);
  });
});
