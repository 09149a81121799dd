// LeaseKeeper: renews the lease of a run while it is hosted here. A host that could not do so for a whole lease does not know
// whose the run is: it gives the run up before another one has it.
import { milliseconds } from "../process/clock.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { Fleet, Lease } from "./fleet.ts";

/** So often within a lease: a cluster that lost its leader elects another in up to nine seconds, of fifteen. */
const renewals = 4;

export class LeaseKeeper {
  readonly #fleet: Fleet;
  readonly #lease: Lease;
  readonly #onLost: (error: UserError) => void;
  readonly #renewing: NodeJS.Timeout;
  #giveUp: NodeJS.Timeout | undefined;
  /** When what arrived last was sent: the run is ours for a lease from then on. */
  #sureSince: number;
  #isAsking = false;
  #isOver = false;

  /** `sureSince`: before the run was taken, or the lease renewed. `onLost`: nothing more may be done for the run. */
  constructor(fleet: Fleet, lease: Lease, sureSince: number, onLost: (error: UserError) => void) {
    this.#fleet = fleet;
    this.#lease = lease;
    this.#onLost = onLost;
    this.#sureSince = sureSince;
    this.#renewing = setInterval(() => void this.#renew(), lease.ttlMs / renewals);
    this.#wait();
  }

  /** Something that renews the lease was sent then, and has arrived. */
  arrived(sentAt: number): void {
    if (this.#isOver || sentAt <= this.#sureSince) return;
    this.#sureSince = sentAt;
    this.#wait();
  }

  stop(): void {
    this.#isOver = true;
    clearInterval(this.#renewing);
    clearTimeout(this.#giveUp);
  }

  async #renew(): Promise<void> {
    if (this.#isAsking) return; // the engine asks again by itself
    this.#isAsking = true;
    const sentAt = milliseconds();
    try {
      const isOurs = await this.#fleet.renew(this.#lease);
      if (isOurs) this.arrived(sentAt);
      else this.#lose(new UserError("LEASE_LOST", `The run ${this.#lease.run} was taken over by another host.`));
    } catch {
      // A busy moment of the store is not the end, as long as the lease lasts.
    } finally {
      this.#isAsking = false;
    }
  }

  #wait(): void {
    clearTimeout(this.#giveUp);
    const leftMs = this.#sureSince + this.#lease.ttlMs - milliseconds();
    const seconds = (this.#lease.ttlMs / 1000).toFixed(0);
    const why = `Its lease could not be renewed for ${seconds} s, so another worker may have taken the run. Its agent was stopped.`;
    this.#giveUp = setTimeout(() => this.#lose(new UserError("FLEET_UNREACHABLE", why)), Math.max(0, leftMs));
  }

  #lose(error: UserError): void {
    if (this.#isOver) return;
    this.stop();
    this.#fleet.abandon(this.#lease);
    this.#onLost(error);
  }
}
