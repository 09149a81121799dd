// A real NATS server with JetStream, on loopback, with a store of its own.
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { atExit, spawnOwned } from "./at-exit.ts";
import { freePort } from "./free-port.ts";

const program = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"].find(existsSync);

/** Why tests that need one cannot run here. */
export const noNatsServer = program === undefined && "there is no nats-server here";

export type NatsServerOptions = {
  hasJetStream?: boolean;
  /** More lines of its configuration. */
  config?: string;
  host?: string;
  /** A configuration of its own, in place of all of this. */
  file?: string;
  /** What its process is started by, such as a network of its own. */
  inside?: readonly string[];
};

export class NatsServer {
  readonly folder = mkdtempSync(join(tmpdir(), "courser-nats-"));
  readonly host: string;
  port = 0;
  readonly #options: NatsServerOptions;
  readonly #forget = atExit(() => rmSync(this.folder, { recursive: true, force: true }));
  #child: ChildProcess | undefined;

  constructor(options: NatsServerOptions = {}) {
    this.#options = options;
    this.host = options.host ?? "127.0.0.1";
  }

  static async start(options?: NatsServerOptions): Promise<NatsServer> {
    const server = new NatsServer(options);
    server.port = await freePort();
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.remove();
      throw error;
    }
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  get address(): string {
    return `${this.host}:${this.port}`;
  }

  /** Of one of the fleets that it keeps. */
  url(prefix = "courser"): string {
    return `nats://${this.address}?prefix=${prefix}`;
  }

  /** Also again, on what it had stored. */
  async start(): Promise<void> {
    const { hasJetStream = true, config = "", inside = [] } = this.#options;
    const file = this.#options.file ?? join(this.folder, "nats.conf");
    const store = hasJetStream ? `jetstream { store_dir: "${join(this.folder, "store")}" }` : "";
    if (!this.#options.file) writeFileSync(file, `listen: "${this.address}"\n${store}\n${config}\n`);
    const [command, ...args] = [...inside, program!, "-c", file, "-l", join(this.folder, "nats.log")];
    this.#child = spawnOwned(command!, args, { stdio: "ignore" });
    const deadline = Date.now() + 20_000;
    while (!(await answers(this.host, this.port))) {
      if (Date.now() > deadline) throw new Error("nats-server does not answer");
      await sleep(20);
    }
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  async remove(): Promise<void> {
    await this.kill();
    this.#forget();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once("data", () => end(true)).once("error", () => end(false));
    const end = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
  });
}
