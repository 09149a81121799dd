// The offline model does what was said, or nothing: wordings of every kind, each with what must be true afterwards.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { scores, wordingsIn } from "./offline-wordings/score.ts";

const scoresOf = (name: string) => {
  const { project, wordings } = wordingsIn(fileURLToPath(new URL(`./offline-wordings/${name}.jsonl`, import.meta.url)));
  return scores(project, wordings);
};

test.each(["newcomers", "everyday", "first-day"])(
  "%s: at least 70 % of what can be done is done, and nothing that was not asked for",
  async (name) => {
    const all = await scoresOf(name);
    expect(all).toHaveLength(300);
    expect(all.filter(({ verdict }) => verdict === "wrong")).toEqual([]);
    const asked = all.filter(({ kind }) => kind === "do");
    expect(asked.filter(({ verdict }) => verdict === "done").length).toBeGreaterThanOrEqual(0.7 * asked.length);
  },
  120_000,
);

test("stories: an order with a story before it is carried out or refused, and nothing else is done", async () => {
  const all = await scoresOf("stories");
  expect(all.filter(({ verdict }) => verdict === "wrong")).toEqual([]);
  const asked = all.filter(({ kind }) => kind === "do");
  expect(asked.filter(({ verdict }) => verdict === "done").length).toBeGreaterThanOrEqual(0.4 * asked.length);
}, 120_000);

test("traps: what looks like an order and is none changes nothing", async () => {
  const all = await scoresOf("traps");
  expect(all.length).toBeGreaterThan(600);
  expect(all.filter(({ verdict }) => verdict !== "done")).toEqual([]);
}, 120_000);
