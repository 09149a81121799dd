// A request is repeated only where that cannot do anything twice, and a connection that the server gave up is not used.
import { afterEach, describe, expect, it } from "vitest";
import { createFetch, type Fetch } from "../../src/net/fetch.ts";
import { findNetError } from "../../src/net/net-error.ts";
import { type Cut, type CuttingServer, cuttingServer } from "../support/cutting-server.ts";

const open: CuttingServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop();
});

async function start(options: Parameters<typeof cuttingServer>[0]): Promise<{ server: CuttingServer; light: Fetch }> {
  const server = await cuttingServer(options);
  open.push(server);
  const light = createFetch({ env: {} });
  expect(await (await light(server.url)).text()).toBe("ok"); // its connection is kept
  return { server, light };
}

const outcome = (asked: Promise<Response>): Promise<string> =>
  asked.then((response) => response.text()).catch((error) => findNetError(error)?.message ?? String(error));

describe("a reset on a kept connection", () => {
  const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const;
  const cuts: Cut[] = ["before the head", "after the head", "in the body"];
  it.each(methods.flatMap((method) => cuts.map((cut) => ({ method, cut }))))(
    "our fetch repeats $method only where that is safe, if a kept connection is reset $cut",
    async ({ method, cut }) => {
      const { server, light } = await start({ cut });
      const body = ["POST", "PUT", "PATCH"].includes(method) ? { body: "pay" } : {};
      const said = await outcome(light(server.url, { method, ...body }));
      const isSafe = ["GET", "HEAD", "OPTIONS"].includes(method);
      const isRepeated = isSafe && cut === "before the head";
      const sent = (await server.requests()).slice(1);
      expect(sent.map(({ isReused }) => isReused)).toEqual(isRepeated ? [true, false] : [true]);
      if (isRepeated) expect(said).toBe(method === "HEAD" ? "" : "ok");
      else if (method !== "HEAD") expect(said).toContain("The connection broke with");
      if (cut === "before the head" && !isSafe) expect(said).toContain("may have been carried out");
    },
  );
});

it("our fetch closes other kept connections together with one that was reset", async () => {
  const { server, light } = await start({ cut: "before the head" });
  await Promise.all([1, 2, 3].map(() => outcome(light(server.url, { method: "POST", body: "x" }))));
  const before = (await server.requests()).length;
  expect(await outcome(light(server.url, { method: "POST", body: "pay" }))).toContain("may have been carried out");
  expect(await outcome(light(server.url, { method: "POST", body: "next" }))).toBe("ok");
  expect((await server.requests()).slice(before).map(({ body }) => body)).toEqual(["pay", "next"]);
});

describe("a kept connection that the server closes", () => {
  it("our fetch does not use a closed connection, even if this process is busy", async () => {
    const { server, light } = await start({ cut: "before the head" });
    const closed = server.closeIdle();
    busy(150);
    // Nothing was read from the connection since; the request is sent before anything else is done.
    expect(await outcome(light(server.url, { method: "POST", body: "pay" }))).toBe("ok");
    await closed;
    const requests = await server.requests();
    expect(requests.map(({ method, isReused }) => ({ method, isReused }))).toEqual([
      { method: "GET", isReused: false },
      { method: "POST", isReused: false },
    ]);
  });

  it("our fetch does not use a connection near the end of the server's announced keep-alive time", async () => {
    const { server, light } = await start({ says: 2 });
    expect(await outcome(light(server.url, { method: "POST", body: "soon" }))).toBe("ok");
    busy(1200); // the server keeps it for 2 s
    expect(await outcome(light(server.url, { method: "POST", body: "late" }))).toBe("ok");
    expect((await server.requests()).map(({ isReused }) => isReused)).toEqual([false, true, false]);
  });

  it("one connection serves hundreds of requests of our fetch, sequentially and in parallel", async () => {
    const { server, light } = await start({});
    const post = () => outcome(light(server.url, { method: "POST", body: "x" }));
    for (let count = 0; count < 200; count++) expect(await post()).toBe("ok");
    for (let count = 0; count < 20; count++) await Promise.all([post(), post(), post()]);
    const requests = await server.requests();
    expect(requests).toHaveLength(261);
    expect(requests.filter(({ isReused }) => !isReused)).toHaveLength(3);
  });
});

/** Keeps this thread from reading anything. */
function busy(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
