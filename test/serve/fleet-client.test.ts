// `courser-agent/fleet`, as it is built: runs of this machine, and of a server where there is one, from a program.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import type * as entry from "../../src/serve/client/index.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { cli, repository } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { TestService } from "./service-support.ts";

const { fleet, UserError } = (await import(pathToFileURL(join(repository, "dist/lib/fleet.js")).href)) as typeof entry;

const service = new TestService();
const { workspace } = service;
const server = noNatsServer ? undefined : await NatsServer.start();
afterAll(async () => {
  await service.remove();
  await server?.remove();
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Taken, and given up before anything is sent. */
function checkedOnly(request: entry.FleetRequest): void {
  const signal = AbortSignal.abort();
  const away = fleet("nats://127.0.0.1:9", { env: workspace.env });
  const run = away.run({ ...request, signal });
  run.id.catch(() => {});
  void away.close();
}

const request = (replies: unknown) => ({ workspace: workspace.path, model: service.script(replies), prompt: "go" });

describe("fleet()", () => {
  it("fleet() on this machine gives events, text and result as start() does, and asks questions by callback", async () => {
    const own = fleet(undefined, { env: workspace.env });
    workspace.file("a.txt", "x");
    const asked: string[] = [];
    const run = own.run({
      ...request([{ text: "Now.", calls: [{ name: "Delete", args: { path: "a.txt" } }] }, { text: "Gone." }]),
      permissions: { allow: ["Write(other/**)"] },
      onQuestion(question) {
        asked.push(question.type);
        return { type: "yes" };
      },
    });
    const seen: string[] = [];
    for await (const event of run.events) seen.push(event.type === "tool_start" ? event.name : event.type);
    expect(seen[0]).toBe("init");
    expect(seen).toEqual(expect.arrayContaining(["user", "Delete", "tool_end"]));
    expect(seen.filter((type) => type === "done" || type === "fail")).toEqual(["done"]);
    expect(seen.at(-1)).toBe("done");
    expect(asked).toEqual(["permission"]);
    expect(existsSync(join(workspace.path, "a.txt"))).toBe(false);
    expect(await run.result).toMatchObject({ outcome: "success", turns: 2, sessionId: run.session.id, denials: [] });
    expect(await run.text).toContain("Gone.");
    expect(await run.patch()).toBeUndefined();

    const again = own.follow(await run.id, { from: run.position });
    expect((await again.result).outcome).toBe("success");
    expect(await run.session.send("and now?").result).toMatchObject({ sessionId: run.session.id });
    await own.close();
  });

  it("a fleet run that is cancelled, fails or is never queued has one result", async () => {
    const own = fleet(undefined, { env: workspace.env });
    const abort = new AbortController();
    const slow = own.run({
      ...request([{ calls: [{ name: "Shell", args: { command: "sleep 30" } }] }]),
      mode: "force",
      signal: abort.signal,
    });
    for await (const event of slow.events) if (event.type === "tool_start") abort.abort();
    const ended = await slow.result;
    expect(ended).toMatchObject({ outcome: "cancelled", error: { code: "INTERRUPTED" } });
    const failed = own.run({ ...request([]), model: "offline", prompt: "what nobody understands, and never will" });
    await expect(Promise.resolve(failed.text)).rejects.toMatchObject({ code: "OFFLINE_LIMIT", outcome: "error" });
    await own.close();

    const away = fleet("nats://127.0.0.1:9", { env: workspace.env });
    const run = away.run(request([]));
    expect((await run.result).outcome).toBe("error");
    await expect(run.id).rejects.toBeInstanceOf(UserError);
    await away.close();
  });

  it("fleet() says at once what is wrong with a request, an option or an id", () => {
    const own = fleet(undefined, { env: workspace.env });
    const wrong = (request: object) => () => own.run(request as never);
    const usage = (message: string) => expect.objectContaining({ code: "USAGE", message });
    const faults: [() => unknown, string][] = [
      [wrong({ model: "offline" }), "run needs prompt: run({ prompt: '…' })."],
      [() => own.run("go" as never), "run takes an object: run({ prompt: '…' })."],
      [wrong({ prompt: 7 }), "run: prompt must be a text, or must be an object."],
      [wrong({ prompt: "go", cwd: "/x" }), "run: unknown option 'cwd'. Here it is workspace."],
      [wrong({ prompt: "go", pools: "gpu" }), "run: unknown option 'pools'. Did you mean pool?"],
      [wrong({ prompt: "go", worktree: {} }), "run: unknown option 'worktree'."],
      [wrong({ prompt: "go", mode: "yolo" }), "run: mode must be one of default, force, plan, ask, agent."],
      [wrong({ prompt: "go", labels: { gpu: 1 } }), "run: labels must be an object of texts."],
      [wrong({ prompt: "go", limits: { maxTurns: "3" } }), 'run: limits "maxTurns" must be a positive integer.'],
      [wrong({ prompt: "go", signal: {} }), "run: signal must be an AbortSignal."],
      [() => own.follow("" as never), "follow takes the id of a run: follow('run-…')."],
      [() => own.follow("run-1", { from: "3" } as never), "follow: from must be a position."],
      [
        () => fleet(undefined, { concurency: 3 } as never),
        "fleet: unknown option 'concurency'. Did you mean concurrency?",
      ],
      [
        () => fleet({ url: "nats://x" } as never),
        "fleet takes the address of a fleet: fleet('nats://…'). Without one: the runs of this machine.",
      ],
    ];
    for (const [call, message] of faults) expect(thrownBy(call)).toEqual(usage(message));
    const workspaceGiven = { workspace: ".", source: { type: "upload", isWhole: true }, name: undefined } as const;
    expect(thrownBy(() => checkedOnly({ prompt: "go", ...workspaceGiven }))).toBeUndefined();
  });

  const title =
    "of a server: files are sent, a worker takes the run, and another program follows it from where this one was";
  it.skipIf(noNatsServer)(orSkipped(title, noNatsServer), async () => {
    const url = server!.url("client");
    const env = { ...workspace.env, COURSER_FLEET: url };
    workspace.file(".env", "SECRET=1");
    const team = fleet(url, { env });
    const sent: string[] = [];
    const run = team.run({ ...request([{ text: "Here." }]), mode: "force", onSent: (line) => sent.push(line) });
    const id = await run.id;
    expect(sent.join()).toMatch(/^Sent \d+ files? of .*Left out: may hold secrets: \.env\.$/);
    await team.close();
    expect(await run.result).toMatchObject({ outcome: "cancelled" });
    const worker = spawn(process.execPath, [cli, "worker", "start", "--single-use"], { env, stdio: "ignore" });
    const other = fleet(url, { env });
    const followed = other.follow(id, { from: run.position });
    expect(await followed.result).toMatchObject({ outcome: "success", text: "Here." });
    await other.close();
    if (worker.exitCode === null) await new Promise((resolve) => worker.once("exit", resolve));
  });
});
