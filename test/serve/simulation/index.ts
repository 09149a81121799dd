// `npm run long -- simulate-fleet [--runs N] [--workers N] [--seed S] [--timeout S]`: the engine of fleets, all of it but its connection, on a simulated
// server and a virtual clock: workers die, freeze and are cut off, answers get lost, messages come twice, the server is killed.
import { NatsFleet } from "../../../src/serve/engines/nats/nats-fleet.ts";
import { type Head, ownerOf, positionAt } from "../../../src/serve/engines/nats/rules.ts";
import { streamNames } from "../../../src/serve/engines/nats/server.ts";
import type { Entry, Fleet, Lease } from "../../../src/serve/fleet.ts";
import { numbersFrom, underWatch } from "../../support/long-script.ts";
import { newRun } from "../fleet-kit.ts";
import { SimulatedConnection, SimulatedServer } from "./simulated-server.ts";
import { Dice, VirtualClock } from "./virtual-clock.ts";

export type SimulationOptions = { runs: number; workers: number; seed: number; leaseMs?: number };

export type SimulationReport = {
  runs: number;
  workers: number;
  seed: number;
  kills: number;
  freezes: number;
  partitions: number;
  restarts: number;
  /** A leader died, and another was elected. */
  elections: number;
  cancelled: number;
  lost: number;
  twice: number;
  zombieEvents: number;
  ephemeral: number;
  refused: number;
  /** Runs whose host was told that it had lost them, and had not. */
  misled: number;
  /** Taken by more than one worker. */
  continued: number;
  /**
   * From the death of a host until another one had its run, in leases, while the server was there: the longest, and the share of those
   * within one and a half. A run that is handed to a worker that is cut off or dies in that moment waits for a second lease.
   */
  longestWait: number;
  soon: number;
  /** How long it took by its own clock. */
  virtualSeconds: number;
};

export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  return new Simulation(options).run();
}

type Worker = { name: string; connection: SimulatedConnection; stop: AbortController };

class Simulation {
  readonly #options: Required<SimulationOptions>;
  readonly #clock = new VirtualClock();
  readonly #dice: Dice;
  readonly #server: SimulatedServer;
  readonly #workers: Worker[] = [];
  readonly #acknowledged: { run: string; position: number }[] = [];
  readonly #diedAt = new Map<string, number>();
  /** When the server, or the way to it, was away. */
  readonly #troubles: { from: number; to: number }[] = [];
  readonly #counts = {
    kills: 0,
    freezes: 0,
    partitions: 0,
    restarts: 0,
    elections: 0,
    cancelled: 0,
    refused: 0,
    misled: 0,
  };
  /** Runs that have ended. */
  readonly #over = new Set<string>();
  #started = 0;
  #isEnqueued = false;

  constructor(options: SimulationOptions) {
    this.#options = { leaseMs: 15_000, ...options };
    this.#dice = new Dice(options.seed);
    this.#server = new SimulatedServer(this.#clock, this.#dice, {
      loss: 0.001,
      delay: 0.01,
      twice: 0.005,
      stale: 0.05,
    });
    this.#server.onStored = (stream, message) => {
      if (stream === "log" && headOf(message).endedAt !== undefined) this.#over.add(message.key);
    };
  }

  /** How far it is. */
  tell(): string {
    const { kills, freezes, partitions, restarts, elections } = this.#counts;
    const hours = (this.#clock.now / 3_600_000).toFixed(1);
    return `${hours} virtual hours; ${this.#over.size} of ${this.#options.runs} runs ended; ${kills} kills, ${freezes} freezes, ${partitions} partitions, ${restarts} restarts, ${elections} elections`;
  }

  async run(): Promise<SimulationReport> {
    const uninstall = this.#clock.install();
    try {
      for (let number = 0; number < this.#options.workers; number++) this.#start();
      void this.#enqueue();
      this.#breakThings();
      await this.#clock.run(() => this.#isEnqueued && this.#over.size === this.#options.runs, 48 * 3_600_000);
    } finally {
      uninstall();
    }
    return this.#inspect();
  }

  #start(): void {
    const name = `worker-${this.#started++}`;
    const worker = { name, connection: new SimulatedConnection(this.#server, name), stop: new AbortController() };
    this.#workers.push(worker);
    void this.#work(worker);
  }

  /** Two of them try some runs at once, and some are cancelled. */
  async #enqueue(): Promise<void> {
    const [one, other] = ["front-1", "front-2"].map(
      (name) => new NatsFleet(new SimulatedConnection(this.#server, name)),
    );
    for (let number = 0; number < this.#options.runs; number++) {
      const again = this.#dice.isIn(0.05) ? other!.enqueue(newRun(number)) : undefined;
      await Promise.all([one!.enqueue(newRun(number)), again]);
      if (this.#dice.isIn(0.01)) {
        this.#counts.cancelled++;
        const delay = this.#dice.between(0, 30_000);
        this.#clock.after(delay, () => void other!.cancel(`run-${number}`, "not needed"));
      }
    }
    this.#isEnqueued = true;
  }

  async #work({ name, connection, stop }: Worker): Promise<void> {
    const fleet = new NatsFleet(connection);
    while (!connection.isDead) {
      const lease = await fleet.lease({ worker: name, ttlMs: this.#options.leaseMs, wait: stop.signal });
      if (!lease) continue;
      if (!(await fleet.renew(lease))) {
        this.#checkLost(lease);
        continue;
      }
      const hosting = { isOver: false };
      void this.#renew(fleet, connection, lease, hosting);
      try {
        await this.#host(fleet, connection, lease);
      } catch (error) {
        if ((error as { code?: string }).code !== "LEASE_LOST") throw error;
        this.#counts.refused++;
      }
      hosting.isOver = true;
    }
  }

  async #renew(
    fleet: Fleet,
    connection: SimulatedConnection,
    lease: Lease,
    hosting: { isOver: boolean },
  ): Promise<void> {
    while (true) {
      await connection.sleep(lease.ttlMs / 3);
      if (hosting.isOver) return;
      if (await fleet.renew(lease)) continue;
      if (!hosting.isOver) this.#checkLost(lease);
      return;
    }
  }

  #checkLost({ run, token }: Lease): void {
    const last = this.#server.streams.log.of(run)?.at(-1);
    if (last && headOf(last).owner === ownerOf(token)) this.#counts.misled++;
  }

  async #host(fleet: Fleet, connection: SimulatedConnection, lease: Lease): Promise<void> {
    const text = ownerOf(lease.token);
    let position = lease.position;
    const events = Math.floor(this.#dice.between(1, 6));
    for (let number = 0; number < events; number++) {
      const entries: Entry[] = [{ type: "event", event: { type: "text_end", text } }];
      position = await fleet.append(lease, entries, position);
      this.#acknowledged.push({ run: lease.run, position });
      await connection.sleep(this.#dice.between(0, 2 * this.#options.leaseMs));
    }
    await fleet.finish(lease, { outcome: "finished", text, durationMs: 1, turns: 1 }, position, 0);
  }

  #breakThings(): void {
    const { leaseMs, workers } = this.#options;
    const often = (meanMs: number, what: () => void) => {
      const next = () =>
        this.#clock.after(-Math.log(1 - this.#dice.roll()) * meanMs, () => {
          what();
          next();
        });
      next();
    };
    // The streams of a leader that dies have none for some seconds.
    often(2 * 60_000, () => {
      const streams = streamNames.filter(() => this.#dice.isIn(0.5));
      if (streams.length === 0 || this.#server.leaderless.size > 0 || this.#server.isDown) return;
      const ms = this.#dice.between(4000, 9000);
      this.#counts.elections++;
      this.#troubles.push({ from: this.#clock.now, to: this.#clock.now + ms });
      this.#server.elect(streams, ms);
    });
    // Each worker dies, freezes and is cut off every twenty minutes or so.
    const eachMs = (20 * 60_000) / workers;
    often(eachMs, () => {
      const index = Math.floor(this.#dice.roll() * this.#workers.length);
      const [worker] = this.#workers.splice(index, 1);
      worker!.connection.die();
      this.#diedAt.set(worker!.name, this.#clock.now);
      this.#counts.kills++;
      this.#start();
    });
    often(eachMs, () => {
      const { connection } = this.#dice.of(this.#workers);
      this.#counts.freezes++;
      connection.freeze();
      this.#clock.after(this.#dice.between(0.2, 4) * leaseMs, () => connection.thaw());
    });
    often(eachMs, () => {
      const { connection } = this.#dice.of(this.#workers);
      this.#counts.partitions++;
      connection.isCut = true;
      this.#clock.after(this.#dice.between(0.2, 4) * leaseMs, () => {
        connection.isCut = false;
        connection.foundAgain();
      });
    });
    often(3 * 60_000, () => {
      if (this.#server.isDown) return;
      this.#counts.restarts++;
      this.#server.stop();
      const awayMs = this.#dice.between(200, 2 * leaseMs);
      this.#troubles.push({ from: this.#clock.now, to: this.#clock.now + awayMs });
      this.#clock.after(awayMs, () => this.#server.start());
    });
  }

  #inspect(): SimulationReport {
    const found = { lost: 0, twice: 0, zombieEvents: 0, ephemeral: 0, continued: 0 };
    const waits: number[] = [];
    const kept = new Set<string>();
    for (let number = 0; number < this.#options.runs; number++) {
      const run = `run-${number}`;
      const messages = this.#server.streams.log.of(run) ?? [];
      let owner: string | undefined;
      let deadSince: number | undefined;
      let results = 0;
      for (const message of messages) {
        const { entries } = (JSON.parse(Buffer.from(message.data).toString()) as { value: { entries: Entry[] } }).value;
        for (const [index, entry] of entries.entries()) {
          kept.add(`${run} ${positionAt(message.sequence, index)}`);
          if (results > 0) found.zombieEvents++;
          if (entry.type === "leased") {
            owner = headOf(message).owner;
            if (entry.attempt === 2) found.continued++;
            if (deadSince !== undefined && !this.#wasTroubled(deadSince, message.at))
              waits.push((message.at - deadSince) / this.#options.leaseMs);
            deadSince = this.#diedAt.get(entry.worker);
          }
          if (entry.type === "event" && (entry.event as { text: string }).text !== owner) found.zombieEvents++;
          if (entry.type === "result") {
            results++;
            if (entry.end.outcome === "finished" && entry.end.text !== owner) found.zombieEvents++;
          }
        }
      }
      if (results === 0) found.lost++;
      found.twice += Math.max(0, results - 1);
    }
    found.ephemeral = this.#acknowledged.filter(({ run, position }) => !kept.has(`${run} ${position}`)).length;
    const { runs, workers, seed } = this.#options;
    const longestWait = Math.max(0, ...waits);
    const soon = waits.filter((wait) => wait <= 1.5).length / Math.max(1, waits.length);
    return {
      runs,
      workers,
      seed,
      ...this.#counts,
      ...found,
      longestWait,
      soon,
      virtualSeconds: Math.round(this.#clock.now / 1000),
    };
  }

  #wasTroubled(from: number, to: number): boolean {
    return this.#troubles.some((trouble) => trouble.from < to && trouble.to + this.#options.leaseMs > from);
  }
}

function headOf({ head }: { head?: string }): Head {
  return JSON.parse(head!) as Head;
}

export async function main(argv: readonly string[]): Promise<number> {
  const { timeout, ...options } = numbersFrom(argv, { runs: 10_000, workers: 500, seed: 1, timeout: 1800 });
  const startedAt = Date.now();
  const simulation = new Simulation(options);
  const report = await underWatch(() => simulation.run(), {
    tell: () => simulation.tell(),
    limitSeconds: timeout,
  });
  console.log(JSON.stringify({ ...report, seconds: Math.round((Date.now() - startedAt) / 1000) }));
  return report.lost + report.twice + report.zombieEvents + report.ephemeral + report.misled === 0 ? 0 : 1;
}
