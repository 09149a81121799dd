// Who is in front of a run decides what is asked, whichever way the run was started: a person is asked as at the terminal.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openLive } from "../../src/sdk/live/open-live.ts";
import { AttachedRun } from "../../src/serve/attached-run.ts";
import { until } from "../serve/service-support.ts";
import { cli, runCli } from "../support/run-cli.ts";
import { Home } from "./doors.ts";
import type { Place } from "./restrictions.ts";

const home = new Home();
beforeAll(() => home.begin());
afterAll(() => home.end());

const remove = { name: "Shell", args: { command: "rm -rf src" } };
const readOutside = { name: "Read", args: { path: "/etc/hostname" } };

/** A folder with a source file, and a model that makes these calls, each in a reply of its own. */
function placeWith(...calls: object[]): Place {
  const place = home.place();
  restore(place);
  const script = join(place.home, `calls-${Math.random()}.json`);
  writeFileSync(script, JSON.stringify([...calls.map((call) => ({ calls: [call] })), { text: "end" }]));
  return { ...place, model: `script:${script}` };
}

function restore({ path }: Place): void {
  mkdirSync(join(path, "src"), { recursive: true });
  writeFileSync(join(path, "src/main.ts"), "1\n");
}

const hasSource = ({ path }: Place) => existsSync(join(path, "src/main.ts"));

async function asked(run: string) {
  const { fleet } = home.service;
  await until(async () => (await fleet.run(run))!.open > 0 || (await fleet.run(run))!.end !== undefined, "a question");
  return (await fleet.questions()).find((each) => each.run === run)?.question;
}

async function answer(run: string, type: "yes" | "no"): Promise<string | undefined> {
  const question = await asked(run);
  if (question?.type !== "permission") return undefined;
  await home.service.fleet.answer(run, { question: question.id, hash: question.hash, answer: { type } });
  await until(
    async () => (await home.service.fleet.questions()).every((each) => each.question.id !== question.id),
    "it",
  );
  return question.tool;
}

async function inBackground(place: Place): Promise<string> {
  const { path: cwd, env, model } = place;
  return (await runCli(["-b", "--model", model, "go"], { cwd, env })).stdout.trim();
}

async function inStudio(place: Place): Promise<string> {
  const body = { prompt: { text: "go" }, workspace: place.path, model: place.model };
  return (await home.service.call("POST", "/api/runs", body)).body.id;
}

describe("runs of the studio", () => {
  it.each([
    ["yes", false],
    ["no", true],
  ] as const)("a run of the studio asks about a command, and with %s …", async (word, isKept) => {
    const place = placeWith(remove);
    const run = await inStudio(place);
    expect(await asked(run)).toMatchObject({ type: "permission", tool: "Shell" });
    expect(hasSource(place)).toBe(true);
    await answer(run, word);
    expect((await home.service.over(run)).end).toMatchObject({ outcome: "finished" });
    expect(hasSource(place)).toBe(isKept);
  });

  it("after a follow-up from the studio's page, a background run asks that person before it deletes", async () => {
    const place = placeWith(remove);
    const run = await inBackground(place);
    await home.service.over(run);
    restore(place);
    const body = { prompt: { text: "go on" } };
    const next = (await home.service.call("POST", `/api/runs/${run}/follow-up`, body)).body.id;
    expect(await asked(next)).toMatchObject({ tool: "Shell" });
    await home.service.fleet.cancel(next, "enough");
  });
});

describe("background runs", () => {
  it("an unattended background run executes commands in the sandbox", async () => {
    const place = placeWith(remove);
    const run = await inBackground(place);
    expect((await home.service.over(run)).end).toMatchObject({ outcome: "finished" });
    expect(hasSource(place)).toBe(false);
  });

  it("a background run asks questions once someone attaches, and waits when they leave", async () => {
    const place = placeWith(readOutside, remove);
    const run = await inBackground(place);
    expect(await asked(run)).toMatchObject({ tool: "Read" });
    const { fleet } = home.service;
    const attached = new AttachedRun(fleet, (await fleet.run(run))!, { start: async () => {} });
    attached.attend();
    await attached.names(); // what was said before it is heard
    await attached.close();
    expect(await answer(run, "no")).toBe("Read");
    expect(await asked(run)).toMatchObject({ tool: "Shell" });
    expect(hasSource(place)).toBe(true);
    await answer(run, "yes");
    await home.service.over(run);
    expect(hasSource(place)).toBe(false);
  });

  it("a background run asks the person who steers it from the studio's page", async () => {
    const place = placeWith(readOutside, remove);
    const run = await inBackground(place);
    await asked(run);
    const steer = { type: "steer", text: "careful" };
    expect((await home.service.call("POST", `/api/runs/${run}/messages`, steer)).status).toBe(202);
    await home.service.call("POST", `/api/runs/${run}/messages`, { type: "names", id: "heard" });
    await until(
      async () => (await home.service.fleet.entries(run, 0, 1000)).some(({ entry }) => entry.type === "reply"),
      "a reply",
    );
    await answer(run, "no");
    expect(await asked(run)).toMatchObject({ tool: "Shell" });
    await home.service.fleet.cancel(run, "enough");
  });
});

it.each([true, false])("a host of the SDK that sets attended: %s", async (attended) => {
  const place = placeWith(remove);
  const questions: string[] = [];
  const session = await openLive({
    cwd: place.path,
    env: place.env,
    executable: [process.execPath, cli],
    model: place.model,
    attended,
    human: {
      async ask(question) {
        questions.push(question.type);
        return { type: "no" };
      },
    },
  });
  await session.send({ text: "go" }).ending;
  await session.close();
  expect([questions, hasSource(place)]).toEqual(attended ? [["permission"], true] : [[], false]);
});
