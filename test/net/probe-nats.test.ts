// How far a connection to a NATS server comes, hop by hop.
import { createServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { probeNats } from "../../src/net/probe-nats.ts";
import { freePort } from "../support/free-port.ts";

let close = () => {};
afterEach(() => close());

/** A server that greets with these words. */
async function greeting(greet: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => greet(socket.on("error", () => {})));
  close = () => void server.close();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `nats://127.0.0.1:${(server.address() as { port: number }).port}`;
}
const shown = async (address: string) =>
  (await probeNats(address)).hops.map(({ hop, ok, detail }) => [hop, ok, detail]);
const reached = (address: string) => [
  ["name", true, "127.0.0.1 is 127.0.0.1"],
  ["tcp", true, `connected to ${address.slice("nats://".length)}`],
];

it.each([
  ['INFO {"version":"2.10.1","jetstream":true}\r\nmore', true, "NATS 2.10.1, JetStream"],
  ["INFO {}\n", false, "NATS ?, no JetStream: start it with -js"],
  [
    'INFO {"version":"2.9","jetstream":true,"tls_required":true,"auth_required":true}\r\n',
    true,
    "NATS 2.9, JetStream, TLS, login needed",
  ],
  ["HTTP/1.1 400 Bad Request\r\n", false, "it does not speak NATS: 'HTTP/1.1 400 Bad Request'"],
  ["INFO no json\n", false, "it does not speak NATS: 'INFO no json'"],
])("the NATS probe reports a server that greets with %j", async (words, ok, detail) => {
  const address = await greeting((socket) => socket.write(words));
  expect(await shown(address)).toEqual([...reached(address), ["server", ok, detail]]);
});

it("the NATS probe distinguishes a silent server, a missing one and an unknown host name", async () => {
  const mute = await greeting((socket) => socket.end());
  expect(await shown(mute)).toEqual([...reached(mute), ["server", false, "the connection was closed without a word"]]);
  const port = await freePort();
  expect(await shown(`nats://127.0.0.1:${port}`)).toEqual([
    ["name", true, "127.0.0.1 is 127.0.0.1"],
    ["tcp", false, expect.stringContaining("ECONNREFUSED")],
  ]);
  expect(await shown("nats://nothing.invalid:1")).toEqual([
    ["name", false, expect.stringContaining("nothing.invalid")],
  ]);
});
