// --log FILE of the built program.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let here: Workspace;
let file: string;

beforeEach(() => {
  here = createWorkspace({ "a.txt": "hello\n" });
  file = join(here.home, "run.log");
});

afterEach(() => here.remove());

const lines = () =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, any>);

it("the run log has a line for each event and is appended to", async () => {
  here.file(".cursor/cli.json", JSON.stringify({ permissions: { deny: ["Read(secret.txt)"] } }));
  here.file(".cursor/hooks.json", JSON.stringify({ version: 1, hooks: { stop: [{ command: "true" }] } }));
  const script = [
    {
      calls: [
        { name: "Read", args: { path: "a.txt" } },
        { name: "Read", args: { path: "secret.txt" } },
      ],
    },
    { calls: [{ name: "Shell", args: { command: "exit 3" } }] },
    { text: "done" },
  ];
  const run = await here.play(script, ["--trust", "--log", file]);
  expect([run.exit, run.stderr]).toEqual([0, ""]);
  const said = lines();
  for (const line of said) {
    expect(Object.keys(line).slice(0, 3)).toEqual(["time", "level", "event"]);
    expect(new Date(line["time"]).toISOString()).toBe(line["time"]);
    expect(["debug", "info", "warn", "error"]).toContain(line["level"]);
  }
  const events = said.map(({ event }) => event);
  expect(events[0]).toBe("start");
  expect(events.at(-1)).toBe("end");
  for (const event of ["init", "prompt", "model_request", "model_reply", "tool_start", "tool_end", "hook", "result"])
    expect(events).toContain(event);
  expect(
    said.filter(({ event }) => event === "tool_end").map(({ tool, outcome, exit }) => [tool, outcome, exit]),
  ).toEqual(
    expect.arrayContaining([
      ["read", "success", undefined],
      ["read", "rejected", undefined],
      ["shell", "failure", 3],
    ]),
  );
  expect(said.find(({ outcome }) => outcome === "rejected")!["reason"]).toMatch(/secret\.txt/);
  expect(said.find(({ event }) => event === "result")).toMatchObject({
    status: "success",
    denials: [expect.anything()],
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const before = said.length;
  await here.play([{ text: "again" }], [], { env: { COURSER_LOG: file } });
  expect(lines().length).toBeGreaterThan(before);
});

it("the run log contains no keys or secrets from command line, environment, tools or model", async () => {
  const [key, token, header, seen] = [
    "kx-AAAA1111bbbb2222cccc",
    "Zq81mmPPxx02kkQQ99",
    "hh-7766554433221100",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  ];
  const script = [
    { calls: [{ name: "Shell", args: { command: `echo ${seen}; exit 4` } }] },
    { error: { code: "MODEL_REFUSED", message: `no ${key} ${token} ${header}` } },
  ];
  const run = await here.play(script, ["--log", file, "--api-key", key, "-H", `X-Auth: ${header}`], {
    env: { SERVICE_TOKEN: token },
  });
  expect(run.exit).toBe(1);
  const text = readFileSync(file, "utf8");
  expect(text).toContain("MODEL_REFUSED");
  for (const secret of [key, token, header, seen]) expect(text).not.toContain(secret);
});

it("the run log contains retries, and runs that could not start", async () => {
  await using server = await modelServer([{ status: 503, headers: { "retry-after": "0" } }, { text: "hi" }]);
  const run = await here.run(["-p", "--trust", "--log", file, "-e", `${server.url}/v1`, "--model", "m", "hi"]);
  expect([run.exit, run.stdout]).toEqual([0, "hi\n"]);
  expect(lines().filter(({ event }) => event.startsWith("model_"))).toMatchObject([
    { event: "model_request", model: "m", messages: 1 },
    { event: "model_retry", level: "warn", attempt: expect.any(Number), reason: expect.any(String) },
    { event: "model_reply", status: "ok", usage: { inputTokens: 10 } },
  ]);
  await here.run(["-p", "--log", file, "--model", "nobody/none", "hi"]);
  expect(lines().find(({ event }) => event === "failed")).toMatchObject({ level: "error", code: expect.any(String) });
});

it("a run log that cannot be opened ends the run with exit code 2", async () => {
  const run = await here.play([{ text: "hi" }], ["--log", join(here.home, "no/such/run.log")]);
  expect(run.exit).toBe(2);
  expect(run.stderr).toMatch(/--log .*run\.log cannot be written: .*Use another file/);
  expect(run.lines()).toHaveLength(1);
});
