// A fleet from the command line and over HTTP: files go along without secrets, a patch comes back, several services stand side by
// side, a batch goes through workers.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { trust } from "../../src/store/trust.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { cli, createWorkspace, repository } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { send, until } from "./service-support.ts";

describe.skipIf(noNatsServer)(orSkipped("a fleet", noNatsServer), () => {
  const workspace = createWorkspace({
    "a.txt": "one\n",
    ".env": "KEY=1",
    ".env.example": "KEY=",
    ".gitignore": "out\n",
    "out/x": "x",
  });
  const elsewhere = join(workspace.home, "worker");
  const token = "t".repeat(32);
  const started: ChildProcess[] = [];
  let server: NatsServer;
  let url: string;
  let fleet: Record<string, string>;

  beforeAll(async () => {
    server = await NatsServer.start();
    url = server.url();
    fleet = { COURSER_FLEET: url };
    trust(workspace.config, workspace.path);
    mkdirSync(elsewhere);
    symlinkSync("/etc/passwd", join(workspace.path, "outside"));
    execFileSync("git", ["init", "--quiet", workspace.path]);
    spawned(["worker", "start", "--concurrency", "2"], { ...fleet, HOME: elsewhere });
  });
  afterAll(async () => {
    await Promise.all(
      started.map(async (child) => {
        const gone = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGKILL");
        if (child.exitCode === null && child.signalCode === null) await gone;
      }),
    );
    await server.remove();
    workspace.remove();
  });

  function spawned(args: readonly string[], env: Record<string, string>): void {
    started.push(spawn(process.execPath, [cli, ...args], { env: { ...workspace.env, ...env }, stdio: "ignore" }));
  }

  async function over(run: string): Promise<any> {
    let shown: any;
    await until(async () => {
      shown = JSON.parse((await workspace.run(["runs", "show", run, "--format", "json"], { env: fleet })).stdout);
      return shown.result !== null;
    }, "the run to be over");
    return shown;
  }

  it("restrictions of the sender's project go with a run to the fleet, or keep it from being sent", async () => {
    const [rules, hooks] = ["cli-config.json", "hooks.json"].map((name) => join(workspace.config, name)) as [
      string,
      string,
    ];
    const args = ["-b", "--force", "--model", "offline", "create denied.txt with text 'x'"];
    try {
      writeFileSync(hooks, JSON.stringify({ version: 1, hooks: { preToolUse: [{ command: "true" }] } }));
      const refused = await workspace.run(args, { env: fleet });
      expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining("--without-local-hooks")]);
      writeFileSync(rules, JSON.stringify({ permissions: { allow: [], deny: ["Write(denied.txt)"] } }));
      const sent = await workspace.run(["--without-local-hooks", ...args], { env: fleet });
      const shown = await over(sent.stdout.trim());
      expect(JSON.stringify(shown)).toContain("Write(denied.txt)");
      expect((await workspace.run(["runs", "patch", sent.stdout.trim()], { env: fleet })).stdout).not.toContain(
        "denied.txt",
      );
    } finally {
      for (const file of [rules, hooks]) rmSync(file, { force: true });
    }
  });

  it("-b to a fleet uploads the workspace without secrets, a worker runs the prompt, and its patch returns", async () => {
    const sent = await workspace.run([
      "-b",
      "--fleet",
      url,
      "--force",
      "--model",
      "offline",
      "create b.txt with text 'two'",
    ]);
    const id = sent.stdout.trim();
    expect(sent.stderr).toMatch(
      /^Sent 3 files of .*Left out: may hold secrets: \.env; .*links that lead out: outside\.\n$/,
    );
    const shown = await over(id);
    expect(shown).toMatchObject({
      state: "finished",
      worker: expect.stringMatching(/\S/),
      source: { type: "archive" },
    });
    expect(existsSync(join(workspace.path, "b.txt"))).toBe(false);
    const patch = await workspace.run(["runs", "patch", id], { env: fleet });
    expect(patch.stdout).toMatch(/^diff --git a\/b\.txt b\/b\.txt\n/);
    const stoppedAt = async (step: string) => {
      const seen = join(workspace.home, step);
      workspace.file(
        "../bin/git",
        `#!/bin/sh\ncase "$*" in *${step}*) touch ${seen}; sleep 1;; esac\nexec "$GIT" "$@"\n`,
      );
      chmodSync(join(workspace.home, "../bin/git"), 0o755);
      const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
      return workspace.run(["runs", "patch", id, "--apply"], {
        env: { ...fleet, GIT: git, PATH: `${join(workspace.home, "../bin")}:${process.env["PATH"]}` },
        onStart: (child) => void until(() => existsSync(seen), step).then(() => child.kill("SIGINT")),
      });
    };
    // Before the patch has begun a stop keeps it from beginning; afterwards it is applied to its end.
    expect(await stoppedAt("show-prefix")).toMatchObject({ exit: 130 });
    expect(existsSync(join(workspace.path, "b.txt"))).toBe(false);
    expect(await stoppedAt("nowarn")).toMatchObject({ exit: 0 });
    expect(readFileSync(join(workspace.path, "b.txt"), "utf8").trim()).toBe("two");
    expect((await workspace.run(["runs", "show", id], { env: fleet })).stdout).toMatch(/\npatch +1 file, /);
    // The runs of this machine are others.
    expect((await workspace.run(["runs", "--fleet", "local"], { env: fleet })).stdout).toContain(
      "There are no background runs",
    );
  });

  it("a run that cannot be sent to a fleet is refused, and so is a fleet for a run with a user present", async () => {
    const said = async (...args: string[]) => (await workspace.run([...args, "x"], { env: fleet })).stderr;
    expect(await said("-b", "--add-dir", workspace.home)).toContain("Cannot be sent to a fleet: --add-dir");
    expect(await said("-b", "--source", "git:https://me:secret@example.test/x")).toContain("holds a login");
    expect(await said("-b", "--source", "git")).toContain('no remote "origin"');
    expect(await said("-b", "--fleet", "local", "--pool", "gpu")).toContain("chooses among workers of a fleet");
    expect(await said("-p", "--fleet", url)).toContain("-b --fleet");
  });

  it("two services on the same fleet share the token, the runs and the patches", async () => {
    const ports: number[] = [];
    for (const home of [workspace.home, elsewhere]) {
      const config = join(home, ".cursor");
      trust(config, workspace.path);
      spawned(["serve"], { ...fleet, HOME: home, COURSER_SERVE_TOKEN: token });
      const file = join(config, "services", `${url.replace(/[^\w.-]+/g, "_")}.json`);
      await until(() => existsSync(file), "the service");
      ports.push(JSON.parse(readFileSync(file, "utf8")).port);
    }
    const [first, second] = ports.map((port) => ({ port, token }));
    const prompt = { text: "create c.txt with text 'three'" };
    const body = {
      prompt,
      workspace: workspace.path,
      model: { id: "offline" },
      force: true,
      env: { type: "pool", name: "default" },
    };
    const created = await send("/v1/agents", { ...first!, method: "POST", body });
    expect(created.status).toBe(201);
    const { agent, run } = created.body;
    await until(
      async () => (await send(`/v1/agents/${agent.id}/runs/${run.id}`, second!)).body.status === "FINISHED",
      "the run",
    );
    expect((await send(`/api/runs/${run.id}/patch`, second!)).text).toContain("+three");
    expect((await send("/api/workspaces", second!)).body.isFleet).toBe(true);
    const wrong = await send("/v1/agents", {
      ...first!,
      method: "POST",
      body: { ...body, repos: [{ url: "a" }, { url: "b" }] },
    });
    expect([wrong.status, wrong.body.error.message]).toEqual([400, "One repository for a run."]);
    const again = await workspace.run(["serve"], { env: fleet });
    expect(again.stderr).toContain("A service of yours is already running");
  });

  it("batch uploads a workspace to the fleet once for all its lines and writes each run's patch to the results", async () => {
    const lines = ["d", "e", "f"].map((id) => ({
      id,
      prompt: `create ${id}.txt with text '${id}'`,
      mode: "force",
      model: "offline",
    }));
    const input = workspace.file("../batch.jsonl", lines.map((line) => JSON.stringify(line)).join("\n"));
    const output = join(workspace.home, "results.jsonl");
    const { exit, stderr } = await workspace.run(["batch", input, "--output", output], { env: fleet });
    expect(stderr.match(/^Sent /gm)).toHaveLength(1);
    expect(exit).toBe(0);
    const results = readFileSync(output, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    for (const { id, outcome, patch } of results)
      expect([outcome, patch]).toEqual(["success", expect.stringContaining(`+++ b/${id}.txt`)]);
    expect(results).toHaveLength(3);
  });

  it("eval on a fleet runs the agent on a worker and verifies its patch locally", async () => {
    const file = (name: string, text: string) => workspace.file(join("../task", name), text);
    file("instruction.md", "Write done.txt.\n");
    file("task.toml", "");
    file("environment/.env", "GIVEN=1\n"); // what belongs to a task is no secret
    const calls = [{ name: "Shell", args: { command: "cp .env done.txt" } }];
    file("script.json", JSON.stringify([{ calls }, { text: "Done." }]));
    file("tests/test.sh", 'test "$(cat done.txt)" = GIVEN=1\n');
    const args = [
      "eval",
      join(workspace.path, "../task"),
      "--model",
      "script",
      "--sandbox",
      "disabled",
      "--format",
      "json",
    ];
    const { stdout, exit } = await workspace.run(args, { env: fleet });
    const [result] = JSON.parse(stdout).results;
    expect(result).toMatchObject({ status: "passed", agent: { steps: 2 } });
    expect(exit).toBe(0);
  });

  it("eval on a fleet reports repository changes that a patch does not carry", async () => {
    const task = join(repository, "eval/tasks/merge-conflict");
    const args = ["eval", task, "--model", "script", "--sandbox", "disabled", "--format", "json"];
    const { stdout } = await workspace.run(args, { env: fleet });
    const [result] = JSON.parse(stdout).results;
    expect(result.status).toBe("failed");
    expect(result.why).toContain(
      "What comes back is a patch of the files alone. A task that is verified by them is to be run without --fleet.",
    );
  });
});
