// `batch`: every line is checked before the first run, each is done once whatever happens in between, and one line tells of each.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { CliRun } from "../support/run-cli.ts";
import { beginnings, TestService, until } from "./service-support.ts";

const service = new TestService();
const { workspace } = service;
afterAll(() => service.remove());

let count = 0;

function batchOf(lines: readonly unknown[]) {
  const name = `batch-${++count}`;
  const input = workspace.file(`${name}.jsonl`, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const output = join(workspace.path, `${name}.results.jsonl`);
  const results = () =>
    existsSync(output)
      ? readFileSync(output, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Record<string, any>)
      : [];
  return { input, output, results, args: ["batch", input, "--output", output] };
}

const slow = (seconds: number, text: string) =>
  service.script([{ calls: [{ name: "Shell", args: { command: `sleep ${seconds}` } }] }, { text }]);

describe("batch", () => {
  it("batch checks every line before the first run, and names faulty ones", async () => {
    const { args, output } = batchOf([
      { prompt: "fine", model: "offline" },
      { prompt: "x", modle: "offline" },
      { id: "a", prompt: "x" },
      { id: "a", prompt: "" },
      { id: "a", prompt: "x" },
      { prompt: "x", workspace: "missing" },
      { prompt: "x", pool: "gpu" },
      { prompt: "x", source: "svn:somewhere" },
    ]);
    const { exit, stderr } = await workspace.run(args);
    expect(exit).toBe(2);
    expect(stderr).toContain("6 lines are wrong, and no run was begun");
    expect(stderr).toContain('line 2: The run request has an unknown field "modle" (did you mean "mode"?)');
    expect(stderr).toContain('line 4: "prompt" must be a text');
    expect(stderr).toContain('line 5: Its id "a" is that of line 3');
    for (const number of [6, 7, 8]) expect(stderr).toContain(`line ${number}: `);
    expect(existsSync(output)).toBe(false);
    expect(await service.fleet.runs()).toEqual([]);
  });

  it("batch uses the CLI of --cli for lines that name none", async () => {
    const { args, results } = batchOf([{ prompt: "x" }, { prompt: "what is 2+2?", cli: "courser", model: "offline" }]);
    const wrong = await workspace.run([...args, "--cli", "nobody"]);
    expect(wrong.stderr).toContain('--cli cannot be "nobody". It must be one of courser, cursor, claude');
    const env = { CLAUDE_PATH: join(workspace.path, "missing/claude") };
    await workspace.run([...args, "--cli", "claude", "--trust"], { env, timeoutMs: 120_000 });
    const [claude, ours] = results().sort((one, other) => one["line"] - other["line"]);
    expect(JSON.stringify(claude)).toContain("CLI_NOT_FOUND");
    expect(ours).toMatchObject({ outcome: "success" });
  });

  it("batch runs each line, writes results and a summary, and does not repeat finished lines", async () => {
    const { args, results } = batchOf([
      { id: 1, prompt: "create one.txt with text '1'", model: "offline", mode: "force" },
      {
        id: "two",
        prompt: "remove it",
        permissions: { allow: ["Write(other/**)"] },
        model: service.script([{ calls: [{ name: "Delete", args: { path: "b" } }] }, { text: "refused" }]),
      },
      { prompt: "what nobody understands, and never will", model: "offline" },
    ]);
    workspace.file("b", "stays");
    const first = await workspace.run(args);
    expect(first.exit).toBe(1);
    expect(first.stdout).toMatch(
      /^3 runs: 2 passed, 1 failed\. .*\n {2}✗ [0-9a-f]{12} \(line 3\) error: .*\[OFFLINE_LIMIT\]\nTo rerun the failed ones: .* --retry-failed\n$/s,
    );
    expect(first.stderr).toMatch(/✓ \d\/3 two/);
    expect(readFileSync(join(workspace.path, "one.txt"), "utf8")).toContain("1");
    expect(existsSync(join(workspace.path, "b"))).toBe(true); // nobody was there to be asked
    const byId = new Map(results().map((result) => [result["id"], result]));
    expect(byId.get("1")).toMatchObject({
      line: 1,
      attempt: 1,
      outcome: "success",
      turns: 1,
      sessionId: expect.any(String),
      usage: { inputTokens: expect.any(Number) },
    });
    expect(byId.get("two")).toMatchObject({ outcome: "success", text: "refused", denials: [{}] });
    expect(existsSync(`${args[3]}.state`)).toBe(false);

    const again = await workspace.run([...args, "--format", "json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ total: 3, passed: 2, failed: 1, notStarted: 0, stillRunning: [] });
    expect(results()).toHaveLength(3);

    await workspace.run([...args, "--retry-failed"]);
    expect(results().map(({ attempt }) => attempt)).toEqual([1, 1, 1, 2]);
  });

  it("a killed batch resumes and runs each line once", async () => {
    const lines = ["a", "b", "c", "d"].map((id) => ({
      id,
      prompt: "go",
      model: slow(id === "a" ? 0 : 3, id),
      mode: "force",
    }));
    const { args, results } = batchOf(lines);
    await killed([...args, "--concurrency", "3"], "SIGKILL", async () => {
      const running = await service.fleet.runs({ states: ["running"] });
      return results().length === 1 && running.filter(({ sessionId }) => sessionId !== undefined).length === 3;
    });
    const ran = (await service.fleet.runs({ states: ["running", "queued"] })).map(({ id }) => id);
    expect(ran.length).toBeGreaterThan(0);
    writeFileSync(args[3]!, `${readFileSync(args[3]!, "utf8")}{"id":"torn`);
    const { exit, stdout } = await workspace.run(args);
    expect([exit, stdout]).toEqual([0, expect.stringMatching(/^4 runs: 4 passed, 0 failed\./)]);
    expect(
      results()
        .map(({ id, text }) => `${id}${text}`)
        .sort(),
    ).toEqual(["aa", "bb", "cc", "dd"]);
    expect(results().map(({ run }) => run)).toEqual(expect.arrayContaining(ran));
    for (const { run } of results()) expect(await beginnings(service.fleet, run)).toBe(1);
  });

  it("on Ctrl+C batch lets running lines finish, starts no more, and says how to resume", async () => {
    const { args, results } = batchOf(
      [1, 2, 3].map((id) => ({ id, prompt: "go", model: slow(1, "ok"), mode: "force" })),
    );
    const stopped = await killed([...args, "--concurrency", "1"], "SIGINT", async () =>
      (await service.fleet.runs({ states: ["running"] })).some(({ sessionId }) => sessionId !== undefined),
    );
    expect(stopped.exit, stopped.stdout + stopped.stderr).toBe(130);
    expect(stopped.stderr).toContain("Waiting for 1 run");
    expect(stopped.stdout).toMatch(/^3 runs: 1 passed, 0 failed, 2 not started\..*\nTo go on: .*batch /);
    expect(results()).toHaveLength(1);
    expect((await workspace.run(args)).exit).toBe(0);
    expect(
      results()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(["1", "2", "3"]);
  });

  it("batch --max-cost starts no more runs beyond the limit, with stdin and stdout", async () => {
    const reply = { text: "ok", usage: { inputTokens: 1_000_000, outputTokens: 0 } };
    const lines = [1, 2, 3].map((id) => ({
      id,
      prompt: "go",
      model: service.script([reply]),
      price: { input: 2, output: 0 },
    }));
    const stdin = lines.map((line) => JSON.stringify(line)).join("\n");
    const { exit, stdout, stderr } = await workspace.run(["batch", "-", "--max-cost", "3", "--concurrency", "1"], {
      stdin,
    });
    expect(exit, stdout + stderr).toBe(1);
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).costUsd),
    ).toEqual([2, 2]);
    expect(stderr).toContain("3 runs: 2 passed, 0 failed, 1 not started. $4.00");
    expect(stderr).toContain("--max-cost was reached");
  });
});

/** Sends the signal when it is so. */
async function killed(
  args: readonly string[],
  signal: NodeJS.Signals,
  isSo: () => boolean | Promise<boolean>,
): Promise<CliRun> {
  let sent: Promise<void> | undefined;
  const run = await workspace.run(args, {
    onStart: (child) => {
      sent = until(isSo, "the moment").then(() => void child.kill(signal));
    },
  });
  await sent;
  return run;
}
