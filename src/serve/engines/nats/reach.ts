// Reach: tracks whether the server can be reached, for all users of one connection, and notifies listeners of changes.
import type { Connected } from "./connect.ts";

/** How long silence is not reported, because an election may take that long. */
const silentMs = 12_000;
/** After a longer silence, other hosts are assumed to have been unable to renew their leases either. */
const briefMs = 2000;

export class Reach {
  isAway = false;
  /** Called when messages may have been missed; the server has also forgotten waiting pulls. */
  readonly onGap = new Set<() => void>();
  readonly onReach = new Set<(isReached: boolean) => void>();
  /** Called for each request in flight when the connection is lost, and when a leader is elected. */
  readonly onLost = new Set<(error: Error) => void>();
  readonly #connected: Connected;
  readonly #onFound: () => void;
  /** Since when the server has not answered; `#isSilent` is set once that was reported. */
  #silentSince: number | undefined;
  #isSilent = false;

  /** `onFound` is called when writes are possible again after a while in which they were not. */
  constructor(connected: Connected, onFound: () => void) {
    this.#connected = connected;
    this.#onFound = onFound;
    void this.#watchConnection();
    this.#watchLeaders();
  }

  wakeAll(): void {
    for (const wake of [...this.onGap]) wake();
  }

  /** Notes an unanswered request: a connected server cannot answer while its cluster has no majority. */
  unanswered(): void {
    this.#silentSince ??= performance.now();
    if (this.#isSilent || this.isAway || performance.now() - this.#silentSince < silentMs) return;
    this.#isSilent = true;
    for (const notify of this.onReach) notify(false);
  }

  answered(): void {
    if (this.#silentSince === undefined) return;
    const isFound = performance.now() - this.#silentSince > briefMs;
    this.#silentSince = undefined;
    if (isFound) this.#serverFound();
    if (!this.#isSilent) return;
    this.#isSilent = false;
    for (const notify of this.onReach) notify(true);
  }

  async #watchConnection(): Promise<void> {
    for await (const status of this.#connected.connection.status()) {
      if (status.type === "error") this.#reportRefused(status.error);
      if (status.type === "disconnect") {
        this.isAway = true;
        this.#isSilent = false;
        this.#silentSince = undefined;
        for (const notify of this.onReach) notify(false);
        this.#askAgain();
      }
      if (status.type === "reconnect") {
        this.isAway = false;
        for (const notify of this.onReach) notify(true);
        this.#serverFound();
      }
    }
  }

  /** Reports a gap after an election: without a leader no lease could be renewed, and no stored messages were republished. */
  #watchLeaders(): void {
    const { connection, names } = this.#connected;
    const ownStreams = new Set(names.streams());
    const elected = "$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED.";
    connection.subscribe(`${elected}*`, {
      callback: (error, message) => {
        if (error || !ownStreams.has(message.subject.slice(elected.length))) return;
        this.#serverFound();
        this.#askAgain(); // what the former leader was asked is not answered
      },
    });
    connection.subscribe(`$JS.EVENT.ADVISORY.CONSUMER.LEADER_ELECTED.${names.stream("work")}.*`, {
      callback: () => this.wakeAll(),
    });
  }

  #askAgain(): void {
    for (const reject of [...this.onLost]) reject(awayError());
  }

  #serverFound(): void {
    this.#onFound();
    this.wakeAll();
  }

  #reportRefused(error: Error): void {
    const { operation, subject } = error as { operation?: string; subject?: string };
    if (operation !== "publish" || subject === undefined) return;
    for (const notify of [...this.#connected.onRefused]) notify(error, subject);
  }
}

export function awayError(): Error {
  return Object.assign(new Error("the connection was lost"), { name: "ConnectionError" });
}
