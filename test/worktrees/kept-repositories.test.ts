// Repositories that workers keep: the ones that nobody uses go, the longest unused first.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { keptRepository, trimNowAndThen, trimRepositories } from "../../src/worktrees/kept-repositories.ts";
import { checkOutRepository } from "../../src/worktrees/repository-cache.ts";
import { chanceOf } from "../support/chance.ts";

const chance = chanceOf("worktrees/kept-repositories");

const day = 24 * 3_600_000;
const plenty = { bytes: 1e12, ageMs: 1000 * day };
let folder: string;
let cache: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-kept-")));
  cache = join(folder, "data", "repositories");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function git(cwd: string, ...args: string[]): string {
  const who = ["-c", "user.name=a", "-c", "user.email=a@b"];
  return execFileSync("git", [...who, ...args], { cwd, encoding: "utf8" }).trim();
}

/** A repository of about 100 kB, checked out by way of the cache and used last so many days ago. */
async function kept(name: string, daysAgo: number): Promise<{ store: string; checkout: string }> {
  const from = join(folder, name);
  mkdirSync(from);
  git(from, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(from, "noise"), Buffer.from(Array.from({ length: 100_000 }, () => chance() * 256)));
  git(from, "add", ".");
  git(from, "commit", "--quiet", "-m", name);
  const checkout = join(folder, "data", "runs", name, "work");
  await checkOutRepository({ from }, { path: checkout, branch: "courser/x", cache }, { env: process.env });
  const store = keptRepository(cache, from);
  const usedAt = new Date(Date.now() - daysAgo * day);
  utimesSync(store, usedAt, usedAt);
  return { store, checkout };
}

it("the cache of cloned repositories removes the longest unused until the rest is small enough", async () => {
  const all = [await kept("a", 3), await kept("b", 1), await kept("c", 2)];
  for (const { checkout } of all) rmSync(checkout, { recursive: true });
  const there = () => all.map(({ store }) => existsSync(store));
  expect(await trimRepositories(cache, plenty)).toEqual({ removed: 0, bytes: 0 });
  const { removed, bytes } = await trimRepositories(cache, { ...plenty, bytes: 250_000 });
  expect([removed, bytes > 100_000, there()]).toEqual([1, true, [false, true, true]]);
  await trimRepositories(cache, { ...plenty, ageMs: 1.5 * day });
  expect(there()).toEqual([false, true, false]);
  expect(readdirSync(cache)).toHaveLength(1);
});

it("the cache of cloned repositories never removes one with an existing checkout", async () => {
  const used = await kept("used", 100);
  const unused = await kept("unused", 1);
  rmSync(unused.checkout, { recursive: true });
  await trimRepositories(cache, { bytes: 0, ageMs: 0 });
  expect([existsSync(used.store), existsSync(unused.store)]).toEqual([true, false]);
  expect(git(used.checkout, "log", "--format=%s")).toBe("used");
  rmSync(used.checkout, { recursive: true });
  await trimRepositories(cache, { bytes: 0, ageMs: 0 });
  expect(readdirSync(cache)).toEqual([]);
});

it("a repository removed from the cache is cloned again, also with parallel checkouts and removals", async () => {
  const from = join(folder, "again");
  const { checkout } = await kept("again", 0);
  rmSync(checkout, { recursive: true });
  let isOver = false;
  const trimming = (async () => {
    let removed = 0;
    while (!isOver) {
      removed += (await trimRepositories(cache, { bytes: 0, ageMs: 0 })).removed;
      await sleep(1);
    }
    return removed;
  })();
  for (let round = 0; round < 4; round++) {
    const path = join(folder, "data", "runs", `round-${round}`, "work");
    await checkOutRepository({ from }, { path, branch: "courser/x", cache }, { env: process.env });
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(git(path, "log", "--format=%s")).toBe("again");
    rmSync(path, { recursive: true });
    await sleep(20);
  }
  isOver = true;
  expect(await trimming).toBeGreaterThan(0);
});

it("the workers on one machine clean up the cache of repositories together, once a minute", async () => {
  const { checkout, store } = await kept("often", 50);
  await trimNowAndThen(cache, { bytes: 0, ageMs: 0 }); // in use
  rmSync(checkout, { recursive: true });
  await trimNowAndThen(cache, { bytes: 0, ageMs: 0 });
  expect(existsSync(store)).toBe(true);
  const stamp = join(folder, "data", "trimmed");
  utimesSync(stamp, new Date(0), new Date(0));
  await trimNowAndThen(cache, { bytes: 0, ageMs: 0 });
  expect(existsSync(store)).toBe(false);
});
