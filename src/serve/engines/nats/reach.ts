// Reach: whether the server can be reached, for everybody who uses the same connection, and who must be told when that changes.
import type { Connected } from "./connect.ts";

/** So long an election takes and nobody need be told. */
const silentMs = 12_000;

export class Reach {
  /** The connection is lost. */
  isAway = false;
  /** Something may have been missed, and who waited in line at the server is forgotten. */
  readonly onGap = new Set<() => void>();
  readonly onReach = new Set<(isReached: boolean) => void>();
  /** Of questions that were put to a server that is away now. */
  readonly onLost = new Set<(error: Error) => void>();
  readonly #connected: Connected;
  readonly #onFound: () => void;
  /** Since when nothing was answered, and whether everybody knows. */
  #silentSince: number | undefined;
  #isSilent = false;

  /** `onFound`: nobody could write for a while, and now it is possible again. */
  constructor(connected: Connected, onFound: () => void) {
    this.#connected = connected;
    this.#onFound = onFound;
    void this.#watchConnection();
    this.#watchLeaders();
  }

  wakeAll(): void {
    for (const wake of [...this.onGap]) wake();
  }

  /** A server that is there may be unable to answer: its cluster has no majority. */
  unanswered(): void {
    this.#silentSince ??= performance.now();
    if (this.#isSilent || this.isAway || performance.now() - this.#silentSince < silentMs) return;
    this.#isSilent = true;
    for (const tell of this.onReach) tell(false);
  }

  answered(): void {
    this.#silentSince = undefined;
    if (!this.#isSilent) return;
    this.#isSilent = false;
    for (const tell of this.onReach) tell(true);
  }

  async #watchConnection(): Promise<void> {
    for await (const status of this.#connected.connection.status()) {
      if (status.type === "error") this.#tellRefused(status.error);
      if (status.type === "disconnect") {
        this.isAway = true;
        this.#isSilent = false;
        for (const tell of this.onReach) tell(false);
        for (const reject of [...this.onLost]) reject(awayError());
      }
      if (status.type === "reconnect") {
        this.isAway = false;
        for (const tell of this.onReach) tell(true);
        this.#found();
      }
    }
  }

  /** While a stream had no leader nobody could renew, and what was stored then was not told. */
  #watchLeaders(): void {
    const { connection, names } = this.#connected;
    const own = new Set(names.streams());
    const elected = "$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED.";
    connection.subscribe(`${elected}*`, {
      callback: (error, message) => {
        if (!error && own.has(message.subject.slice(elected.length))) this.#found();
      },
    });
    connection.subscribe(`$JS.EVENT.ADVISORY.CONSUMER.LEADER_ELECTED.${names.stream("work")}.*`, {
      callback: () => this.wakeAll(),
    });
  }

  #found(): void {
    this.#onFound();
    this.wakeAll();
  }

  #tellRefused(error: Error): void {
    const { operation, subject } = error as { operation?: string; subject?: string };
    if (operation !== "publish" || subject === undefined) return;
    for (const tell of [...this.#connected.onRefused]) tell(error, subject);
  }
}

export function awayError(): Error {
  return Object.assign(new Error("the connection was lost"), { name: "ConnectionError" });
}
