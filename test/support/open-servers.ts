// Servers on loopback that a test opens: each listens on a free port, and all are closed with their connections.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";

export function openServers() {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  /** Returns the port. */
  const listen = async (server: Server): Promise<number> => {
    servers.push(server);
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };
  return {
    listen,
    servers,
    sockets,
    /** Returns the address. */
    serve: async (answer: RequestListener) => `http://127.0.0.1:${await listen(createServer(answer))}`,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
