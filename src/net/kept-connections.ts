// Decides how long a kept-alive connection may be reused, and closes the stale ones.
import type { Agent, IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** For servers that name no timeout: shorter than the 60 s after which common load balancers close an idle connection. */
const usualMs = 50_000;
/** How many milliseconds before the timeout that the server announced a connection is not used any more. */
const marginMs = 1000;

type Kept = { since: number; forMs: number };

const keptSockets = new WeakMap<Socket, Kept>();

/** Records how long the connection of this response may be reused. */
export function noteKept(answer: IncomingMessage): void {
  const { socket, headers } = answer;
  const named = /(?:^|[\s,])timeout=(\d+)/i.exec(String(headers["keep-alive"] ?? ""))?.[1];
  const forMs = named === undefined ? usualMs : Number(named) * 1000 - marginMs;
  answer.once("end", () => keptSockets.set(socket, { since: Date.now(), forMs }));
}

/**
 * Closes idle connections that must not carry a request because the server has closed them or is about to. A connection whose end has
 * arrived but was not read yet looks alive, so the event loop completes a round before they are checked.
 */
export async function closeStale(agent: Agent): Promise<void> {
  for (let round = 0; round < 3 && idleSockets(agent).length > 0; round++) {
    await wholeRound();
    const stale = idleSockets(agent).filter((socket) => !isUsable(socket));
    if (stale.length === 0) return;
    for (const socket of stale) socket.destroy(); // the agent removes destroyed sockets in its next round
  }
}

/** Closes all idle connections: after one was found dead, the others are not trusted either. */
export function closeIdle(agent: Agent): void {
  for (const socket of idleSockets(agent)) socket.destroy();
}

function idleSockets({ freeSockets }: Agent): Socket[] {
  return Object.values(freeSockets).flatMap((sockets) => sockets ?? []);
}

function isUsable(socket: Socket): boolean {
  const { since, forMs } = keptSockets.get(socket) ?? { since: 0, forMs: 0 };
  const idleMs = Date.now() - since; // negative if the clock was set back
  return socket.readable && socket.writable && idleMs >= 0 && idleMs < forMs;
}

/** The first `setImmediate` may fire in the current round of the event loop; after the second, all I/O was polled. */
async function wholeRound(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
