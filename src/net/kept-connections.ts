// Connections that are kept for the next request: until when, and which of them are still alive.
import type { Agent, IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** For servers that name no time: shorter than the 60 s after which common balancers close a silent connection. */
const usualMs = 50_000;
/** Before the moment at which a server has said that it will close. */
const marginMs = 1000;

type Kept = { since: number; forMs: number };

const kept = new WeakMap<Socket, Kept>();

/** Notes until when the connection of this answer may carry another request. */
export function noteKept(answer: IncomingMessage): void {
  const { socket, headers } = answer;
  const named = /(?:^|[\s,])timeout=(\d+)/i.exec(String(headers["keep-alive"] ?? ""))?.[1];
  const forMs = named === undefined ? usualMs : Number(named) * 1000 - marginMs;
  answer.once("end", () => kept.set(socket, { since: Date.now(), forMs }));
}

/**
 * Closes the idle connections that a request must not be sent on: the server has closed them, or is about to. A connection
 * whose end has arrived, but was not read yet, looks alive; so the event loop goes round once before they are judged.
 */
export async function closeStale(agent: Agent): Promise<void> {
  for (let round = 0; round < 3 && idle(agent).length > 0; round++) {
    await wholeRound();
    const stale = idle(agent).filter((socket) => !isUsable(socket));
    if (stale.length === 0) return;
    for (const socket of stale) socket.destroy(); // the agent forgets it in the next round
  }
}

/** After one of them was found dead the others are not trusted either. */
export function closeIdle(agent: Agent): void {
  for (const socket of idle(agent)) socket.destroy();
}

function idle({ freeSockets }: Agent): Socket[] {
  return Object.values(freeSockets).flatMap((sockets) => sockets ?? []);
}

function isUsable(socket: Socket): boolean {
  const { since, forMs } = kept.get(socket) ?? { since: 0, forMs: 0 };
  const idleMs = Date.now() - since; // negative when the clock was set back
  return socket.readable && socket.writable && idleMs >= 0 && idleMs < forMs;
}

/** What one `setImmediate` waits for may be the rest of the present round; behind the second one everything was polled. */
async function wholeRound(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
