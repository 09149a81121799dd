// A web of our own on loopback: every name leads to it, whatever address it is said to have.
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect as connectSocket, type Socket } from "node:net";
import type { PageRequest } from "../../src/web/page.ts";

export type TestWeb = {
  /** For `fetchPage`: all names are public and lead here. */
  request: PageRequest;
  port: number;
  seen: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[];
  stop(): Promise<void>;
};

export async function startWeb(answer: RequestListener): Promise<TestWeb> {
  const seen: TestWeb["seen"] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    request: {
      mode: "force",
      rules: [],
      env: {},
      resolve: async () => ["93.184.216.34"],
      connect: () => connectSocket(port, "127.0.0.1"),
    },
    port,
    seen,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
