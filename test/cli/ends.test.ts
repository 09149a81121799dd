// How a run ends when something outside of it goes wrong: the output, the time, a signal.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { type CliOptions, cli, createWorkspace } from "../support/run-cli.ts";

const places: { remove(): void }[] = [];
afterAll(() => {
  for (const each of places) each.remove();
});

function place(files: Record<string, string> = {}) {
  const workspace = createWorkspace(files);
  places.push(workspace);
  return workspace;
}

/** With the streams of the process laid as a shell does it. */
async function inShell(redirects: string, args: readonly string[], script: unknown = [{ text: "hello" }]) {
  const { path, env, home } = place();
  const file = join(home, "script.json");
  writeFileSync(file, JSON.stringify(script));
  const words = [cli, ...args.map((word) => word.replace("SCRIPT", `script:${file}`))];
  const child = spawn("bash", ["-c", `"$@" ${redirects}`, "run", process.execPath, ...words], { cwd: path, env });
  const said = { stdout: "", stderr: "" };
  child.stdin.end();
  for (const name of ["stdout", "stderr"] as const) child[name].on("data", (chunk) => (said[name] += chunk));
  const exit = await new Promise((resolve) => child.on("close", resolve));
  return { exit, ...said };
}

describe.concurrent("output that cannot be written", () => {
  const run = ["-p", "--force", "--model", "SCRIPT"];
  const long = [{ text: "x".repeat(200_000) }];
  test.each([
    ["text", [...run, "go"], undefined],
    ["text, long", [...run, "go"], long],
    ["json", [...run, "--output-format", "json", "go"], undefined],
    ["stream-json", [...run, "--output-format", "stream-json", "go"], undefined],
    ["stream-json, long", [...run, "--output-format", "stream-json", "--stream-partial-output", "go"], long],
    ["--help", ["--help"], undefined],
    ["--version", ["--version"], undefined],
    ["ls", ["ls"], undefined],
    ["models", ["models"], undefined],
    ["mcp list", ["mcp", "list"], undefined],
    ["permissions check", ["permissions", "check", "Shell: ls"], undefined],
    ["permissions list", ["permissions", "list", "--format", "json"], undefined],
  ] as const)("%s is reported once, with exit code 1", { timeout: 30_000 }, async (_name, args, script) => {
    const { exit, stderr } = await inShell("> /dev/full", args, script);
    expect({ exit, said: stderr.match(/cannot be written.*\[STORE_FULL\]/g)?.length }).toEqual({ exit: 1, said: 1 });
  });

  test("a full disk behind stderr gives exit code 1 if there was something to print", async () => {
    const notice = [{ calls: [{ name: "Read", args: { path: "/etc/hostname" } }] }, { text: "hello" }];
    const told = await inShell("2> /dev/full", ["-p", "--trust", "--model", "SCRIPT", "go"], notice);
    expect(told).toMatchObject({ exit: 1, stdout: "hello\n" });
    expect(await inShell("2> /dev/full", [...run, "go"])).toMatchObject({ exit: 0, stdout: "hello\n" });
  });

  test("when the reader of its stdout closes the pipe, a run ends without an error message", async () => {
    expect(await inShell("| head -c 5; exit ${PIPESTATUS[0]}", [...run, "go"], long)).toEqual({
      exit: 141,
      stdout: "xxxxx",
      stderr: "",
    });
  });
});

const much = Array.from({ length: 12 }, (_, index) => ({
  calls: [{ name: "Write", args: { path: `f${index}`, contents: "x".repeat(200_000) } }],
}));

/** Stops reading before the first byte. */
const unread: CliOptions["onStart"] = (child) => {
  child.stdout!.removeAllListeners("data");
  child.stdout!.pause();
  child.on("exit", () => child.stdout!.destroy());
};

describe.concurrent("--max-time", () => {
  const limit = ["--max-time", "1s"];
  const command = [{ calls: [{ name: "Shell", args: { command: "echo 1" } }] }, { text: "ok" }];
  const hook = (event: string) => {
    const workspace = place();
    mkdirSync(workspace.config, { recursive: true });
    const hooks = { version: 1, hooks: { [event]: [{ command: "sleep 97" }] } };
    writeFileSync(join(workspace.config, "hooks.json"), JSON.stringify(hooks));
    return workspace;
  };
  // What hangs would take a minute and a half; a slow machine takes its time.
  const ended = async (run: ReturnType<ReturnType<typeof place>["run"]>, within = 20_000) => {
    const { exit, ms, lines, stderr } = await run;
    expect(stderr).toContain("[MAX_TIME]");
    expect(lines().filter(({ type }) => type === "result")).toMatchObject([{ error_code: "MAX_TIME" }]);
    expect(exit).toBe(1);
    expect(ms).toBeLessThan(within);
  };

  test("a run whose stdin is left open ends by itself", () =>
    ended(place().play([{ text: "ok" }], [...limit, "tell", "-"], { stdin: "open" })));
  test("a run that expects prompts on stdin ends at its time limit if the host sends nothing", () =>
    ended(
      place().run(["-p", "--force", "--output-format", "stream-json", "--input-format", "stream-json", ...limit], {
        stdin: "open",
      }),
    ));
  test.each(["sessionStart", "beforeSubmitPrompt", "beforeShellExecution"])(
    "a run with a hanging hook ends by itself: %s",
    (event) => ended(hook(event).play(command, limit)),
  );
  test("a run with a hook that hangs after the answer ends by itself", async () => {
    const { exit, ms } = await hook("sessionEnd").play(command, ["--max-time", "5s"]);
    expect(exit).toBe(0);
    expect(ms).toBeLessThan(20_000);
  });
  test("a run with an MCP server that does not start ends by itself", () => {
    const workspace = place();
    const file = join(workspace.home, "servers.json");
    writeFileSync(file, JSON.stringify({ mcpServers: { slow: { command: "sleep", args: ["96"] } } }));
    return ended(workspace.play([{ text: "ok" }], [...limit, "--mcp-config", file]));
  });
  test("a run whose --ask-command does not answer ends by itself", () =>
    ended(
      place({ "a.txt": "a" }).run([
        ...["-p", "--trust", "--output-format", "stream-json", "--ask-command", "sleep 95", ...limit],
        ...["--model", scriptFile([{ calls: [{ name: "Delete", args: { path: "a.txt" } }] }, { text: "ok" }]), "go"],
      ]),
    ));
  test("a run whose model says nothing ends by itself", async () => {
    await using server = await modelServer([{ acceptOnly: true }]);
    await ended(
      place().run(
        [
          "-p",
          "--force",
          "--output-format",
          "stream-json",
          "--endpoint",
          `${server.url}/v1`,
          "--model",
          "m",
          ...limit,
          "go",
        ],
        { env: { OPENAI_API_KEY: "none-at-all" } },
      ),
    );
  });
  test("a run ends in time if nobody reads its output any more", async () => {
    const { exit, ms, stderr } = await place().play(much, limit, { onStart: unread });
    expect(exit).toBe(1);
    expect(stderr).toContain("[MAX_TIME]");
    expect(ms).toBeLessThan(20_000);
  });
});

function scriptFile(script: unknown): string {
  const workspace = place();
  const file = join(workspace.home, "script.json");
  writeFileSync(file, JSON.stringify(script));
  return `script:${file}`;
}

describe.concurrent("a signal", () => {
  const deaf = [{ calls: [{ name: "Shell", args: { command: "trap '' TERM; sleep 98" } }] }];
  test.each([
    ["and a stalled reader", much],
    ["a stalled reader and a deaf command", [...much, ...deaf]],
  ])("a signal %s ends the run without waiting for the grace period", async (_name, script) => {
    let at = 0;
    const { exit, stderr } = await place().play(script, [], {
      onStart(child) {
        unread(child);
        setTimeout(() => {
          at = performance.now();
          child.kill("SIGTERM");
        }, 1500);
      },
    });
    expect(performance.now() - at).toBeLessThan(5800); // the grace period is six seconds, one and a half is usual
    expect(exit).toBe(143);
    expect(stderr).toContain("[TERMINATED]");
  });

  test.each([5, 300])("a second signal %d ms later changes nothing", async (pause) => {
    const { exit, lines } = await place().play(deaf, [], {
      onStart(child) {
        child.stdout!.on("data", (chunk) => {
          if (!String(chunk).includes('"started"')) return;
          child.kill("SIGTERM");
          setTimeout(() => child.kill("SIGTERM"), pause);
        });
      },
    });
    const ends = lines().filter(({ type, subtype }) => type === "result" || subtype === "completed");
    expect(ends.map(({ type }) => type)).toEqual(["tool_call", "result"]);
    expect(lines().at(-1)).toMatchObject({ error_code: "TERMINATED" });
    expect(exit).toBe(143);
  });

  test("a run that receives many signals still prints its result and has the right exit code", async () => {
    const { exit, lines } = await place().play([{ delayMs: 60_000, text: "late" }], [], {
      onStart(child) {
        child.stdout!.once("data", () => {
          const hail = setInterval(() => child.kill("SIGTERM"), 1);
          child.on("exit", () => clearInterval(hail));
        });
      },
    });
    expect(exit).toBe(143);
    expect(lines().filter(({ type }) => type === "result")).toMatchObject([{ error_code: "TERMINATED" }]);
  });

  test("SIGQUIT ends a run as SIGTERM does", async () => {
    const { exit, lines } = await place().play([{ delayMs: 60_000, text: "late" }], [], {
      onStart: (child) => child.stdout!.once("data", () => child.kill("SIGQUIT")),
    });
    expect(exit).toBe(143);
    expect(lines().at(-1)).toMatchObject({ type: "result", error_code: "TERMINATED" });
  });

  test("a signal that arrives while the program is still loading ends it", async () => {
    // The process itself says when its first line runs: from there on every signal has its result.
    const workspace = place();
    const early = join(workspace.home, "early.cjs");
    writeFileSync(early, 'setImmediate(() => {}); process.nextTick(() => process.kill(process.pid, "SIGTERM"));');
    const { exit, lines } = await workspace.play([{ delayMs: 60_000, text: "late" }], [], {
      env: { NODE_OPTIONS: `--require ${early}` },
    });
    expect(lines().filter(({ type }) => type === "result")).toMatchObject([{ error_code: "TERMINATED" }]);
    expect(exit).toBe(143);
  });
});

describe("a program whose files are removed while it runs", () => {
  test("a run whose program files are removed meanwhile prints one result and warns of what it could not clean up", {
    timeout: 60_000,
  }, async () => {
    const { path, env, home } = place();
    const program = join(home, "program");
    cpSync(join(cli, "../cli"), join(program, "dist/cli"), { recursive: true });
    cpSync(cli, join(program, "dist/courser.cjs"));
    cpSync(join(cli, "../../package.json"), join(program, "package.json"));
    symlinkSync(join(cli, "../../node_modules"), join(program, "node_modules"));
    const script = join(home, "script.json");
    const remove = { calls: [{ name: "Shell", args: { command: `rm -r ${join(program, "dist")}` } }] };
    writeFileSync(script, JSON.stringify([remove, { text: "Done." }]));
    const args = ["-p", "--force", "--output-format", "stream-json", "--model", `script:${script}`, "go"];
    const child = spawn(process.execPath, [join(program, "dist/courser.cjs"), ...args], { cwd: path, env });
    child.stdin.end();
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) child[name].on("data", (chunk) => (said[name] += chunk));
    const exit = await new Promise((resolve) => child.on("close", resolve));
    const results = said.stdout.split("\n").filter((line) => line.startsWith('{"type":"result"'));
    expect(results.map((line) => JSON.parse(line).result)).toEqual(["Done."]);
    expect(said.stderr).toMatch(/^Warning: .*no such file/);
    expect(exit).toBe(0);
  });
});
