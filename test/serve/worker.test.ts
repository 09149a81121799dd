// Workers: the workspaces that they make, how they take runs and leave, what they tell about themselves.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { afterAll, describe, expect, it } from "vitest";
import type { RunEnd, WorkspaceSource } from "../../src/serve/fleet.ts";
import { unpackArchive } from "../../src/serve/worker/archive.ts";
import { managementAddress } from "../../src/serve/worker/management.ts";
import { until } from "./service-support.ts";
import { linesOf, TestFleet, toldTo } from "./worker-support.ts";

const fleet = new TestFleet();
afterAll(() => fleet.remove());
const { home } = fleet.workspace;
const data = join(home, ".cache/courser/worker");
const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trim();

/** A run of one command. */
const script = (command: string) =>
  `script:${fleet.workspace.file(join(home, `${Math.random()}.json`), JSON.stringify([{ calls: [{ name: "Shell", args: { command } }] }, { text: "done" }]))}`;

async function carryOut(
  source: WorkspaceSource,
  command: string,
  request: object = {},
): Promise<RunEnd & { id: string }> {
  const id = await fleet.enqueue(fleet.spec({ source }, { model: script(command), ...request }));
  const worker = fleet.start(["--single-use", "--idle-release-timeout", "20"]);
  const { end } = await fleet.over(id);
  expect(await worker.ended).toBe(end!.outcome === "finished" ? 0 : 1);
  return { ...end!, id };
}

describe("a workspace", () => {
  it("a worker runs a repository's workspace in the sandbox, returns a patch and a branch, and removes it", {
    timeout: 40_000,
  }, async () => {
    const repository = fleet.repository({ "a.txt": "one\n", ".gitignore": "ignored\n", "data.bin": "\0\x01\xff" });
    const command =
      "git log --oneline && echo fleet=$COURSER_FLEET. && echo two >> a.txt && echo x > ignored && printf '\\0\\2' > new.bin && rm data.bin";
    const { sandbox: _none, ...plain } = fleet.spec({}).request;
    const source = { type: "git", from: repository, ref: "main" } as const;
    const id = await fleet.enqueue({ ...fleet.spec({ source }), request: { ...plain, model: script(command) } });
    const worker = fleet.start(["--single-use"], { COURSER_FLEET: "local" });
    const { end } = await fleet.over(id);
    const log = JSON.stringify(await fleet.log(id));
    expect(end, `${log}${worker.said()}`).toMatchObject({
      outcome: "finished",
      branch: `courser/${id}`,
      patch: "patch",
    });
    expect(log).toContain("fleet=.\\n"); // agents know no fleet
    expect(log).toContain(" first\\n"); // what the command printed of the history
    expect(git(repository, "diff", "--name-status", "main", `courser/${id}`).split("\n")).toEqual([
      "M\ta.txt",
      "D\tdata.bin",
      "A\tnew.bin",
    ]);
    const patch = join(home, "patch");
    writeFileSync(patch, await fleet.object(id, "patch"));
    git(repository, "apply", "--index", patch);
    expect(git(repository, "write-tree")).toBe(git(repository, "rev-parse", `courser/${id}^{tree}`));
    git(repository, "reset", "--hard", "--quiet");
    await worker.ended;
    expect(readdirSync(join(data, "runs"))).toEqual([]);
    expect(readdirSync(join(data, "repositories"))).toHaveLength(1);
    const next = fleet.start(["--data-dir", data, "--cache-size", "0", "--idle-release-timeout", "0.1"]);
    expect(await next.ended).toBe(0);
    expect(next.said()).toMatch(/removed 1 kept repository, \d+\.\d MB/);
    expect(readdirSync(join(data, "repositories"))).toEqual([]);
  });

  it("a worker copies a workspace folder without following its links", { timeout: 40_000 }, async () => {
    const folder = join(home, "folder");
    mkdirSync(folder);
    writeFileSync(join(folder, "b.txt"), "b\n");
    symlinkSync("/etc/hostname", join(folder, "out"));
    const end = await carryOut({ type: "folder", path: folder }, "test -L out && echo more >> b.txt");
    expect(end).toMatchObject({ outcome: "finished", patch: "patch" });
    expect(end.branch).toBeUndefined();
    expect(readFileSync(join(folder, "b.txt"), "utf8")).toBe("b\n");
    expect((await fleet.object(end.id, "patch")).toString()).toContain("+more");
  });

  it("any agent CLI can run in a worker's workspace, and its changes are returned", { timeout: 40_000 }, async () => {
    const lines = [
      { type: "system", subtype: "init", session_id: "s1", cwd: "/", tools: [], model: "m" },
      { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: "hi" }] }, session_id: "s1" },
      { type: "result", subtype: "success", is_error: false, result: "hi", session_id: "s1", duration_ms: 1 },
    ];
    const stream = lines.map((line) => JSON.stringify(line)).join("\n");
    const claude = fleet.workspace.file(
      join(home, "bin/claude"),
      `#!/bin/sh\n[ "$1" = --version ] && echo "2.1.197 (Claude Code)" && exit\necho made >made.txt\ncat <<'END'\n${stream}\nEND\n`,
    );
    chmodSync(claude, 0o755);
    const source = { type: "folder", path: join(home, "folder") } as const;
    const request = { workspace: home, force: true };
    const id = await fleet.enqueue({
      cli: "claude",
      request,
      prompt: { text: "go" },
      source,
      onWorkerLoss: "continue",
    });
    fleet.start(["--single-use"], { PATH: `${join(home, "bin")}:${fleet.workspace.env["PATH"]}` });
    expect((await fleet.over(id)).end).toMatchObject({ outcome: "finished", text: "hi", patch: "patch" });
    expect((await fleet.object(id, "patch")).toString()).toContain("+++ b/made.txt");
  });

  it("a run whose source a worker does not accept ends with an error", { timeout: 60_000 }, async () => {
    const worker = fleet.start(["--concurrency", "4", "--pool", "refusals", "--idle-release-timeout", "1"]);
    const wrong: [WorkspaceSource, RegExp][] = [
      [{ type: "git", from: "ext::sh -c touch% /tmp/x" }, /not a repository that a worker takes/],
      [{ type: "git", from: "--upload-pack=touch x" }, /not a repository that a worker takes/],
      [{ type: "git", from: "https://someone:secret@example.com/r.git" }, /Runs carry no secrets/],
      [{ type: "git", from: join(home, "repository"), ref: "--output=x" }, /not a name of a branch/],
      [
        { type: "git", from: join(home, "repository"), ref: "nowhere" },
        /does not have a branch, tag or commit 'nowhere'/,
      ],
      [{ type: "folder", path: "/does/not/exist" }, /does not exist on this worker/],
      [{ type: "archive", object: "missing" }, /does not exist/],
    ];
    for (const [source, message] of wrong) {
      const id = await fleet.enqueue(fleet.spec({ source, placement: { pool: "refusals" } }));
      const { end } = await fleet.over(id);
      expect(end).toMatchObject({ outcome: "error", text: expect.stringMatching(message) });
      expect(end!.text).not.toContain("someone:secret");
    }
    expect(await worker.ended).toBe(0);
    expect(worker.said()).toContain("7 runs, leaving");
  });
});

describe("an archive", () => {
  const into = () => join(home, `unpacked-${Math.random()}`);
  const archive = async (entries: Parameters<typeof packTar>[0]) =>
    (async function* () {
      yield gzipSync(await packTar(entries));
    })();
  const file = (name: string, body = "x") => ({ header: { name, size: body.length, type: "file" as const }, body });
  const link = (name: string, linkname: string) => ({ header: { name, size: 0, type: "symlink" as const, linkname } });

  it("a worker unpacks an uploaded archive", async () => {
    const folder = into();
    await unpackArchive(await archive([file("a/b.txt", "hello"), link("a/c", "b.txt")]), folder);
    expect(readFileSync(join(folder, "a/c"), "utf8")).toBe("hello");
  });

  it.each([
    ["an absolute path", [file("/tmp/courser-evil")]],
    ["a way up", [file("a/../../evil")]],
    ["a link out", [link("a", "../../outside")]],
    ["a link to anywhere", [link("a", "/etc")]],
    ["a file behind a link out", [link("a", "/tmp"), file("a/evil")]],
  ])("a worker refuses an uploaded archive with %s", async (_name, entries) => {
    await expect(unpackArchive(await archive(entries), into())).rejects.toThrow(/leads outside of it/);
    expect(existsSync("/tmp/courser-evil")).toBe(false);
  });

  it("a worker refuses an uploaded archive that is too large, or is none", async () => {
    const entries = [file("a", "0123456789"), file("b")];
    await expect(unpackArchive(await archive(entries), into(), { files: 9, bytes: 5 })).rejects.toThrow(/too large/);
    await expect(unpackArchive(await archive(entries), into(), { files: 1, bytes: 99 })).rejects.toThrow(/too large/);
    const noise = (async function* () {
      yield Buffer.from("not an archive");
    })();
    await expect(unpackArchive(noise, into())).rejects.toThrow(/cannot be unpacked/);
  });
});

describe("a worker", () => {
  const get = (port: number, path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
        let text = "";
        response.on("data", (chunk) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode!, text }));
      });
      sent.on("error", reject);
      sent.end();
    });

  it("a worker reports its health, runs several at once, and returns continuable runs when it drains", {
    timeout: 60_000,
  }, async () => {
    await fleet.answer((request) =>
      !toldTo(request).text.includes("not run again")
        ? { toolCalls: [{ name: "Shell", args: { command: `echo begun >> ${join(home, "begun")}; sleep 60` } }] }
        : { text: "went on" },
    );
    const pool = ["--pool", "drained"];
    const worker = fleet.start([
      ...pool,
      "--concurrency",
      "2",
      "--grace",
      "0.5",
      "--management-addr",
      ":0",
      "--label",
      "os=linux",
      "--name",
      "w1",
    ]);
    await until(() => /http:\S+:(\d+)\/metrics/.test(worker.said()), "its address");
    const port = Number(/http:\S+:(\d+)\/metrics/.exec(worker.said())![1]);
    const placement = { pool: "drained", labels: { os: "linux" } };
    const one = await fleet.enqueue(fleet.spec({ placement, onWorkerLoss: "continue" }));
    const other = await fleet.enqueue(fleet.spec({ placement }));
    await until(() => linesOf(join(home, "begun")).length === 2, "both runs");
    expect(await get(port, "/healthz")).toEqual({ status: 200, text: "ok\n" });
    const metrics = (await get(port, "/metrics")).text;
    expect(metrics).toContain('courser_worker_info{name="w1",pool="drained"');
    expect(metrics).toMatch(/^courser_worker_runs_running 2$/m);
    expect(metrics).not.toContain("sk-test-of-the-worker");
    expect((await get(port, "/metrics", { host: "evil.example" })).status).toBe(403);
    expect((await get(port, "/elsewhere")).status).toBe(401);

    worker.child.kill("SIGTERM");
    await until(async () => (await get(port, "/readyz").catch(() => ({ status: 503 }))).status === 503, "not ready");
    expect(await worker.ended).toBe(0);
    expect((await fleet.over(other)).end).toMatchObject({ outcome: "cancelled", code: "TERMINATED" });
    expect((await fleet.fleet.run(one))!.state).toBe("queued");
    fleet.start([...pool, "--label", "os=linux", "--single-use"]);
    expect((await fleet.over(one)).end).toMatchObject({
      outcome: "finished",
      text: expect.stringContaining("went on"),
    });
    expect(linesOf(join(home, "begun"))).toHaveLength(2);
  });

  it("worker debug reports which runs it would take and what is missing", async () => {
    const good = await fleet.workspace.run(["worker", "--pool", "gpu", "debug", "--json", "--label", "os=linux"], {
      env: { OPENAI_API_KEY: "sk-secret" },
    });
    expect([good.exit, good.stdout.includes("sk-secret")]).toEqual([0, false]);
    expect(JSON.parse(good.stdout)).toMatchObject({ usable: true, pool: "gpu", labels: { os: "linux" } });
    expect(good.stdout).toContain("OPENAI_API_KEY");
    const bad = await fleet.workspace.run(["worker", "debug", "--fleet", "nats://127.0.0.1:1"]);
    expect([bad.exit, bad.stdout.includes("✗ ")]).toEqual([1, true]);
    for (const args of [
      ["--concurrency", "0"],
      ["--name", "a b"],
      ["--management-addr", "nowhere"],
      ["--label", "x"],
    ])
      expect((await fleet.workspace.run(["worker", "start", ...args])).exit, args.join(" ")).not.toBe(0);
  });

  it("a worker listens on loopback unless told otherwise", () => {
    expect(
      ["8080", ":8080", "localhost:8080", "[::1]:8080", "0.0.0.0:8080"].map(managementAddress).map(({ host }) => host),
    ).toEqual(["127.0.0.1", "127.0.0.1", "127.0.0.1", "::1", "0.0.0.0"]);
  });
});
