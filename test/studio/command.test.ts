// `courser studio`: finds the service that runs, or is one; prints an address that holds the token behind `#`.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { send, TestService } from "../serve/service-support.ts";

const service = new TestService();
const { workspace } = service;

beforeAll(() => service.start());
afterAll(() => service.remove());

it("courser studio uses the running service, and refuses to run inside an agent", async () => {
  const { exit, stdout } = await workspace.run(["studio", "--no-open"]);
  expect(exit).toBe(0);
  expect(stdout).toContain(`http://127.0.0.1:${service.info.port}/#token=${service.info.token}\n`);
  const agent = await workspace.run(["studio", "--no-open"], { env: { CURSOR_AGENT: "1" } });
  expect([agent.exit, agent.stdout]).toEqual([1, ""]);
});

it("the service serves the studio's page without a token, compressed, with strict headers", async () => {
  const { port, token } = service.info;
  const page = await send("/", { port });
  expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'self'; script-src 'self'; style-src 'self';/);
  expect(page.text).not.toMatch(/<script>|<style|style=/);
  const [script] = /studio-\w+\.js/.exec(page.text)!;
  const pressed = await send(`/${script}`, { port, headers: { "Accept-Encoding": "gzip" } });
  expect([pressed.status, pressed.headers["content-encoding"]]).toEqual([200, "gzip"]);
  expect((await send("/sessions/cursor/0bae/changes", { port })).text).toBe(page.text);
  for (const path of ["/index.html", "/..%2fcli/main.cjs", "/api/sessions", "/v1/me"])
    expect((await send(path, { port })).status, path).toBe(401);
  // The page itself says that it does not know an address.
  const unknown = await send("/sessions/a/b/c/d", { port });
  expect([unknown.status, unknown.text]).toEqual([404, page.text]);
  // A link may lead to the page, and to nothing else.
  const elsewhere = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document" };
  expect((await send("/", { port, headers: elsewhere })).status).toBe(200);
  expect((await send("/v1/me", { port, token, headers: elsewhere })).status).toBe(403);
});

it("a killed service starts again at its port with its token, and proves that it knows it", async () => {
  const { port, token } = service.info;
  await service.kill();
  await service.start();
  expect(service.info).toMatchObject({ port, token });
  const nonce = "0123456789abcdef0123456789abcdef";
  const { createHmac } = await import("node:crypto");
  const proof = createHmac("sha256", token).update(`courser:${nonce}`).digest("hex");
  expect((await send(`/api/proof?nonce=${nonce}`, { port })).body).toEqual({ proof });
  expect((await send("/api/proof?nonce=short", { port })).status).toBe(400);
  await service.kill("SIGTERM");
  await sleep(50);
  await service.start();
  expect(service.info.token).not.toBe(token);
});
