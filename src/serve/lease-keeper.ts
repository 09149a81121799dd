// LeaseKeeper: renews the lease of a run while it is hosted here. A host that could not renew for a whole lease cannot know whether
// the run is still its own: it gives the run up before another host takes it.
import { milliseconds } from "../process/clock.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { Fleet, Lease } from "./fleet.ts";

/** Renewals per lease: a cluster that lost its leader takes up to nine of the fifteen seconds to elect another. */
const renewals = 4;

export class LeaseKeeper {
  readonly #fleet: Fleet;
  readonly #lease: Lease;
  readonly #onLost: (error: UserError) => void;
  readonly #renewing: NodeJS.Timeout;
  #giveUp: NodeJS.Timeout | undefined;
  /** When the last successful renewal was sent, which is when the lease starts to count. */
  #sureSince: number;
  #isAsking = false;
  #isOver = false;
  #isEnding = false;

  /** `sureSince` is a time before the run was leased or renewed. `onLost` is called when work on the run must stop. */
  constructor(fleet: Fleet, lease: Lease, sureSince: number, onLost: (error: UserError) => void) {
    this.#fleet = fleet;
    this.#lease = lease;
    this.#onLost = onLost;
    this.#sureSince = sureSince;
    this.#renewing = setInterval(() => void this.#renew(), lease.ttlMs / renewals);
    this.#wait();
  }

  /** False once the lease may have passed: a process that was frozen wakes before its timers can tell. */
  get isSure(): boolean {
    return !this.#isOver && milliseconds() < this.#sureSince + this.#lease.ttlMs;
  }

  /** Called when a write that renews the lease has arrived; `sentAt` is when it was sent. */
  arrived(sentAt: number): void {
    if (this.#isOver || sentAt <= this.#sureSince) return;
    this.#sureSince = sentAt;
    this.#wait();
  }

  /** `write` writes the end of the run: a renewal may find the end in the log before its writer has the answer. */
  async ending(write: () => Promise<boolean>): Promise<boolean> {
    this.#isEnding = true;
    this.#isEnding = await write();
    return this.#isEnding;
  }

  stop(): void {
    this.#isOver = true;
    clearInterval(this.#renewing);
    clearTimeout(this.#giveUp);
  }

  async #renew(): Promise<void> {
    if (this.#isAsking) return; // the fleet's storage retries by itself
    this.#isAsking = true;
    const sentAt = milliseconds();
    try {
      const isOurs = await this.#fleet.renew(this.#lease);
      if (isOurs) this.arrived(sentAt);
      else if (!this.#isEnding)
        this.#loseLease(new UserError("LEASE_LOST", `The run ${this.#lease.run} was taken over by another host.`));
    } catch {
      // While the lease lasts, failed renewals are tolerated.
    } finally {
      this.#isAsking = false;
    }
  }

  #wait(): void {
    clearTimeout(this.#giveUp);
    const leftMs = this.#sureSince + this.#lease.ttlMs - milliseconds();
    const seconds = (this.#lease.ttlMs / 1000).toFixed(0);
    const why = `Its lease could not be renewed for ${seconds} s, so another worker may have taken the run. Its agent was stopped.`;
    this.#giveUp = setTimeout(() => this.#loseLease(new UserError("FLEET_UNREACHABLE", why)), Math.max(0, leftMs));
  }

  #loseLease(error: UserError): void {
    if (this.#isOver) return;
    this.stop();
    this.#fleet.abandon(this.#lease);
    this.#onLost(error);
  }
}
