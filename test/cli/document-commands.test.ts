// The commands that are documented of cursor-agent, run as printed: in a trusted folder, with its names in PATH.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { trust } from "../../src/store/trust.ts";
import { type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { cli, createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

type Commands = {
  document: string;
  lines: string[];
  /** Patterns of stdout and stderr together; CHAT stands for the chat that was there before. */
  expect?: string[];
  exit?: number;
  /** Offline unless told. */
  model?: "loopback";
  stdin?: string;
  /** A chat was had before, with the id that is documented; where `SESSION_ID` is printed, that is it. */
  chat?: true;
  /** Placeholders that a shell would take for redirections. */
  fill?: Record<string, string>;
};

const all = JSON.parse(readFileSync(join(repository, "test/cases/golden/commands.json"), "utf8")) as Commands[];
const chat = "0bae1f09-3bb0-49b8-9b9d-96a70ede533f";

let server: ModelServer;
const workspaces: Workspace[] = [];
beforeAll(async () => {
  server = await modelServer(() => ({ text: ["Do", "ne."], usage: { input: 1, output: 1 } }));
});
afterAll(async () => {
  for (const workspace of workspaces) workspace.remove();
  await server.stop();
});

const hasJq = spawnSync("jq", ["--version"]).status === 0;
const needsJq = (commands: Commands) => commands.lines.some((line) => line.includes("jq "));

describe("documented commands", () => {
  for (const commands of all) {
    const isSkipped = needsJq(commands) && !hasJq;
    const name = `${commands.document}: ${commands.lines[0]}`;
    it.skipIf(isSkipped)(isSkipped ? `${name} (skipped: no jq here)` : name, () => runAsPrinted(commands));
  }
});

async function runAsPrinted(commands: Commands): Promise<void> {
  const workspace = createWorkspace({ "test.txt": "Hello from test file\n", "danger.txt": "a test\n" });
  workspaces.push(workspace);
  trust(workspace.config, workspace.path);
  const bin = join(workspace.home, ".local/bin");
  mkdirSync(bin, { recursive: true });
  for (const name of ["cursor-agent", "agent", "agent.cmd"]) symlinkSync(cli, join(bin, name));
  if (commands.chat) {
    const before = await workspace.run(["--print", "--session-id", chat, "what is 7+7?"]);
    expect(before.stdout).toBe("7 + 7 = 14\n");
  }
  let script = commands.lines.join("\n").replaceAll("--resume SESSION_ID", `--resume ${chat}`);
  for (const [placeholder, value] of Object.entries(commands.fill ?? {})) script = script.replace(placeholder, value);
  const model = { ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: `${server.url}/v1` };
  const env = {
    ...workspace.env,
    ...(commands.model && model),
    PATH: `${bin}:${workspace.env["PATH"]}`,
  };
  const { exit, output } = await runBash(script, { cwd: workspace.path, env, stdin: commands.stdin ?? "" });
  expect(exit, output).toBe(commands.exit ?? 0);
  expect(output).not.toMatch(/unknown option|Unexpected failure/);
  for (const pattern of commands.expect!) expect(output).toMatch(new RegExp(pattern.replace("CHAT", chat), "m"));
}

type Place = { cwd: string; env: Record<string, string>; stdin: string };

function runBash(script: string, { cwd, env, stdin }: Place): Promise<{ exit: number | null; output: string }> {
  const child = spawn("bash", ["-c", script], { cwd, env, stdio: ["pipe", "pipe", "pipe"], timeout: 25_000 });
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((settle, reject) => {
    child.on("error", reject);
    child.on("close", (exit) => settle({ exit, output }));
  });
}
