// `courser adapter doctor`: each thing that can be wrong with a CLI is named, with what to do about it.
import { afterAll, describe, expect, test } from "vitest";
import { type DoctorReport, diagnoseCli } from "../../src/adapter/doctor.ts";
import { fixture } from "../adapter/support.ts";
import { cli, createWorkspace } from "../support/run-cli.ts";

const workspace = createWorkspace();
afterAll(() => workspace.remove());

const env = { ...workspace.env, SEEN: `${workspace.path}/seen`, NAP: "30" };
const look = (command: readonly string[], more: object = {}) =>
  diagnoseCli({ command, cwd: workspace.path, env, timeoutMs: 4000, ...more });
const shell = (script: string, ...more: string[]) => ["bash", "-c", script, "cli", ...more];
const found = ({ findings }: DoctorReport, check: string) => findings.find((each) => each.check === check);
const problems = ({ findings }: DoctorReport) => findings.filter(({ status }) => status === "problem");

describe("adapter doctor", () => {
  test("adapter doctor accepts our own CLI in both styles, as text and as JSON", async () => {
    const text = await workspace.run(["adapter", "doctor", "--", cli, "auto", "--stream-json"]);
    expect(text.exit, text.stdout).toBe(0);
    expect(text.stdout).toContain("It speaks version 1.0.");
    expect(text.stdout).toContain("It answers while its stdin stays open");
    expect(text.stdout).toMatch(/It can be used\.\n$/);
    const json = await workspace.run([
      "adapter",
      "doctor",
      "--format",
      "json",
      cli,
      "-p",
      "--output-format",
      "stream-json",
    ]);
    expect(json.exit, json.stdout).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: true,
      style: "argument",
      runs: [{ name: "pipe", exitCode: 0 }, { name: "terminal" }],
    });
  });

  test("adapter doctor fails if something is wrong, and needs a command", async () => {
    const wrong = await workspace.run(["adapter", "doctor", "--timeout", "3", "--", fixture, "crash"]);
    expect(wrong.exit).toBe(1);
    expect(wrong.stdout).toContain("boom");
    expect(wrong.stdout).toMatch(/It cannot be used like this\.\n$/);
    expect((await workspace.run(["adapter", "doctor"])).stderr).toContain("needs <command...>");
    expect((await workspace.run(["adapter", "doctor", "--timeout", "soon", "--", "true"])).exit).toBe(2);
  });
});

// They mostly wait, and so at once.
describe("problems found by adapter doctor", () => {
  test("adapter doctor reports a CLI that does not exist", async () => {
    const report = await look(["no-such-cli"]);
    expect(report.findings).toMatchObject([
      { check: "program", status: "problem", message: expect.stringContaining("not found") },
    ]);
  });

  test.concurrent("adapter doctor reports exit code 1 without a message, in a pipe and on a terminal", async () => {
    const report = await look(["false"]);
    expect(report.ok).toBe(false);
    expect(found(report, "exit code")).toMatchObject({
      status: "problem",
      message: expect.stringContaining("code 1 and prints nothing"),
    });
    expect(found(report, "exit code")!.remedy).toContain("before it reads stdin");
    expect(found(report, "stderr")!.message).toContain("nothing on stderr");
    expect(found(report, "terminal")!.message).toMatch(/nothing in a terminal either|script\(1\) is missing/);
  });

  test.concurrent("adapter doctor reports exit code 0 without any frames", async () => {
    expect(found(await look(["true"]), "output")!.remedy).toContain("Is the flag");
    expect(found(await look(["true", "-p"]), "output")!.remedy).toContain("--output-format stream-json");
  });

  test.concurrent("adapter doctor reports a CLI that works only at a terminal", async () => {
    const report = await look(shell("if [ -t 0 ]; then echo 'Welcome! >'; sleep 1; fi; exit 1"));
    expect(found(report, "terminal")).toMatchObject({
      status: "problem",
      message: expect.stringContaining("writes to a terminal"),
    });
  });

  test.each([
    ["noise", "frames", "FRAME_MALFORMED"],
    ["cut", "frames", "FRAME_TRUNCATED"],
    ["not-utf8", "frames", "FRAME_ENCODING"],
    ["shape", "frames", "FRAME_SCHEMA"],
    ["unknown-version", "version", "FRAME_VERSION"],
    ["auth", "end of stream", "MODEL_AUTH_ERROR"],
    ["is-error", "end of stream", "in an error"],
    ["nothing", "output", "Nothing is printed"],
    ["signal", "exit code", "SIGKILL"],
  ])("adapter doctor reports the faulty CLI %s", async (scenario, check, message) => {
    const report = await look([fixture, scenario], { timeoutMs: 1500, env: { ...env, NAP: "0.1" } });
    expect(found(report, check)).toMatchObject({ status: "problem", message: expect.stringContaining(message) });
    expect(found(report, check)!.remedy).toMatch(/\S/);
  });

  test.concurrent("adapter doctor reports a CLI whose turn never ends, never stops printing, or that stays running", async () => {
    const delta = `echo '{"type":"assistant_delta","data":{"content":"a"}}'`;
    expect(found(await look(shell('echo \'{"type":"x"}\'')), "end of stream")!.message).toContain("never ends");
    expect(found(await look([fixture, "hang"], { timeoutMs: 700 }), "exit code")!.message).toContain("did not exit");
    expect(found(await look([fixture, "hang-after-result"], { timeoutMs: 700 }), "exit code")).toMatchObject({
      status: "warning",
    });
    const report = await look(shell(delta));
    expect(problems(report)).toEqual([]);
    expect(found(report, "end of stream")!.message).toContain("exit code 0 after an answer");
  });

  test.concurrent("adapter doctor reports a CLI that reads stdin to its end", async () => {
    const report = await look([fixture, "read-whole"]);
    expect(report.ok).toBe(true);
    expect(found(report, "open stdin")).toMatchObject({
      status: "warning",
      remedy: expect.stringContaining("closeStdinAfterMs"),
    });
  });

  test.concurrent("adapter doctor reports rejected flags and a missing login", async () => {
    const flags = await look([fixture, "refuse-flags", "-p"]);
    expect(found(flags, "headless flags")).toMatchObject({
      status: "problem",
      message: "It does not take --approve-mcps.",
    });
    const login = await look([fixture, "auth-words"]);
    expect(found(login, "stderr")!.remedy).toContain("Log in");
  });

  test("adapter doctor shows the CLI's output without secrets", async () => {
    const token = `ghp_${"Q7w3E9r1T5y8U2i6O0p4A1sQ7w3E9r1T5y8U"}`;
    const report = await look(shell(`echo ${token} >&2; exit 1`));
    expect(JSON.stringify(report.findings) + report.runs.map(({ stderr }) => stderr).join()).not.toContain(token);
  });
});
