// The command lines of programs that drive `cursor-agent`, unchanged, against the built CLI: each must end by itself with
// exit 0, nothing but the protocol on stdout, and exactly one result.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type CliRun, createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

type Shape = {
  program: string;
  /** `{prompt}` and `{workspace}` are filled in. */
  argv: string[];
  stdin: "closed" | "open" | "prompt";
  /** The program itself never gives trust: a person gave it before. */
  trusted?: boolean;
  note: string;
};

const shapes = JSON.parse(readFileSync(join(repository, "test/cases/drivers.json"), "utf8")) as Shape[];
const workspaces: Workspace[] = [];
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

function workspace(): Workspace {
  const made = createWorkspace();
  workspaces.push(made);
  return made;
}

describe("command lines of client programs", () => {
  it.each(shapes.map((shape) => [shape.program, shape] as const))(
    "the command line that another program uses to drive cursor-agent works: %s",
    async (_, shape) => {
      const prompt = "what is 2+2?";
      const { path, run } = workspace();
      const args = shape.argv.map((word) => word.replace("{prompt}", prompt).replace("{workspace}", path));
      const stdin = { closed: "", open: "open", prompt }[shape.stdin];
      if (shape.trusted) await run(["-p", "--trust", prompt]);
      const ended = await run(args, { stdin, timeoutMs: 15_000 });
      expect({ exit: ended.exit, signal: ended.signal }, ended.stderr).toEqual({ exit: 0, signal: null });
      expect(ended.stderr).toBe("");
      expectProtocol(formatOf(args), ended, { prompt, partial: args.includes("--stream-partial-output") });
    },
  );
});

describe("commands that client programs run first", () => {
  it.each([
    ["--version", /^\d+\.\d+\.\d+\S*\n$/],
    ["status", /^Not logged in\n/],
    ["whoami", /^Not logged in\n/],
    ["models", /^Available models\n\n(\S+ - \S.*\n)+/],
    ["--list-models", /^Available models\n\n(\S+ - \S.*\n)+/],
  ])(
    "the command line of a program that drives cursor-agent works with stdin left open: %s",
    async (command, expected) => {
      const { exit, stdout, stderr } = await workspace().run([command], { stdin: "open", timeoutMs: 15_000 });
      expect(exit, stderr).toBe(0);
      expect(stdout).toMatch(expected);
    },
  );
});

function formatOf(args: readonly string[]): string {
  const at = args.findIndex((word) => word.startsWith("--output-format"));
  return args[at]!.split("=")[1] ?? args[at + 1]!;
}

function expectProtocol(format: string, run: CliRun, { prompt, partial }: { prompt: string; partial: boolean }): void {
  expect(run.stdout.endsWith("\n")).toBe(true);
  if (format === "text") {
    expect(run.stdout).toMatch(/\b4\n$/);
    expect(run.stdout).not.toContain('"type"');
    return;
  }
  const lines = run.lines(); // throws when a line is not JSON
  expect(lines.filter((line) => line["type"] === "result")).toHaveLength(1);
  const result = lines.at(-1)!;
  expect(result).toMatchObject({ type: "result", subtype: "success", is_error: false, session_id: expect.any(String) });
  expect(result["result"]).toMatch(/\b4$/);
  expect(typeof result["duration_ms"]).toBe("number");
  expect(typeof result["duration_api_ms"]).toBe("number");
  if (format === "json") {
    expect(lines).toHaveLength(1);
    return;
  }
  expect(lines[0]).toMatchObject({ type: "system", subtype: "init", session_id: result["session_id"] });
  expect(lines[1]).toMatchObject({ type: "user", message: { content: [{ type: "text", text: prompt }] } });
  const said = lines.filter((line) => line["type"] === "assistant");
  const deltas = said.filter((line) => "timestamp_ms" in line);
  const text = (of: typeof said) => of.map((line) => line["message"].content[0].text as string).join("");
  expect(text(said.filter((line) => !deltas.includes(line)))).toBe(result["result"]);
  expect(text(deltas)).toBe(partial ? result["result"] : "");
}
