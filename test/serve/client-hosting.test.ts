// A program that follows runs of this machine starts hosts for them: as long as it follows one, and not after.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { fleet as client } from "../../src/serve/client/index.ts";
import { openSqliteFleet } from "../../src/serve/engines/sqlite.ts";
import { ended, newRun } from "./fleet-kit.ts";

const home = mkdtempSync(join(tmpdir(), "courser-hosting-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

it("a fleet client that follows no runs starts no host processes for them", async () => {
  const configDir = join(home, ".cursor");
  mkdirSync(configDir);
  const store = openSqliteFleet(join(configDir, "runs/runs.db"));
  // Another run takes the only place: those of the client wait, and can be cancelled at once.
  await store.enqueue(newRun(1));
  const lease = (await store.lease({ worker: "test", ttlMs: 60_000 }))!;
  const program = [process.execPath, "-e", ""];
  const own = client(undefined, { env: { HOME: home }, program, concurrency: 1 });
  const run = own.run({ workspace: home, prompt: "go" });
  const id = await run.id;
  expect((await store.run(id))!.state).toBe("queued");
  expect(await run.cancel()).toMatchObject({ outcome: "cancelled", error: { code: "INTERRUPTED" } });

  await store.finish(lease, ended, lease.position, 0);
  await store.enqueue(newRun(2));
  await sleep(300);
  expect(await store.run("run-2")).toMatchObject({ state: "queued", attempts: 0 });

  // While it follows one, it does.
  const next = own.run({ workspace: home, prompt: "again" });
  await next.id;
  for (let tries = 0; tries < 100 && (await store.run("run-2"))!.attempts === 0; tries++) await sleep(20);
  const taken = [await store.run("run-2"), await store.run(await next.id)].map((each) => each!.attempts);
  expect(taken.reduce((sum, attempts) => sum + attempts, 0)).toBe(1);
  await own.close();
  expect(await next.result).toMatchObject({ outcome: "cancelled", error: { message: "Detached; the run continues." } });
  await expect(own.run({ workspace: home, prompt: "late" }).result).resolves.toMatchObject({
    outcome: "error",
    error: { code: "USAGE", message: "The fleet was closed." },
  });
  await expect(own.follow("run-none").result).resolves.toMatchObject({ outcome: "error" });
  store.close();
});

it("a fleet client that follows an unknown run gets an error", async () => {
  const own = client("local", { env: { HOME: home } });
  const run = own.follow("run-none", { from: 3 });
  expect([run.position, own.follow("run-none").position]).toEqual([3, 0]);
  expect(await run.result).toMatchObject({
    outcome: "error",
    error: { code: "RUN_NOT_FOUND", message: "There is no run run-none." },
  });
  await expect(run.id).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  await own.close();
});
