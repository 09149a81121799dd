// What every engine of the fleet must do. `open` gives connections to one fleet, as different processes would have them.
import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type {
  Entry,
  Fleet,
  Lease,
  LeaseOptions,
  ListOptions,
  LogEntry,
  NewRun,
  Placement,
  RunEnd,
} from "../../src/serve/fleet.ts";
import { isLocal, specVersion } from "../../src/serve/fleet.ts";
import { fleetStatus } from "../../src/serve/fleet-status.ts";
import { spawnOwned } from "../support/at-exit.ts";
import { programOf } from "./program-of.ts";

/** `address`: for other processes, what `openFleet` takes; without a url, the fleet in this configuration directory. */
export type FleetUnderTest = {
  connect(): Promise<Fleet>;
  address: { url?: string; configDir: string };
  remove(): Promise<void>;
};

/** A signal for each reader: a shared one would be told of a leak. */
const never = () => new AbortController().signal;
const ttlMs = 60_000;

export function newRun(number: number, agent = `agent-${number}`): NewRun {
  const request = { workspace: "/work", model: "offline" };
  return { id: `run-${number}`, agent, spec: { cli: "courser", request, prompt: { text: `task ${number}` } } };
}

export const ended: RunEnd = { outcome: "finished", text: "ok", durationMs: 1, turns: 1 };

function said(text: string): Entry {
  return { type: "event", event: { type: "text_end", text } };
}

async function readAll(entries: AsyncIterable<LogEntry>): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

async function collected(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const piece of bytes) all.push(piece);
  return all;
}

function texts(entries: readonly LogEntry[]): string[] {
  return entries.flatMap(({ entry }) =>
    entry.type === "event" && entry.event.type === "text_end" ? [entry.event.text] : [],
  );
}

/** How many the long test takes: FLEET_RUNS=1000 npx vitest run test/serve/nats.test.ts */
const runs = Number(process.env["FLEET_RUNS"] ?? 120);

export function fleetKit(name: string, open: () => Promise<FleetUnderTest>): void {
  describe(`${name}: a fleet`, () => {
    let under: FleetUnderTest;
    let fleet: Fleet;
    let other: Fleet;
    beforeEach(async () => {
      under = await open();
      fleet = await under.connect();
      other = await under.connect();
    });
    afterEach(async () => {
      fleet.close();
      other.close();
      await under.remove();
    });
    const leased = async (options: Partial<Parameters<Fleet["lease"]>[0]> = {}): Promise<Lease> => {
      const lease = await fleet.lease({ worker: "w", ttlMs, ...options });
      if (!lease) throw new Error("there was nothing to lease");
      return lease;
    };

    it("takes a run once, and one run of an agent at a time", async () => {
      await fleet.enqueue(newRun(1, "a"));
      expect((await other.enqueue(newRun(1, "a"))).state).toBe("queued");
      expect(await fleet.runs()).toHaveLength(1);
      await expect(other.enqueue(newRun(2, "a"))).rejects.toMatchObject({ code: "AGENT_BUSY" });
      const lease = await leased();
      await fleet.finish(lease, ended, lease.position, 0);
      await fleet.changeAgent("a", { isArchived: true });
      await expect(other.enqueue(newRun(2, "a"))).rejects.toMatchObject({ code: "AGENT_ARCHIVED" });
      await fleet.changeAgent("a", { isArchived: false });
      expect((await other.enqueue(newRun(2, "a"))).agent).toBe("a");
    });

    it("leases the oldest first, each to one host", async () => {
      for (const number of [1, 2, 3]) await fleet.enqueue(newRun(number));
      const given = await Promise.all([fleet, other].map((each) => each.lease({ worker: "w", ttlMs })));
      expect(given.map((lease) => lease?.run).sort()).toEqual(["run-1", "run-2"]);
      expect(await other.waiting()).toMatchObject({ count: 1, hosted: 2 });
      const { queues } = await fleetStatus(other);
      const queue = { pool: "default", priority: "normal", labels: {}, sender: "", waiting: 1, running: 2 };
      expect(queues.filter(({ waiting }) => waiting > 0)).toMatchObject([queue]);
      await expect.poll(async () => (await fleetStatus(other)).queues[0]!.oldestSeconds).toBeGreaterThan(0);
    });

    it("gives a worker what its pool and its labels are for, the most urgent first", async () => {
      const placed = (number: number, placement: Placement) => {
        const run = newRun(number);
        return fleet.enqueue({ ...run, spec: { ...run.spec, placement } });
      };
      await placed(1, { priority: "low" });
      await placed(2, {});
      await placed(3, { priority: "high", labels: { gpu: "yes", os: "linux" } });
      await placed(4, { pool: "builds" });
      await placed(5, { priority: "high" });
      if (!isLocal(fleet))
        expect((await fleetStatus(other)).queues.map(({ pool, priority }) => `${pool} ${priority}`)).toEqual([
          "builds normal",
          "default high",
          "default high",
          "default normal",
          "default low",
        ]);
      const taken = async (own: Partial<LeaseOptions>) => (await other.lease({ worker: "w", ttlMs, ...own }))?.run;
      expect(await taken({ pool: "builds" })).toBe("run-4");
      expect(await taken({ pool: "builds" })).toBeUndefined();
      expect(await taken({ labels: { gpu: "yes" } })).toBe("run-5");
      expect(await taken({ labels: { gpu: "yes", os: "linux", more: "x" } })).toBe("run-3");
      expect([await taken({}), await taken({}), await taken({})]).toEqual(["run-2", "run-1", undefined]);
    });

    it("leaves a record of a newer version to others, and reads those without a version", async () => {
      const newer = newRun(1);
      await fleet.enqueue({ ...newer, spec: { ...newer.spec, version: specVersion + 1 } });
      await fleet.enqueue(newRun(2));
      const seen: unknown[] = [];
      const onNewer = (run: string, version: number) => seen.push([run, version]);
      const lease = () => fleet.lease({ worker: "w", ttlMs, onNewer });
      expect((await lease())?.run).toBe("run-2");
      expect(await lease()).toBeUndefined();
      expect(seen).toContainEqual(["run-1", specVersion + 1]);
      expect((await fleet.run("run-1"))!.state).toBe("queued");
    });

    it("lets a worker wait for a run, and wakes it for the next or for one that was lost", async () => {
      const stop = new AbortController();
      const waiting = other.lease({ worker: "w", ttlMs: 100, wait: stop.signal });
      await sleep(20);
      await fleet.enqueue(newRun(1));
      expect((await waiting)?.run).toBe("run-1");
      const heir = await fleet.lease({ worker: "heir", ttlMs, wait: stop.signal });
      expect(heir?.run).toBe("run-1");
      const nothing = other.lease({ worker: "w", ttlMs, wait: stop.signal });
      stop.abort();
      expect(await nothing).toBeUndefined();
    });

    it("keeps bytes for a run, whole, as long as its log", async () => {
      await fleet.enqueue(newRun(1));
      const whole = randomBytes(3_000_000);
      async function* pieces() {
        for (let at = 0; at < whole.length; at += 70_000) yield whole.subarray(at, at + 70_000);
      }
      const read = async (name: string) => {
        const bytes = await other.get("run-1", name);
        return bytes && Buffer.concat(await collected(bytes));
      };
      expect(await read("patch")).toBeUndefined();
      await fleet.put("run-1", "patch", pieces());
      expect((await read("patch"))?.equals(whole)).toBe(true);
      await fleet.put("run-1", "patch", Readable.from([Buffer.from("again")]));
      expect(String(await read("patch"))).toBe("again");
      async function* broken() {
        yield whole;
        throw new Error("cut off");
      }
      await expect(fleet.put("run-1", "half", broken())).rejects.toThrow();
      expect(await read("half")).toBeUndefined();
      const lease = await leased();
      await fleet.finish(lease, ended, lease.position, 0);
      await fleet.prune(Date.now() + 1000);
      expect(await read("patch")).toBeUndefined();
    });

    it("gives a run that its host let go of to the next, and refuses what the former host writes", async () => {
      await fleet.enqueue(newRun(1));
      const zombie = await leased({ ttlMs: 500 });
      const before = await fleet.append(zombie, [said("by the first")], zombie.position);
      expect(await other.lease({ worker: "second", ttlMs })).toBeUndefined();
      const heir = (await other.lease({ worker: "second", ttlMs, wait: AbortSignal.timeout(20_000) }))!;
      expect(heir.run).toBe("run-1");
      expect(await fleet.renew(zombie)).toBe(false);
      await expect(fleet.append(zombie, [said("by a zombie")], before)).rejects.toMatchObject({ code: "LEASE_LOST" });
      await expect(fleet.finish(zombie, ended, before, 0)).rejects.toMatchObject({ code: "LEASE_LOST" });
      await expect(fleet.release(zombie, before)).rejects.toMatchObject({ code: "LEASE_LOST" });
      const position = await other.append(heir, [said("by the second")], heir.position);
      expect(await other.finish(heir, ended, position, 0)).toBe(true);
      expect(texts(await readAll(fleet.follow("run-1", 0, never())))).toEqual(["by the first", "by the second"]);
    });

    it("writes nothing by a lease that its host has abandoned; the next has the run when it has passed", async () => {
      await fleet.enqueue(newRun(1));
      const lease = await leased({ ttlMs: 500 });
      const position = await fleet.append(lease, [said("before")], lease.position);
      fleet.abandon(lease);
      expect(await fleet.renew(lease)).toBe(false);
      const lost = { code: "LEASE_LOST" };
      await expect(fleet.append(lease, [said("after")], position)).rejects.toMatchObject(lost);
      await expect(fleet.finish(lease, ended, position, 0)).rejects.toMatchObject(lost);
      await expect(fleet.release(lease, position)).rejects.toMatchObject(lost);
      const heir = await fleet.lease({ worker: "second", ttlMs, wait: AbortSignal.timeout(20_000) });
      expect(heir?.run).toBe("run-1");
      expect(texts(await other.entries("run-1", 0, 100))).toEqual(["before"]);
    });

    it("renews a lease by itself and by writing", async () => {
      await fleet.enqueue(newRun(1));
      const lease = await leased();
      const left = async () => (await other.waiting()).nextMs!;
      let position = lease.position;
      for (const way of ["renew", "append"]) {
        await sleep(30);
        const before = await left();
        if (way === "renew") expect(await fleet.renew(lease)).toBe(true);
        else position = await fleet.append(lease, [said("x")], position);
        expect(await left()).toBeGreaterThan(before);
      }
    });

    it("writes only where the log ends", async () => {
      await fleet.enqueue(newRun(1));
      const lease = await leased();
      const position = await fleet.append(lease, [said("1"), said("2")], lease.position);
      await expect(fleet.append(lease, [said("again")], lease.position)).rejects.toMatchObject({ code: "LEASE_LOST" });
      expect(await fleet.append(lease, [said("3")], position)).toBeGreaterThan(position);
      expect(texts(await other.entries("run-1", 0, 100))).toEqual(["1", "2", "3"]);
    });

    it("ends a run once, and not before its prompts are heard", async () => {
      await fleet.enqueue(newRun(1));
      const lease = await leased();
      await other.say("run-1", { type: "steer", text: "also this" });
      expect(await fleet.finish(lease, ended, lease.position, 0)).toBe(false);
      const abort = new AbortController();
      let heard = 0;
      for await (const { number, message } of fleet.receive(lease, 0, abort.signal)) {
        expect(message).toMatchObject({ type: "steer", text: "also this" });
        heard = number;
        break;
      }
      expect(await fleet.finish(lease, ended, lease.position, heard)).toBe(true);
      await expect(fleet.finish(lease, ended, lease.position, heard)).rejects.toMatchObject({ code: "LEASE_LOST" });
      await expect(other.say("run-1", { type: "steer", text: "too late" })).rejects.toMatchObject({ code: "RUN_OVER" });
      const log = await readAll(other.follow("run-1", 0, never()));
      expect(log.filter(({ entry }) => entry.type === "result")).toHaveLength(1);
      expect(log.at(-1)?.entry.type).toBe("result");
      expect(await other.run("run-1")).toMatchObject({ state: "finished", end: ended });
    });

    it("gives a released run to the next", async () => {
      await fleet.enqueue(newRun(1));
      const lease = await leased();
      await fleet.release(lease, lease.position);
      expect(await other.run("run-1")).toMatchObject({ state: "queued" });
      expect((await other.lease({ worker: "w", ttlMs }))?.run).toBe("run-1");
    });

    it("cancels what waits at once, and tells the host of what runs", async () => {
      await fleet.enqueue(newRun(1));
      await fleet.enqueue(newRun(2));
      expect(await other.cancel("run-1", "not needed")).toBe(true);
      expect(await fleet.run("run-1")).toMatchObject({ state: "cancelled", end: { text: "not needed" } });
      expect(await other.cancel("run-1", "again")).toBe(false);
      const lease = await leased();
      expect(lease.run).toBe("run-2");
      const abort = new AbortController();
      const told = (async () => {
        for await (const { message } of fleet.receive(lease, 0, abort.signal)) return message;
        return undefined;
      })();
      expect(await other.cancel("run-2", "enough")).toBe(true);
      expect(await told).toEqual({ type: "cancel", reason: "enough" });
      expect(await fleet.run("run-2")).toMatchObject({ cancelReason: "enough" });
      await expect(other.cancel("run-9", "x")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    });

    it("counts an answer once, and for the very question only", async () => {
      await fleet.enqueue(newRun(1));
      const lease = await leased();
      const question = { type: "trust", id: "q1", hash: "h1", workspace: "/work" } as const;
      let position = await fleet.append(lease, [{ type: "question", question }], lease.position);
      expect(await other.questions()).toMatchObject([{ run: "run-1", question }]);
      expect(await other.run("run-1")).toMatchObject({ open: 1 });
      const yes = { answer: { type: "yes" } } as const;
      await expect(other.answer("run-1", { question: "q1", hash: "h2", ...yes })).rejects.toMatchObject({
        code: "QUESTION_CLOSED",
      });
      const twice = await Promise.allSettled(
        [fleet, other].map((each) => each.answer("run-1", { question: "q1", hash: "h1", ...yes })),
      );
      expect(twice.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      const heard: unknown[] = [];
      const abort = new AbortController();
      for await (const { message } of fleet.receive(lease, 0, abort.signal)) {
        heard.push(message);
        abort.abort();
      }
      expect(heard).toEqual([{ type: "answer", question: "q1", hash: "h1", ...yes }]);
      position = await fleet.append(lease, [{ type: "question", question: { ...question, id: "q2" } }], position);
      await fleet.append(lease, [{ type: "question_closed", question: "q2" }], position);
      await expect(other.answer("run-1", { question: "q2", hash: "h1", ...yes })).rejects.toMatchObject({
        code: "QUESTION_CLOSED",
      });
    });

    it("shows every entry to every reader once and in order, whenever it comes", async () => {
      await fleet.enqueue(newRun(1));
      const lease = await leased();
      const early = Array.from({ length: 20 }, (_, index) =>
        readAll((index % 2 ? other : fleet).follow("run-1", 0, never())),
      );
      const expected = Array.from({ length: 1000 }, (_, index) => String(index));
      let position = lease.position;
      for (let at = 0; at < expected.length; at += 10)
        position = await fleet.append(lease, expected.slice(at, at + 10).map(said), position);
      const middle = readAll(other.follow("run-1", position, never()));
      await fleet.finish(lease, ended, position, 0);
      for (const entries of [...(await Promise.all(early)), await readAll(other.follow("run-1", 0, never()))])
        expect(texts(entries)).toEqual(expected);
      expect((await middle).map(({ entry }) => entry.type)).toEqual(["result"]);
    });

    it("tells all runs in one order", async () => {
      await fleet.enqueue(newRun(1));
      await fleet.enqueue(newRun(2));
      const one = await leased();
      const two = await leased();
      const abort = new AbortController();
      const seen: string[] = [];
      const followed = (async () => {
        for await (const { run, entry } of other.followAll(0, abort.signal)) {
          if (entry.type === "event") seen.push(run);
          if (seen.length === 3) abort.abort();
        }
      })();
      const after = await fleet.append(one, [said("a")], one.position);
      await fleet.append(two, [said("b")], two.position);
      await fleet.append(one, [said("c")], after);
      await followed;
      expect(seen).toEqual(["run-1", "run-2", "run-1"]);
    });

    it("who waits keeps its process alive, and no longer than that", { timeout: 60_000 }, async () => {
      const program = await programOf("fleet-waiter.ts", "process.exitCode = await main(process.argv.slice(2));");
      const { url = "-", configDir } = under.address;
      const child = spawnOwned(process.execPath, [program.file, url, configDir], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      let warned = "";
      child.stderr!.on("data", (data) => (warned += data));
      try {
        const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
        const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
        const says = async (what: string) => {
          expect((await lines.next()).value).toBe(what);
          await sleep(300); // one that nothing holds would be gone
        };
        if (isLocal(fleet)) await says("changed");
        else await says("followAll");
        await fleet.enqueue(newRun(1));
        if (isLocal(fleet)) await says("followAll");
        await leased();
        await says("lease");
        await fleet.enqueue(newRun(2));
        await says("hear");
        await fleet.cancel("run-2", "enough");
        await says("closed");
        expect([await exited, warned]).toEqual([0, ""]);
      } finally {
        child.kill("SIGKILL");
        program.remove();
      }
    });

    it("lists runs and agents, newest first, page by page", async () => {
      for (let number = 0; number < 20; number++) await fleet.enqueue(newRun(number));
      for (const run of ["run-0", "run-1"]) {
        const lease = await leased();
        expect(lease.run).toBe(run);
        await fleet.finish(lease, ended, lease.position, 0);
      }
      await leased();
      await fleet.enqueue(newRun(20, "agent-0"));
      const pages: string[][] = [];
      for (let before: string | undefined; ; before = pages.at(-1)!.at(-1)!) {
        const page = await other.runs({ limit: 8, ...(before !== undefined && { before }) });
        if (page.length === 0) break;
        pages.push(page.map(({ id }) => id));
      }
      expect(pages.map(({ length }) => length)).toEqual([8, 8, 5]);
      expect(pages.flat()).toEqual(Array.from({ length: 21 }, (_, index) => `run-${20 - index}`));
      const ids = async (options: ListOptions) => (await other.runs(options)).map(({ id }) => id);
      expect(await ids({ agent: "agent-0" })).toEqual(["run-20", "run-0"]);
      expect(await ids({ states: ["finished"] })).toEqual(["run-1", "run-0"]);
      expect(await ids({ states: ["running"] })).toEqual(["run-2"]);
      expect(await ids({ states: ["queued"], limit: 2, before: "run-19" })).toEqual(["run-18", "run-17"]);
      const agents = await other.agents({ limit: 3, before: "agent-3" });
      expect(agents.map(({ id, isBusy }) => [id, isBusy])).toEqual([
        ["agent-2", true],
        ["agent-1", false],
        ["agent-0", true],
      ]);
    });

    it("forgets what it is told to forget, and nothing that still runs", async () => {
      await fleet.enqueue(newRun(1));
      await expect(fleet.deleteAgent("agent-1")).rejects.toMatchObject({ code: "AGENT_BUSY" });
      const lease = await leased();
      await fleet.finish(lease, ended, lease.position, 0);
      expect(await fleet.prune(Date.now() + 1000)).toBe(1);
      expect(await other.run("run-1")).toMatchObject({ state: "finished", isPruned: true, end: ended });
      expect(await readAll(other.follow("run-1", 0, never()))).toEqual([]);
      await fleet.enqueue(newRun(2));
      await fleet.cancel("run-2", "not needed");
      for (const agent of ["agent-1", "agent-2"]) await fleet.deleteAgent(agent);
      expect(await other.run("run-1")).toBeUndefined();
      expect(await other.agents()).toEqual([]);
      expect(await other.lease({ worker: "w", ttlMs })).toBeUndefined();
    });

    it(
      `${runs} runs, four hosts, one that dies and one that freezes, again and again: each run has one end`,
      async () => {
        const fleets = await Promise.all([1, 2, 3, 4].map(() => under.connect()));
        for (let number = 0; number < runs; number++) await fleet.enqueue(newRun(number));
        let refused = 0;
        const host = async (own: Fleet, index: number) => {
          for (let taken = 0; ; ) {
            const lease = await own.lease({ worker: `host-${index}`, ttlMs: 50 });
            if (!lease) {
              const { count, hosted } = await own.waiting();
              if (count + hosted === 0) return;
              await sleep(5);
              continue;
            }
            taken++;
            try {
              const position = await own.append(lease, [said(lease.token)], lease.position);
              if (index === 0 && taken % 7 === 3) continue; // died: nobody hears of it again
              if (index === 1 && taken % 7 === 3) await sleep(500); // frozen past its lease, until another has taken the run
              await own.finish(lease, { ...ended, text: lease.token }, position, 0);
            } catch (error) {
              if ((error as { code?: string }).code !== "LEASE_LOST") throw error;
              refused++;
            }
          }
        };
        await Promise.all(fleets.map(host));
        const all = await fleet.runs({ limit: runs * 2 });
        expect(all).toHaveLength(runs);
        for (const { id, state, end } of all) {
          expect(state).toBe("finished");
          const log = await readAll(fleet.follow(id, 0, never()));
          expect(log.filter(({ entry }) => entry.type === "result")).toHaveLength(1);
          // Who ended it was the last to have begun it.
          expect(texts(log).at(-1)).toBe(end!.text);
        }
        expect(all.some(({ attempts }) => attempts > 1)).toBe(true);
        expect(refused).toBeGreaterThan(0);
        for (const each of fleets) each.close();
      },
      30_000 + runs * 100,
    );
  });
}
