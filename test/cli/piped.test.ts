// What is piped beside a prompt of words: used where it is there in time, never waited for where it is not.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

const workspaces: Workspace[] = [];
const workspace = (files?: Record<string, string>): Workspace => {
  const made = createWorkspace(files);
  workspaces.push(made);
  return made;
};
afterAll(() => {
  for (const each of workspaces) each.remove();
});

type Shown = { exit: number | null; stdout: string; stderr: string };

/** A pipeline as it is typed. `$courser`: the program in print mode, with a scripted model. */
function bash(pipeline: string, { path, env, file }: Workspace, format = "text"): Promise<Shown> {
  const script = file("script.json", JSON.stringify([{ text: "done" }]));
  const courser = `"${process.execPath}" "${cli}" -p --force --output-format ${format} --model "script:${script}"`;
  const child = spawn("bash", ["-c", pipeline.replaceAll("$courser", courser)], { cwd: path, env, stdio: "pipe" });
  child.stdin.end();
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  return new Promise((resolve) => child.on("close", (exit) => resolve({ exit, stdout, stderr })));
}

const asked = ({ stdout }: Shown): string =>
  stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .find(({ type }) => type === "user")?.message.content[0].text;

describe("input piped beside a prompt", () => {
  it.each([
    ["a pipe", "printf 'a\\nb\\n' | $courser review", "review\n\na\nb\n"],
    ["a pipe that is filled slowly", "(echo a; sleep 0.7; echo b) | $courser review", "review\n\na\nb\n"],
    ["a file", "$courser review < notes.txt", "review\n\nthe notes\n"],
    ["a file that was read in part", "(read -r -n 4; $courser review) < notes.txt", "review\n\nnotes\n"],
    ["a here-document", "$courser review <<< words", "review\n\nwords\n"],
    ["more than a pipe holds", "seq 40000 | $courser review", /^review\n\n1\n2\n[\s\S]*\n40000\n$/],
    ["an empty pipe", "true | $courser review", "review"],
    ["a pipe with an empty line", "echo | $courser review", "review"],
    ["an empty file", "$courser review < /dev/null", "review"],
    ["no stdin", "$courser review <&-", "review"],
    ["a directory", "$courser review < .", "review"],
  ])("print mode adds piped input to the prompt: %s", async (_, pipeline, text) => {
    const run = await bash(pipeline, workspace({ "notes.txt": "the notes\n" }), "stream-json");
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    expect(asked(run)).toMatch(typeof text === "string" ? new RegExp(`^${text}$`) : text);
  });

  it("print mode adds piped input as its own paragraph and does not expand @mentions in it", async () => {
    await using server = await modelServer(() => ({ text: "ok" }));
    const place = workspace({ "a.txt": "content of a" });
    const args = ["-p", "--force", "-e", `${server.url}/v1`, "--model", "m", "review"];
    const run = await place.run(args, { stdin: "see @a.txt" });
    expect(run).toMatchObject({ exit: 0, stdout: "ok\n", stderr: "" });
    const { messages } = JSON.parse(server.requests[0]!.body.toString());
    expect(messages.at(-1).content).toBe("review\n\nsee @a.txt");
    expect(JSON.stringify(messages)).not.toContain("content of a");
  });

  it.each([
    ["binary data", "printf 'a\\0b' | $courser review", "USAGE", 2],
    ["a binary file", `$courser review < "$(command -v node)"`, "PROMPT_TOO_LARGE", 1],
    ["too much", "yes | $courser review", "PROMPT_TOO_LARGE", 1],
  ])("print mode refuses piped input beside a prompt with one result: %s", async (_, pipeline, code, exit) => {
    const run = await bash(pipeline, workspace(), "json");
    expect(JSON.parse(run.stdout)).toMatchObject({ is_error: true, error_code: code });
    expect(run.exit).toBe(exit);
    expect(run.stderr).toContain("stdin ");
  });

  it("--max-time ends a run whose piped input never ends, and the chat records why", async () => {
    const place = workspace();
    const run = await place.play([{ text: "ok" }], ["--max-time", "1s"], {
      stdin: "open",
      onStart: (child) => child.stdin!.write("a\n"),
    });
    expect(run.lines().filter(({ type }) => type === "result")).toMatchObject([{ error_code: "MAX_TIME" }]);
    expect(run.exit).toBe(1);
    expect((await place.run(["export", "-1", "--format", "stream-json"])).stdout).toContain('"error_code":"MAX_TIME"');
  });

  it("--max-time ends a run with piped input that still waits for an MCP server to start", async () => {
    const place = workspace();
    const servers = join(place.home, "servers.json");
    writeFileSync(servers, JSON.stringify({ mcpServers: { slow: { command: "sleep", args: ["96"] } } }));
    const args = ["--max-time", "2s", "--mcp-config", servers, "--approve-mcps"];
    const run = await place.play([{ text: "ok" }], args, { stdin: "open" });
    expect(run.lines().filter(({ type }) => type === "result")).toMatchObject([{ error_code: "MAX_TIME" }]);
    expect(run.exit).toBe(1);
  });

  it('an open pipe without data is not waited for, and a notice names "-"', async () => {
    const place = workspace();
    const run = await place.play([{ text: "ok" }], ["--output-format", "text"], { stdin: "open", timeoutMs: 15_000 });
    expect(run).toMatchObject({ exit: 0, stdout: "ok\n" });
    expect(run.stderr).toMatch(/^Note: stdin is open, .* \| courser -p "go" -\n$/);
    const quiet = await place.play([{ text: "ok" }], [], { stdin: "open", timeoutMs: 15_000 });
    expect(quiet).toMatchObject({ exit: 0, stderr: "" });
  });

  it("print mode does not read input that arrives while the model answers", async () => {
    const place = workspace();
    const run = await place.play([{ calls: [{ name: "Shell", args: { command: "sleep 0.5" } }] }, { text: "ok" }], [], {
      stdin: "open",
      onStart: (child) =>
        child.stdout!.on("data", (chunk) => String(chunk).includes("tool_call") && child.stdin!.write("late\n")),
    });
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    expect(run.stdout).not.toContain("late");
  });

  it("in a shell loop that shares its stdin with a run, the loop reads the lines the run left", async () => {
    const lines = "printf '1\\n2\\n3\\n'";
    const place = workspace();
    const shared = `${lines} | while read -r line; do echo "$line"; $courser go; done`;
    expect((await bash(shared, place)).stdout).toBe("1\ndone\n");
    const kept = `${lines} | while read -r line; do echo "$line"; $courser go </dev/null; done`;
    expect((await bash(kept, place)).stdout).toBe("1\ndone\n2\ndone\n3\ndone\n");
  });

  it("--record stores piped data, and a replay needs the same data", async () => {
    const place = workspace();
    const record = `echo a | $courser --record run.jsonl review`;
    expect(await bash(record, place)).toMatchObject({ exit: 0, stdout: "done\n" });
    const replay = `"${process.execPath}" "${cli}" -p --force --model replay:run.jsonl review`;
    expect(await bash(`echo a | ${replay}`, place)).toMatchObject({ exit: 0, stdout: "done\n" });
    expect((await bash(`echo b | ${replay}`, place)).exit).toBe(1);
  });
});
