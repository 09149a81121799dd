// Background runs from the command line, and as a LiveRun from another process.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import type { Question } from "../../src/protocol/run.ts";
import { AttachedRun } from "../../src/serve/attached-run.ts";
import { startHosts } from "../../src/serve/launcher.ts";
import { newRun } from "../../src/serve/new-run.ts";
import { cli } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { converse, hasScript } from "../support/terminal.ts";
import { TestService, until } from "./service-support.ts";

const service = new TestService();
const { workspace } = service;
afterAll(() => service.remove());

const launch = { configDir: workspace.config, env: workspace.env, program: [process.execPath, cli], most: 8 };
const pause = (seconds: number) => ({ name: "Shell", args: { command: `sleep ${seconds}; echo slept` } });

async function background(replies: unknown, ...args: string[]): Promise<string> {
  const { stdout, stderr, exit } = await workspace.run(["-b", "--model", service.script(replies), ...args]);
  expect([exit, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^run-[0-9a-f-]{36}\n$/);
  return stdout.trim();
}

describe("-b", () => {
  it("-b prints the run's id and returns at once; the run continues, and its log contains it", async () => {
    const id = await background(
      [{ text: "Let me see.", calls: [pause(0.6)] }, { text: "All well." }],
      "--force",
      "look around",
    );
    expect((await service.fleet.run(id))!.end).toBeUndefined();
    const followed = await workspace.run(["runs", "logs", id, "--follow"]);
    expect(followed.stdout).toBe("> look around\nLet me see.\n· Bash sleep 0.6; echo slept\nAll well.\n");
    const listed = JSON.parse((await workspace.run(["runs", "list", "--format", "json"])).stdout);
    expect(listed[0]).toMatchObject({ id, state: "finished", result: { outcome: "finished" } });
    expect((await workspace.run(["persist", "list"])).stdout).toContain(id);
  });

  it.skipIf(process.platform !== "linux")(
    "the agent runs in the process of its host, and is followed to a failure",
    async () => {
      const whoseChild = { name: "Shell", args: { command: "tr '\\0' ' ' < /proc/$PPID/cmdline > parent.txt" } };
      const id = await background(
        [{ calls: [whoseChild] }, { error: { code: "MODEL_REFUSED", message: "broken" } }],
        "--force",
        "look",
      );
      await until(async () => (await service.fleet.run(id))!.end !== undefined, "the end");
      expect((await service.fleet.run(id))!.end).toMatchObject({ outcome: "error" });
      expect(readFileSync(join(workspace.path, "parent.txt"), "utf8")).toContain(
        `worker start --fleet local --single-use --lease ${id}`,
      );
    },
  );

  it("-b refuses keys on the command line and untrusted directories", async () => {
    expect((await workspace.run(["-b", "--api-key", "k", "x"])).stderr).toContain("Keys are not kept");
    const elsewhere = await workspace.run(["-b", "--workspace", workspace.home, "x"]);
    expect(elsewhere.stderr).toContain("Workspace Trust Required");
    expect((await workspace.run(["runs", "logs", "ffff"])).stderr).toContain("RUN_NOT_FOUND");
  });

  it("the agent cannot answer questions for a person, by a command or with the service's token", async () => {
    const env = { CURSOR_AGENT: "1" };
    for (const args of [["runs", "answer", "--yes"], ["serve"], ["-b", "x"]])
      expect((await workspace.run(args, { env })).stderr, args.join(" ")).toContain("agents may not");
    await until(() => service.read() !== undefined, "the service");
    const path = `${workspace.config}/serve.json`;
    const played = await workspace.play([
      {
        calls: [
          { name: "Read", args: { path } },
          { name: "Shell", args: { command: `cat ${path}` } },
        ],
      },
      { text: "no" },
    ]);
    expect(played.lines().at(-1)?.["permission_denials"]).toHaveLength(2);
    expect(played.stdout).not.toContain(service.read()!.token);
  });

  it("a background run (-b) asks, continues when answered, and can be stopped", async () => {
    workspace.file("a.txt", "x");
    const id = await background(
      [{ calls: [{ name: "Delete", args: { path: "a.txt" } }] }, { text: "gone" }],
      ...["--allow", "Write(other/**)"], // so that other files are asked about
      "remove it",
    );
    await until(async () => (await service.fleet.run(id))!.open > 0, "the question");
    expect((await workspace.run(["runs"])).stdout).toMatch(/asking/);
    expect((await workspace.run(["runs", "answer", id, "--yes"])).stdout).toContain("✓ Answered Delete");
    expect((await service.over(id)).end?.text).toBe("gone");
    const slow = await background([{ calls: [pause(30)] }], "--force", "wait");
    await until(async () => (await service.fleet.run(slow))!.sessionId !== undefined, "its session");
    expect((await workspace.run(["runs", "stop", slow.slice(0, 12)])).stdout).toContain(`✓ Stopped ${slow}`);
    expect(await service.over(slow)).toMatchObject({ state: "cancelled", end: { code: "INTERRUPTED" } });
  });

  it("-b starts a service that watches over the run, and the run outlives that service", async () => {
    await until(() => service.read() !== undefined, "the service");
    const id = await background([{ calls: [pause(0.5)] }, { text: "still here" }], "--force", "go");
    process.kill(service.read()!.pid, "SIGKILL");
    expect((await service.over(id)).end).toMatchObject({ outcome: "finished", text: "still here" });
  });
});

describe("a run whose host is gone", () => {
  // No service was ever started here, which would begin what is in the queue.
  const apart = new TestService();
  afterAll(() => apart.remove());
  const spec = () => ({
    cli: "courser" as const,
    request: { workspace: apart.workspace.path, model: apart.script([{ text: "fresh" }]), force: true },
    prompt: { text: "go" },
  });

  it("a background run whose host process was killed ends with an error and is not restarted", async () => {
    const { id } = await apart.fleet.enqueue(newRun(spec()));
    const lease = (await apart.fleet.lease({ worker: "dies", ttlMs: 30, run: id }))!;
    await apart.fleet.append(lease, [{ type: "event", event: { type: "user", text: "go" } }], lease.position);
    await sleep(50);
    await apart.workspace.run(["runs", "list"]); // whoever looks sees to it
    expect((await apart.over(id)).end).toMatchObject({ outcome: "error", code: "TERMINATED", turns: 0 });
  });

  it("a background run that killed ten host processes is given up", async () => {
    const { id } = await apart.fleet.enqueue(newRun(spec()));
    for (let host = 0; host < 10; host++) {
      const lease = (await apart.fleet.lease({ worker: "dies", ttlMs: 15_000, run: id }))!;
      await apart.fleet.release(lease, lease.position);
    }
    expect((await apart.workspace.run(["worker", "start", "--single-use"])).exit).not.toBe(0);
    expect((await apart.over(id)).end).toMatchObject({ outcome: "error", code: "TERMINATED" });
  });

  it("a background run whose host process died before doing anything is started by the next host", async () => {
    const { id } = await apart.fleet.enqueue(newRun(spec()));
    await apart.fleet.lease({ worker: "never came up", ttlMs: 30, run: id });
    await sleep(50);
    expect((await apart.workspace.run(["worker", "start", "--single-use"])).exit).toBe(0);
    expect((await apart.over(id)).end).toMatchObject({ outcome: "finished", text: "fresh" });
  });
});

it("attaching to a run gives ordered events, questions, and prompts after its end", async () => {
  workspace.file("b.txt", "x");
  const replies = [
    { text: "Now.", calls: [{ name: "Delete", args: { path: "b.txt" } }] },
    { text: "Done." },
    { text: "More." },
  ];
  const spec = {
    cli: "courser" as const,
    request: { workspace: workspace.path, model: service.script(replies), permissions: { allow: ["Write(other/**)"] } },
    prompt: { text: "remove b" },
  };
  const record = await service.fleet.enqueue(newRun(spec));
  const asked: Question[] = [];
  const run = new AttachedRun(service.fleet, record, {
    start: ({ id }) => startHosts(service.fleet, launch, id),
    human: {
      async ask(question) {
        asked.push(question);
        return { type: "yes" };
      },
    },
  });
  const seen: string[] = [];
  const followed = (async () => {
    for await (const { event } of run.events())
      if (event.type === "user" || event.type === "text_end") seen.push(event.text);
      else if (event.type === "done") seen.push("done");
  })();
  await startHosts(service.fleet, launch, record.id);
  const steered = run.steer("and tell me");
  expect((await steered.ending).type).toBe("done");
  await run.settled;
  expect(asked.map(({ type }) => type)).toEqual(["permission"]);
  await expect(run.context()).rejects.toMatchObject({ code: "RUN_OVER" });
  const { chatId } = run;
  const next = run.send({ text: "go on" });
  expect(await next.ending).toMatchObject({ type: "done" });
  expect([run.chatId, run.runId === record.id]).toEqual([chatId, false]);
  await run.close();
  await followed;
  const again = new AttachedRun(service.fleet, record, {
    start: async () => {},
    human: { ask: () => Promise.reject(new Error("what was answered is asked again")) },
  });
  await again.settled;
  await again.close();
  expect(seen.filter((text) => text === "done").length).toBeGreaterThanOrEqual(2);
  expect(seen).toEqual(expect.arrayContaining(["remove b", "and tell me", "go on"]));
  expect(new Set(seen.filter((text) => text.length > 6)).size).toBe(seen.filter((text) => text.length > 6).length);
});

it.skipIf(!hasScript)(
  orSkipped(
    "in a terminal the user can choose a background run, answer it, tell it more and leave it",
    !hasScript && "there is no `script` here",
  ),
  async () => {
    workspace.file("c.txt", "x");
    const id = await background(
      [{ calls: [{ name: "Delete", args: { path: "c.txt" } }] }, { text: "It is gone." }],
      ...["--allow", "Write(other/**)"],
      "remove c",
    );
    await until(async () => (await service.fleet.run(id))!.open > 0, "the question");
    const { screen } = await converse(
      "-b",
      [
        [/Which run\?/, "1\r"],
        [/Allow\?/, "y\r"],
        [/gone[\s\S]*\n> /, "once more\r"],
        [/Allow\?/, "n\r"], // a script begins anew with each run
        [/gone[\s\S]*\n> /, "/detach\r"],
      ],
      workspace,
    );
    expect(screen).toContain("Delete wants permission");
    expect(screen).toContain("The run has ended: finished.");
    expect((await service.fleet.run(id))!.state).toBe("finished");
    const [latest] = await service.fleet.runs({ limit: 1 });
    expect(latest).toMatchObject({
      agent: (await service.fleet.run(id))!.agent,
      spec: { prompt: { text: "once more" } },
    });
  },
);
