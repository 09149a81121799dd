// A cluster of NATS servers with JetStream: real processes on loopback, each with a store of its own, one of which leads each stream.
import { freePort } from "./free-port.ts";
import { NatsServer } from "./nats-server.ts";

export type NatsClusterOptions = {
  /** How many servers there are. */
  size?: number;
  /** More lines of the configuration of each. */
  config?: string;
  /** Where the servers listen: one address for all of them, unless each has its own. */
  hosts?: readonly string[];
  /** What the process of a server is started by, such as a network of its own. */
  inside?(index: number): readonly string[];
};

export class NatsCluster {
  readonly servers: NatsServer[];

  private constructor(servers: NatsServer[]) {
    this.servers = servers;
  }

  static async start({
    size = 3,
    config = "",
    hosts = ["127.0.0.1"],
    inside = () => [],
  }: NatsClusterOptions = {}): Promise<NatsCluster> {
    const places = await Promise.all(
      Array.from({ length: size }, async (_, index) => ({
        host: hosts[index % hosts.length]!,
        port: await freePort(),
        routePort: await freePort(),
      })),
    );
    const routes = places.map(({ host, routePort }) => `"nats-route://${host}:${routePort}"`).join(", ");
    const servers = places.map(({ host, port, routePort }, index) => {
      const cluster = `cluster { name: test, listen: "${host}:${routePort}", routes: [${routes}] }`;
      const server = new NatsServer({
        host,
        config: `server_name: node-${index + 1}\n${cluster}\n${config}`,
        inside: inside(index),
      });
      server.port = port;
      return server;
    });
    const made = new NatsCluster(servers);
    try {
      await Promise.all(servers.map((server) => server.start()));
      return made;
    } catch (error) {
      await made.remove();
      throw error;
    }
  }

  get address(): string {
    return this.servers.map(({ address }) => address).join(",");
  }

  /** Every message is kept by three servers. */
  url(prefix = "courser"): string {
    return `nats://${this.address}?prefix=${prefix}&replicas=3`;
  }

  /** By the name that the server tells of itself: node-1, node-2, … */
  named(name: string): NatsServer {
    return this.servers[Number(name.replace("node-", "")) - 1]!;
  }

  async remove(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.remove()));
  }
}
