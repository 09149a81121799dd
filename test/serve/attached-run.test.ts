// A run that cannot be followed any more: whoever looks at it is told, and nothing waits for ever.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { Answer, Human, Question } from "../../src/protocol/run.ts";
import { AttachedRun } from "../../src/serve/attached-run.ts";
import { openSqliteFleet } from "../../src/serve/engines/sqlite.ts";
import type { Lease, LocalFleet, RunRecord } from "../../src/serve/fleet.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { ended, newRun } from "./fleet-kit.ts";

let folder: string;
let fleet: LocalFleet;
let record: RunRecord;
let lease: Lease;
const runs: AttachedRun[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "courser-attached-"));
  fleet = openSqliteFleet(join(folder, "runs.db"));
  record = await fleet.enqueue(newRun(1));
  lease = (await fleet.lease({ worker: "w", ttlMs: 60_000, run: record.id }))!;
});
afterEach(async () => {
  for (const run of runs.splice(0)) await run.close();
  fleet.close();
  rmSync(folder, { recursive: true, force: true });
});

function attach(human?: Human, start: () => Promise<unknown> = async () => {}): AttachedRun {
  const run = new AttachedRun(fleet, record, { start, ...(human && { human }) });
  runs.push(run);
  return run;
}

async function eventsOf(run: AttachedRun): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const { event } of run.events()) events.push(event);
  return events;
}

const breakages: Record<string, () => Promise<void>> = {
  "its log is damaged": async () => {
    const other = openDatabase(join(folder, "runs.db"));
    other.exec("ALTER TABLE entries RENAME TO lost");
    await fleet.enqueue(newRun(2)); // whoever follows looks again
    other.close();
  },
  "its agent is deleted": async () => {
    const other = openDatabase(join(folder, "runs.db"));
    other.exec("DELETE FROM runs WHERE id = 'run-1'");
    await fleet.enqueue(newRun(2));
    other.close();
  },
  "the fleet is closed under it": async () => {
    fleet.close();
    fleet = openSqliteFleet(join(folder, "runs.db"));
  },
};

describe("a run that cannot be followed", () => {
  it.each(Object.keys(breakages))(
    "a viewer whose attached run can no longer be followed sees it end: %s",
    async (name) => {
      const run = attach();
      const events = eventsOf(run);
      const steered = run.steer("also this");
      const asked = run.context();
      asked.catch(() => {});
      await fleet.append(lease, [{ type: "event", event: { type: "text_end", text: "seen" } }], lease.position);
      await breakages[name]!();
      await run.settled;
      expect(await steered.ending).toMatchObject({ type: "fail" });
      expect(steered.state).toBe("dropped");
      await expect(asked).rejects.toThrow("can no longer be followed");
      expect((await events).at(-1)).toMatchObject({ type: "fail", message: expect.stringContaining("runs attach") });
      expect(run.failure?.message).toContain("may still be running");
      // What is tried afterwards fails at once.
      expect(await run.send({ text: "more" }).ending).toMatchObject({ type: "fail" });
      await expect(run.names()).rejects.toThrow("can no longer be followed");
      await run.close();
    },
  );

  it("when an attached terminal fails while asking, the run's question stays open for other viewers", async () => {
    let isAsked = (): void => {};
    const heard = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const run = attach({
      ask() {
        isAsked();
        throw new Error("the person's terminal broke");
      },
    });
    await ask();
    await heard;
    expect(await fleet.questions()).toHaveLength(1);
    await run.close();
    expect(run.failure).toBeUndefined();
  });
});

describe("leaving a run", () => {
  it("detaching from a run answers none of its questions, whatever the closed terminal says", async () => {
    let isAsked = (): void => {};
    const heard = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    let say: (answer: Answer) => void = () => {};
    const run = attach({
      ask() {
        isAsked();
        return new Promise((resolve) => {
          say = resolve;
        });
      },
    });
    await ask();
    await heard;
    const closed = run.close();
    say({ type: "no" });
    await closed;
    expect(await fleet.questions()).toHaveLength(1);
  });

  it("detaching from a run ends every prompt that was sent and refuses further ones", async () => {
    const run = attach();
    const sent = run.send({ text: "next" });
    await run.close();
    expect(await sent.ending).toMatchObject({ type: "fail", message: "Detached; the run continues." });
    expect(await run.send({ text: "too late" }).ending).toMatchObject({ message: "Detached; the run continues." });
    await expect(run.context()).rejects.toMatchObject({ code: "INTERRUPTED" });
  });

  it("detaching from a run also ends a prompt that started another run", async () => {
    await fleet.finish(lease, ended, lease.position, 0);
    let begun = (): void => {};
    const started = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const run = attach(undefined, async () => begun());
    const sent = run.send({ text: "go on" });
    await started;
    await run.close();
    expect(await sent.ending).toMatchObject({ message: "Detached; the run continues." });
  });
});

it("a viewer follows a run it queued even if this machine could not start it", async () => {
  await fleet.finish(lease, ended, lease.position, 0);
  const run = attach(undefined, () => Promise.reject(new Error("no room for a host")));
  const first = run.send({ text: "go on" });
  expect(await first.ending).toMatchObject({ type: "fail", message: "no room for a host" });
  const second = run.send({ text: "and this" });
  const other = (await fleet.lease({ worker: "elsewhere", ttlMs: 60_000, run: run.runId }))!;
  await fleet.finish(other, { ...ended, outcome: "error", text: "the end" }, other.position, Number.MAX_SAFE_INTEGER);
  await run.settled;
  expect(await second.ending).toMatchObject({ type: "fail" });
});

/** The host asks whether something is allowed. */
async function ask(): Promise<void> {
  const question: Question = {
    ...{ id: "q1", hash: "h", type: "permission", callId: "c", tool: "Delete", args: {} },
    ...{ needs: [], reasons: [] },
  };
  await fleet.append(lease, [{ type: "question", question }], lease.position);
}
