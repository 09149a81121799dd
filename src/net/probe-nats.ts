// Checks the way to a NATS server step by step: name, connection, and what the server reports before login.
import type { Socket } from "node:net";
import { isObject, tryParse } from "../json/object.ts";

export type NatsHop = { hop: "name" | "tcp" | "server"; ok: boolean; detail: string };

export type NatsServer = { version: string; hasJetStream: boolean; needsTls: boolean; needsLogin: boolean };

const timeoutMs = 5000;
const maxInfo = 64 * 1024;

/** Stops at the first hop that fails. Never rejects. `server` holds what the server reported. */
export async function probeNats(address: string): Promise<{ hops: NatsHop[]; server?: NatsServer }> {
  const hops: NatsHop[] = [];
  let current: NatsHop["hop"] = "name";
  let socket: Socket | undefined;
  try {
    const { hostname, port } = new URL(address.replace(/^[a-z]+:/i, "http:"));
    const host = hostname.replace(/^\[|\]$/g, "");
    const [{ lookup }, { connect }] = await Promise.all([import("node:dns/promises"), import("node:net")]);
    const found = await lookup(host, { all: true });
    hops.push({ hop: current, ok: true, detail: `${host} is ${found.map(({ address }) => address).join(", ")}` });
    current = "tcp";
    const to = { host, port: Number(port) || 4222 };
    socket = connect({ ...to, timeout: timeoutMs });
    const info = firstLine(socket, () => {
      hops.push({ hop: "tcp", ok: true, detail: `connected to ${to.host}:${to.port}` });
      current = "server";
    });
    const server = serverIn(await info);
    const traits = [
      `NATS ${server.version}`,
      server.hasJetStream ? "JetStream" : "no JetStream: start it with -js",
      ...(server.needsTls ? ["TLS"] : []),
      ...(server.needsLogin ? ["login needed"] : []),
    ];
    hops.push({ hop: "server", ok: server.hasJetStream, detail: traits.join(", ") });
    return { hops, server };
  } catch (error) {
    hops.push({ hop: current, ok: false, detail: (error as Error).message || String(error) });
    return { hops };
  } finally {
    socket?.destroy();
  }
}

function firstLine(socket: Socket, onConnected: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.once("connect", onConnected);
    socket.once("timeout", () => reject(new Error("no answer in 5 seconds")));
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed without a word")));
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      if (text.includes("\n") || text.length > maxInfo) resolve(text.split(/\r?\n/)[0]!);
    });
  });
}

function serverIn(line: string): NatsServer {
  const info = line.startsWith("INFO ") ? tryParse(line.slice(5)) : undefined;
  if (!isObject(info)) throw new Error(`it does not speak NATS: '${line.slice(0, 60)}'`);
  return {
    version: String(info["version"] ?? "?"),
    hasJetStream: info["jetstream"] === true,
    needsTls: info["tls_required"] === true,
    needsLogin: info["auth_required"] === true,
  };
}
