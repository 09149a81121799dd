// A worker is frozen or killed in the middle of a run: another one goes on, nothing is done twice, and readers see one run.
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LogEntry } from "../../src/serve/fleet.ts";
import { followUp } from "../../src/serve/new-run.ts";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { chatFolder } from "../../src/store/chats/layout.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { integrityOf, resumes } from "../store/store-seen.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { orSkipped } from "../support/skipping.ts";
import { until } from "./service-support.ts";
import { linesOf, TestFleet, toldTo } from "./worker-support.ts";

const leaseSeconds = 2;
const fast = ["--lease-time", String(leaseSeconds)];

/** On this machine two workers share one home; on a server each has its own. */
const engines = [
  { engine: "SQLite", skip: false as const, open: async () => ({ fleet: new TestFleet(), close: () => {} }) },
  {
    engine: "NATS",
    skip: noNatsServer,
    async open() {
      const server = await NatsServer.start();
      const url = server.url("loss");
      const fleet = new TestFleet(url, await openFleet(url, { configDir: "/nowhere", env: {} }));
      return { fleet, close: () => server.remove() };
    },
  },
];

for (const { engine, skip, open } of engines)
  describe.skipIf(skip)(orSkipped(`a run whose worker is lost, ${engine}`, skip), () => lostWorkers(engine, open));

function lostWorkers(engine: string, open: (typeof engines)[number]["open"]): void {
  let fleet: TestFleet;
  let close: () => unknown = () => {};
  let effects: string;
  beforeAll(async () => {
    ({ fleet, close } = await open());
    effects = join(fleet.workspace.home, "effects");
  }, 30_000);
  afterAll(async () => {
    await fleet?.remove();
    await close();
  });

  /** Each step leaves a line in the workspace and one outside of it. */
  const step = (number: number, more = "") => ({
    toolCalls: [
      { name: "Shell", args: { command: `echo ${number} >> steps.txt; echo ${number} >> ${effects}${more}` } },
    ],
  });

  it("another worker continues a run whose worker froze between calls or died during one", {
    timeout: 100_000,
  }, async () => {
    let isLost = 0;
    await fleet.answer((request) => {
      const { results, text } = toldTo(request);
      if (results === 0) return step(1);
      if (results === 1) return { ...step(2), delayMs: isLost === 0 ? 3000 : 0 };
      // The third is cut off: whether the conversation holds it or not, the model is told of it.
      if (!text.includes("echo 3")) return step(3, "; sleep 60");
      if (!text.includes("echo 4")) return step(4);
      return { text: "all done" };
    });
    const repository = fleet.repository({ "README.md": "# A\n" });
    const spec = fleet.spec({ source: { type: "git", from: repository }, onWorkerLoss: "continue" });
    const first = fleet.start(fast);
    const run = await fleet.enqueue(spec);
    await until(async () => (await fleet.entry(run, "checkpoint")) !== undefined, "a checkpoint");
    // Its agent is told of the second step while nobody lets it run.
    first.child.kill("SIGSTOP");
    isLost++;
    const frozenAt = Date.now();
    const second = fleet.start(fast);
    await until(() => linesOf(effects).includes("2"), "the second worker", 20_000);
    expect(Date.now() - frozenAt).toBeLessThan(leaseSeconds * 1000 * 1.5 + 8000); // and the time that a busy machine takes
    await until(() => linesOf(effects).includes("3"), "the third step", 40_000);
    second.child.kill("SIGKILL");
    const third = fleet.start(fast);

    const { end, attempts } = await fleet.over(run, 40_000);
    first.child.kill("SIGCONT");
    await until(() => first.said().includes(" lost after "), "the frozen worker to give up");
    expect(end).toMatchObject({ outcome: "finished", text: expect.stringContaining("all done"), turns: 1 });
    expect(attempts).toBe(3);
    expect(linesOf(effects)).toEqual(["1", "2", "3", "4"]);
    // What the third call did to the files is undone with its worker; nothing else is.
    const patch = (await fleet.object(run, end!.patch!)).toString("utf8");
    expect(patch.match(/^\+\d$/gm)).toEqual(["+1", "+2", "+4"]);
    expect(end!.branch).toBe(`courser/${run}`);
    checkLog(await fleet.log(run));
    if (engine === "SQLite") expect(third.said()).toMatch(/removed what \d runs? of killed workers left/);
  });

  it("secrets of a worker do not travel with a run", async () => {
    const { id } = (await fleet.fleet.runs({ limit: 1 }))[0]!;
    const { chat, workspace } = (await fleet.entry(id, "checkpoint"))!;
    const bytes = [gunzipSync(await fleet.object(id, chat)), await fleet.object(id, workspace!)];
    for (const each of bytes) expect(each.includes("sk-test-of-the-worker")).toBe(false);
    expect(JSON.stringify(await fleet.log(id))).not.toContain("sk-test-of-the-worker");
    expect(JSON.stringify(fleet.model.requests.at(-1)!.headers)).toContain("sk-"); // the model was asked with a key
  });

  // One machine has the chat already.
  const onOthers = engine === "SQLite" ? () => {} : it;
  onOthers(
    "goes on with a new prompt on any machine: the conversation and the files are there",
    {
      timeout: 40_000,
    },
    async () => {
      await fleet.model.stop();
      await fleet.answer((request) =>
        JSON.stringify(request.json.messages.at(-1)).includes("and now?")
          ? { toolCalls: [{ name: "Shell", args: { command: "cat steps.txt" } }] }
          : { text: `told of ${toldTo(request).text.includes("take all steps") ? "all" : "nothing"}` },
      );
      const record = (await fleet.fleet.runs({ limit: 1 }))[0]!;
      const pool = { placement: { pool: "later" } };
      const next = followUp(record, record.sessionId, { text: "and now?" });
      const { id } = await fleet.fleet.enqueue({ ...next, spec: { ...next.spec, ...pool } });
      fleet.start([...fast, "--single-use", "--pool", "later"]);
      expect((await fleet.over(id)).end).toMatchObject({ outcome: "finished", text: "told of all" });
      expect(JSON.stringify(await fleet.log(id))).toContain('"stdout":"1\\n2\\n4\\n"');
    },
  );

  // Decided by the worker, whatever the engine.
  const once = engine === "NATS" ? () => {} : it;
  once("goes on in the user's own directory: the chat that is there stays whole", { timeout: 100_000 }, async () => {
    await fleet.model?.stop();
    // So that the log of the chat, which the second worker leaves, holds some of its pages and not others.
    const filling = randomBytes(15_000).toString("hex");
    let isSlow = true;
    await fleet.answer((request) => {
      const { text } = toldTo(request);
      if (!text.includes("echo 21")) return step(21);
      if (!text.includes("echo 22")) return { ...step(22), delayMs: isSlow ? 4000 : 0 };
      if (!text.includes("echo 23")) return step(23, "; sleep 60");
      return { text: "all done here" };
    });
    const place = { placement: { pool: "own" }, onWorkerLoss: "continue" } as const;
    const first = fleet.start([...fast, "--pool", "own"]);
    const prompt = { text: `take these steps ${filling}` };
    const run = await fleet.enqueue(fleet.spec({ ...place, prompt }));
    await until(async () => (await fleet.entry(run, "checkpoint")) !== undefined, "a checkpoint");
    // Its agent is alive, and has the chat: the next host waits for it, and replaces nothing.
    first.child.kill("SIGSTOP");
    isSlow = false;
    const second = fleet.start([...fast, "--pool", "own"]);
    await until(async () => (await fleet.fleet.run(run))?.attempts === 2, "the second worker", 20_000);
    const folder = chatFolder(fleet.workspace.config, fleet.workspace.path, (await fleet.fleet.run(run))!.sessionId!);
    expect(readChat(folder).problems).toEqual([]);
    first.child.kill("SIGCONT");
    await until(() => linesOf(effects).includes("23"), "the third step", 50_000);
    second.child.kill("SIGKILL");
    fleet.start([...fast, "--pool", "own"]);
    const { end } = await fleet.over(run, 50_000);
    expect(end).toMatchObject({ outcome: "finished", text: expect.stringContaining("all done here") });
    checkLog(await fleet.log(run));
    const { problems, events } = readChat(folder, { events: true });
    // The agent of the frozen host may be ended in the middle of the second step, which is then marked and never run again.
    const isCutOff = events.some(
      ({ event }) =>
        event.type === "tool_end" &&
        JSON.stringify(event.args).includes("echo 22") &&
        event.outcome?.kind !== "success",
    );
    const done = linesOf(effects).filter((line) => /^2\d$/.test(line));
    expect(done).toEqual(isCutOff && !done.includes("22") ? ["21", "23"] : ["21", "22", "23"]);
    expect(problems).toEqual([]);
    const prompts = events.flatMap(({ event }) => (event.type === "user" ? [event.text] : []));
    expect(prompts.filter((text) => text === prompt.text)).toHaveLength(1);
    expect(readdirSync(folder).filter((name) => /corrupt|replaced|new/.test(name))).toEqual([]);
    expect([integrityOf(folder), resumes(folder)]).toEqual(["ok", true]);
  });

  it("a run continued by another worker works with the offline model, and that worker reports it", async () => {
    const done = join(fleet.workspace.home, "offline");
    const prompt = { text: `run \`echo 1 >> ${done}\`, then run \`sleep 3; echo 2 >> ${done}\`` };
    const first = fleet.start([...fast, "--pool", "offline"]);
    const place = { placement: { pool: "offline" }, onWorkerLoss: "continue" } as const;
    const run = await fleet.enqueue(fleet.spec({ ...place, prompt }, { model: "offline" }));
    await until(async () => (await fleet.entry(run, "checkpoint")) !== undefined, "a checkpoint", 20_000);
    first.child.kill("SIGKILL");
    const second = fleet.start([...fast, "--pool", "offline"]);
    const { end, attempts } = await fleet.over(run, 40_000);
    expect([attempts, end]).toMatchObject([2, { outcome: "finished" }]);
    expect(linesOf(done)).toContain("1");
    await until(() => second.said().includes(`${run} finished after`), "its line", 10_000);
    expect(second.said()).not.toContain(`${run} lost`);
  }, 80_000);

  once("ends where it is not to go on", { timeout: 30_000 }, async () => {
    await fleet.model.stop();
    await fleet.answer(() => step(9, "; sleep 60"));
    const worker = fleet.start([...fast, "--pool", "brief"]);
    const run = await fleet.enqueue(fleet.spec({ placement: { pool: "brief" } }));
    await until(() => linesOf(effects).includes("9"), "its call");
    worker.child.kill("SIGKILL");
    fleet.start([...fast, "--pool", "brief"]);
    expect((await fleet.over(run)).end).toMatchObject({ outcome: "error", code: "TERMINATED" });
    expect(linesOf(effects).filter((line) => line === "9")).toHaveLength(1);
  });
}

/** One init, one prompt, numbers that grow, an end for every call, one result. */
function checkLog(log: readonly LogEntry[]): void {
  const events = log.flatMap(({ entry }) => (entry.type === "event" ? [entry] : []));
  const count = (type: string) => events.filter(({ event }) => event.type === type).length;
  expect([count("init"), count("user"), count("done")]).toEqual([1, 1, 1]);
  const numbers = events.flatMap(({ number, agent }) => (number === undefined || agent ? [] : [number]));
  expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
  const started = events.flatMap(({ event }) => (event.type === "tool_start" ? [event.callId] : []));
  const ended = events.flatMap(({ event }) => (event.type === "tool_end" ? [event.callId] : []));
  expect(ended.sort()).toEqual(started.sort());
  expect(log.filter(({ entry }) => entry.type === "result")).toHaveLength(1);
  expect(events.filter(({ event }) => event.type === "notice" && event.kind === "worker_lost")).toHaveLength(2);
}
