// What happens to a cluster of NATS servers while a fleet works on it: its leader is killed, a server is away, all are restarted one
// after the other, one is cut off from the others in a network of its own.
import { setTimeout as sleep } from "node:timers/promises";
import { type JetStreamManager, jetstreamManager, type StreamInfo } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { chanceOf } from "../support/chance.ts";
import { Namespace } from "../support/cut-network.ts";
import { NatsCluster } from "../support/nats-cluster.ts";
import type { NatsServer } from "../support/nats-server.ts";

const chance = chanceOf("serve/cluster-troubles");

export type Trouble = "leader killed" | "server away" | "rolling restart" | "leader cut off";

/** Of the stream that holds what happens in runs. */
const stream = "courser_log";
/** How long a server is away that is killed; the others need up to nine seconds to elect a leader. */
const awayMs = 12_000;

type Connected = { cluster: NatsCluster; connection: NatsConnection; manager: JetStreamManager; network?: Namespace };

export class ClusterTroubles {
  /** When they began and ended, and whether a leader was concerned. */
  readonly times: { from: number; to: number; isLeader: boolean }[] = [];
  readonly #connected: Connected;

  private constructor(connected: Connected) {
    this.#connected = connected;
  }

  /** Of a cluster that one server can be cut off from, that one is the last. */
  static async start(troubles: readonly Trouble[]): Promise<ClusterTroubles> {
    const network = troubles.includes("leader cut off") ? new Namespace() : undefined;
    const cluster = await NatsCluster.start(
      network && {
        hosts: [network.host, network.host, network.innerHost],
        inside: (index) => (index === 2 ? network.inside : []),
      },
    );
    // By a server that nothing happens to unless it leads.
    const connection = await connect({ servers: cluster.address.split(","), maxReconnectAttempts: -1 });
    const manager = await jetstreamManager(connection, { checkAPI: false });
    return new ClusterTroubles({ cluster, connection, manager, ...(network && { network }) });
  }

  get url(): string {
    return this.#connected.cluster.url();
  }

  /** One after the other. */
  async happen(troubles: readonly Trouble[], leaseMs: number): Promise<void> {
    for (const trouble of troubles) {
      await sleep(leaseMs * (0.3 + chance() * 0.7));
      await this.#happen(trouble);
    }
  }

  async #happen(trouble: Trouble): Promise<void> {
    const { cluster } = this.#connected;
    switch (trouble) {
      case "leader killed":
        return this.#without(await this.#leader(), "SIGKILL", awayMs);
      case "server away": {
        const leader = await this.#leader();
        return this.#without(cluster.servers.find((server) => server !== leader)!, "SIGKILL", 2 * awayMs);
      }
      case "rolling restart":
        for (const server of cluster.servers) await this.#without(server, "SIGTERM", 500);
        return;
      case "leader cut off":
        return this.#cutOff();
    }
  }

  async #without(server: NatsServer, signal: NodeJS.Signals, ms: number): Promise<void> {
    const isLeader = (await this.#leader()) === server;
    const from = Date.now();
    const time = { from, to: Infinity, isLeader };
    this.times.push(time);
    await server.kill(signal);
    await sleep(ms);
    await server.start();
    await this.#untilWhole();
    time.to = Date.now();
  }

  async #cutOff(): Promise<void> {
    const { cluster, connection, network } = this.#connected;
    const last = cluster.servers.at(-1)!;
    for (let tries = 0; tries < 20 && (await this.#leader()) !== last; tries++) {
      await connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`).catch(() => {});
      await sleep(1000);
    }
    const time = { from: Date.now(), to: Infinity, isLeader: true };
    this.times.push(time);
    network!.cut();
    await sleep(2 * awayMs);
    network!.mend();
    await this.#untilWhole();
    time.to = Date.now();
  }

  async #leader(): Promise<NatsServer> {
    while (true) {
      const info = await this.#connected.manager.streams.info(stream).catch(() => undefined);
      if (info?.cluster?.leader) return this.#connected.cluster.named(info.cluster.leader);
      await sleep(200);
    }
  }

  /** Until every replica of every stream has caught up, as an operator waits before the next server is touched. */
  async #untilWhole(): Promise<void> {
    const { manager } = this.#connected;
    while (true) {
      const all = await manager.streams
        .list()
        .next()
        .catch(() => []);
      const isWhole = ({ cluster }: StreamInfo) =>
        cluster?.leader && cluster.replicas?.every(({ current, offline }) => current && !offline);
      if (all.length > 0 && all.every(isWhole)) return;
      await sleep(200);
    }
  }

  async remove(): Promise<void> {
    const { connection, cluster, network } = this.#connected;
    await connection.close();
    await cluster.remove();
    network?.close();
  }
}
