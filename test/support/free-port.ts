// Ports for servers that are told theirs. The system gives them to nobody by chance, so that a server finds its own again when it is
// started once more, while other tests open thousands of connections.
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const lowest = 10_000;
/** The first of those that the system gives to whoever asks for any. */
const firstGiven = (() => {
  try {
    return Number(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s/)[0]);
  } catch {
    return 32_768;
  }
})();
/** Processes begin at different ports and go on from there. */
let tried = process.pid * 131;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + (tried++ % Math.max(firstGiven - lowest, 1000));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
