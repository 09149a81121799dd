// Networks between a client and a server of a test that can be cut and mended: packets vanish, nobody is told.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

export interface Network {
  /** Where the server must listen, and what the client connects to. */
  readonly host: string;
  /** What starts a program inside of it. */
  readonly inside: readonly string[];
  /** Where the client finds the port of the server. */
  open(port: number): Promise<{ host: string; port: number }>;
  cut(): void;
  mend(): void;
  close(): void;
}

const ip = "/usr/sbin/ip";

/** A network namespace, joined by a cable that can be unplugged. */
export class Namespace implements Network {
  static #made = 0;
  readonly #name = `courser${process.pid}n${Namespace.#made++}`;
  readonly #cable = `cr${process.pid % 100_000}n${Namespace.#made}`;
  readonly #subnet = `10.213.${process.pid % 250}`;
  readonly inside = [ip, "netns", "exec", this.#name];
  readonly host = `${this.#subnet}.${Namespace.#made * 4 + 1}`;
  /** The address of who is inside. */
  readonly innerHost = `${this.#subnet}.${Namespace.#made * 4 + 2}`;

  constructor() {
    run("netns", "add", this.#name);
    run("link", "add", `${this.#cable}a`, "type", "veth", "peer", "name", `${this.#cable}b`, "netns", this.#name);
    run("addr", "add", `${this.host}/30`, "dev", `${this.#cable}a`);
    run("link", "set", `${this.#cable}a`, "up");
    run("-n", this.#name, "addr", "add", `${this.innerHost}/30`, "dev", `${this.#cable}b`);
    this.mend();
  }

  open = async (port: number) => ({ host: this.host, port });
  cut = () => run("-n", this.#name, "link", "set", `${this.#cable}b`, "down");
  mend = () => run("-n", this.#name, "link", "set", `${this.#cable}b`, "up");
  close = () => run("netns", "del", this.#name);
}

/** Why there can be none here. */
export function noNamespaces(): string | false {
  if (!existsSync(ip)) return "there is no ip (iproute2) here";
  try {
    new Namespace().close();
    return false;
  } catch {
    return "network namespaces need root";
  }
}

function run(...args: string[]): void {
  const { status, stderr } = spawnSync(ip, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr}`);
}

/** A proxy on loopback that stops passing anything on, without closing. */
export class StallingProxy implements Network {
  readonly host = "127.0.0.1";
  readonly inside: readonly string[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #servers = new Set<{ close(): void }>();
  #isCut = false;

  async open(port: number): Promise<{ host: string; port: number }> {
    const server = createServer((client) => {
      const upstream = connect(port, this.host);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(from);
        if (this.#isCut) from.pause();
        from.on("data", (data) => to.write(data));
        from.on("close", () => to.destroy()).on("error", () => to.destroy());
      }
    });
    await new Promise<void>((resolve) => server.listen(0, this.host, resolve));
    this.#servers.add(server);
    return { host: this.host, port: (server.address() as { port: number }).port };
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  mend(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) server.close();
  }
}
