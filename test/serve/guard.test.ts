// The gate of the service, asked over real sockets: which Host headers are taken for its own.
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGuard, hostNames } from "../../src/serve/http/guard.ts";

let server: Server;
let port: number;
beforeAll(async () => {
  const guard = createGuard({ hosts: hostNames("127.0.0.1"), port: () => port, secrets: ["x"], isPublic: () => true });
  server = createServer((request, response) => {
    const refusal = guard(request);
    response.writeHead(refusal?.status ?? 200).end(refusal?.code ?? "taken");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

function ask(...hosts: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.on("error", reject).on("close", () => resolve(text.split("\r\n\r\n")[1] ?? ""));
    socket.write(`GET / HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join("")}Connection: close\r\n\r\n`);
  });
}

describe("a service on 127.0.0.1", () => {
  test("a service on 127.0.0.1 accepts only that address and localhost as Host, with its port", async () => {
    for (const host of [`127.0.0.1:${port}`, `LOCALHOST:${port}`]) expect(await ask(host)).toContain("taken");
    const others = [`[::1]:${port}`, "[::1]", "localhost", `evil.example:${port}`, `127.0.0.1:${port + 1}`, ""];
    for (const host of others) expect(await ask(host), host).toContain("forbidden_host");
  });

  test("the service refuses a request with two Host headers", async () => {
    const own = `127.0.0.1:${port}`;
    for (const hosts of [
      [own, "evil.example"],
      ["evil.example", own],
      [own, own],
    ])
      expect(await ask(...hosts)).toContain("two_hosts");
  });

  test("a service on ::1 accepts Host names of ::1, and elsewhere its own name as well", () => {
    expect(hostNames("::1")).toEqual(["[::1]", "localhost"]);
    expect(hostNames("10.0.0.7")).toEqual(["127.0.0.1", "localhost", "[::1]", "10.0.0.7"]);
  });
});
