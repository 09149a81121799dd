// What runs agents in the pipelines of others: the scripts are run, the files that start them are read as their runners read them.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type ScriptedReply, scriptedModel, type Workspace, workspace } from "../../src/testing/kit/index.ts";
import { readBlocks } from "../support/doc-examples.ts";
import { cli, repository } from "../support/run-cli.ts";

const open: { remove(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.remove();
});

type Place = Workspace & { env: Record<string, string> };

/** With `courser` in PATH, and `npm` where a command asks it for the global packages. */
function place(): Place {
  const work = workspace({ "a.txt": "Hello\n" });
  open.push(work);
  const bin = join(work.home, "bin");
  mkdirSync(join(work.home, "global"), { recursive: true });
  mkdirSync(bin);
  symlinkSync(cli, join(bin, "courser"));
  symlinkSync(repository, join(work.home, "global/courser-agent"));
  const npm = work.write(
    join(bin, "npm"),
    `#!/bin/sh\necho "$@" >>"$HOME/npm.log"\ncase $1 in root) echo "$HOME/global" ;; esac\n`,
  );
  chmodSync(npm, 0o755);
  work.env["PATH"] = `${bin}:${work.env["PATH"]}`;
  return work;
}

function shell(work: Workspace, command: string, env: Record<string, string> = {}, args: readonly string[] = []) {
  const run = spawnSync("sh", ["-c", command, "sh", ...args], {
    cwd: work.path,
    env: { ...work.env, ...env },
    encoding: "utf8",
    timeout: 100_000,
  });
  const read = (name: string) => (existsSync(join(work.path, name)) ? work.read(name) : "");
  return {
    exit: run.status,
    stdout: run.stdout,
    stderr: run.stderr,
    summary: read("summary.md"),
    outputs: read("out.txt"),
  };
}

function script(replies: readonly (ScriptedReply | string)[]): string {
  const made = scriptedModel(replies);
  open.push(made);
  return made.model;
}

const agent = `exec sh "${join(repository, "integrations/ci/agent.sh")}" "$@"`;
const write = { name: "Write", args: { path: "b.txt", contents: "b\n" } };

describe("the script for pipelines", () => {
  it("the CI script reports what was done, keeps the stream and exits like the run", () => {
    const work = place();
    const model = script([{ calls: [write] }, "Written."]);
    const { exit, stdout, summary } = shell(work, agent, { SUMMARY: "summary.md" }, [
      "--force",
      "--model",
      model,
      "write it",
    ]);
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: expect.stringMatching(/^edit .*b\.txt \(success\)\n\nWritten\.\n$/),
    });
    expect(summary).toMatch(/^## Agent: done\n/);
    expect(summary).toContain("| Calls | 1 |");
    expect(summary).toContain("```text\nWritten.\n```");
    expect(summary).toMatch(/### Changed files\n\n- `.*b\.txt`/);
    expect(
      work
        .read("agent-run.jsonl")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).type)
        .at(-1),
    ).toBe("result");
  });

  it("the CI script fails if nothing was done, something was refused, or there is no result", () => {
    const work = place();
    const env = { SUMMARY: "summary.md" };
    const empty = shell(work, agent, env, ["--force", "--model", script(["All done!"]), "work"]);
    expect(empty).toMatchObject({ exit: 5, summary: expect.stringContaining("## Agent: failed (NOT_DONE)") });
    const refusedModel = script([{ calls: [write, { name: "Delete", args: { path: "a.txt" } }] }, "Done."]);
    const refused = shell(work, agent, env, ["--force", "--deny", "Write(a.txt)", "--model", refusedModel, "work"]);
    expect(refused.exit).toBe(5);
    expect(refused.summary).toMatch(/### Refused\n\n- `Delete`: `.*Write\(a\.txt\)/);
    const lenient = shell(work, agent, env, ["--fail-on", "mcp", "--force", "--model", script(["Hi."]), "say hi"]);
    expect(lenient.exit).toBe(0);
    const dead = work.write("dead.sh", "#!/bin/sh\nexit 7\n");
    chmodSync(dead, 0o755);
    const none = shell(work, agent, { ...env, COURSER: dead }, ["work"]);
    expect(none).toMatchObject({ exit: 7, summary: expect.stringContaining("## Agent: no result") });
  });

  it("an agent cannot send commands to the CI runner", () => {
    const work = place();
    const model = script([
      { calls: [{ name: "Shell", args: { command: 'echo "[$GITHUB_ENV$GITHUB_OUTPUT$GITHUB_PATH]"' } }] },
      { expect: "[]", text: "::error::forged\n```\n# forged ![x](http://example.com/x.png)\n````" },
    ]);
    const files = {
      GITHUB_ENV: "env.txt",
      GITHUB_PATH: "path.txt",
      GITHUB_OUTPUT: "out.txt",
      GITHUB_STEP_SUMMARY: "summary.md",
    };
    const run = shell(work, agent, { ...files, GITHUB_ACTIONS: "true" }, ["--force", "--model", model, "go"]);
    expect(run.exit, run.stdout + run.stderr).toBe(0);
    const [, token] = /^::stop-commands::(\S+)\n/.exec(run.stdout)!;
    expect(run.stdout.endsWith(`\n::${token}::\n`)).toBe(true);
    expect(run.summary).toContain("`````text\n::error::forged\n");
    const [, end] = /^result<<(\S+)$/m.exec(run.outputs)!;
    expect(run.outputs).toContain(`\n::error::forged\n\`\`\`\n# forged`);
    expect(run.outputs.split(end!).length).toBe(3);
    expect(run.outputs).toMatch(/^outcome<<(\S+)\nsuccess\n\1$/m);
  });
});

it("the CI script still summarises a run with more output than GitHub accepts", () => {
  const work = place();
  const edits = Array.from(
    { length: 80 },
    (_, index) =>
      `echo '{"type":"tool_call","subtype":"completed","tool_call":{"editToolCall":{"args":{"path":"f${index}"},"result":{"success":{}}}}}'`,
  );
  const odd = `echo '{"type":"tool_call","subtype":"completed"}'; echo 'null'; echo '{"type":"tool_call","subtype":"completed","tool_call":{"xToolCall":null}}'`;
  const result = `printf '{"type":"result","is_error":false,"duration_ms":1,"result":"'; head -c 2000000 /dev/zero | tr '\\0' '\\140'; echo '"}'`;
  const program = work.write("big.sh", `#!/bin/sh\n${[...edits, odd, result].join("\n")}\n`);
  chmodSync(program, 0o755);
  const env = { COURSER: program, GITHUB_STEP_SUMMARY: "summary.md", GITHUB_OUTPUT: "out.txt" };
  const run = shell(work, agent, env, ["go"]);
  expect([run.exit, run.stderr]).toEqual([0, ""]);
  for (const text of [run.summary, run.outputs]) expect(text.length).toBeLessThan(500_000);
  expect(run.summary).toContain("- and 30 more");
  expect(run.summary).toContain("… 1950000 more characters are in the stream");
  // The fence is longer than any in the text: nothing of it is Markdown.
  const [fence] = /^`{3,}(?=text$)/m.exec(run.summary)!;
  expect(run.summary.split("\n").filter((line) => line.startsWith(fence))).toHaveLength(2);
});

describe("action.yml", () => {
  type Step = { run?: string; env?: Record<string, string>; shell?: string };
  const text = readFileSync(join(repository, "action.yml"), "utf8");
  const action = parse(text) as {
    inputs: Record<string, { default?: string }>;
    runs: { using: string; steps: Step[] };
  };

  it("action.yml is a composite action and inserts no input into a script", () => {
    expect(action.runs.using).toBe("composite");
    for (const step of action.runs.steps)
      expect([step.shell, step.run]).toEqual(["sh", expect.not.stringContaining("${{")]);
    for (const input of Object.keys(action.inputs)) expect(text).toContain(`\${{ inputs.${input} }}`);
  });

  it("action.yml does what the descriptions of its inputs say", () => {
    const work = place();
    const model = script([{ calls: [write] }, { text: "Written." }]);
    const inputs: Record<string, string> = {
      prompt: '$(touch forged) `touch forged` "; touch forged; --deny Write(**)',
      model,
      args: "--force\n--deny\nShell(rm)\n",
    };
    const env = {
      GITHUB_ACTION_PATH: repository,
      GITHUB_OUTPUT: "out.txt",
      GITHUB_STEP_SUMMARY: "summary.md",
      GITHUB_ACTIONS: "true",
    };
    const run = action.runs.steps.map((step) => shell(work, step.run!, { ...env, ...filled(step.env ?? {}) })).at(-1)!;
    expect(run.exit, run.stdout + run.stderr).toBe(0);
    expect(run.summary).toContain("Written.");
    expect(existsSync(join(work.path, "forged"))).toBe(false);
    const npm = () => readFileSync(join(work.home, "npm.log"), "utf8");
    expect(npm()).toBe("ci --no-audit --no-fund\ninstall --global .\n");
    inputs["version"] = "0.1.0";
    const [install] = action.runs.steps;
    expect(shell(work, install!.run!, { ...env, ...filled(install!.env!) })).toMatchObject({ exit: 0 });
    expect(npm()).toMatch(/\ninstall --global .* courser-agent@0\.1\.0\n$/);
    const stream = work.read("agent-run.jsonl");
    expect(stream).toContain(JSON.stringify(inputs["prompt"]));
    expect(shell(work, action.runs.steps[1]!.run!, { ...env, PROMPT: "" })).toMatchObject({
      exit: 2,
      stderr: /prompt/,
    });

    function filled(given: Record<string, string>): Record<string, string> {
      const value = (_: string, source: string, name: string) =>
        source === "runner" ? work.path : (inputs[name] ?? action.inputs[name]!.default!);
      return Object.fromEntries(
        Object.entries(given).map(([name, each]) => [name, each.replace(/\$\{\{ (\w+)\.([\w-]+) \}\}/g, value)]),
      );
    }
  });
});

describe("CI recipes", () => {
  const recipes = readBlocks("docs/ci.md", readFileSync(join(repository, "docs/ci.md"), "utf8"));
  const recipe = (name: string) => parse(recipes.find((block) => block.name === name)!.text);

  it("the GitHub recipe uses only inputs of the action", () => {
    const action = parse(readFileSync(join(repository, "action.yml"), "utf8"));
    const { with: inputs } = recipe(".github/workflows/agent.yml").jobs.agent.steps[1];
    for (const name of Object.keys(inputs)) expect(action.inputs).toHaveProperty([name]);
    expect(inputs.args.split("\n")).toEqual(["--force", "--max-cost", "1.50", ""]);
  });

  it("the GitLab recipe in the docs runs", () => {
    const work = place();
    const { script: lines, variables, artifacts } = recipe(".gitlab-ci.yml").agent;
    const model = script([{ calls: [write] }, "Written."]);
    const clone = join(work.home, "clone");
    const env = { ...variables, COURSER_REPOSITORY: repository, CI_PROJECT_DIR: work.path };
    for (const line of lines as string[]) {
      const command = line.replaceAll("/tmp/courser", clone).replace("agent.sh", `agent.sh --model ${model}`);
      expect(shell(work, command, env)).toMatchObject({ exit: 0 });
    }
    expect(readFileSync(join(work.home, "npm.log"), "utf8")).toBe("ci\ninstall --global .\n");
    for (const path of artifacts.paths) expect(work.read(path)).not.toBe("");
  }, 120_000);

  it("the container recipe starts a program of the package", () => {
    const file = readFileSync(join(repository, "integrations/container/Containerfile"), "utf8");
    const { bin, files } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    const [program] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(file)![1]!) as string[];
    expect(bin).toHaveProperty([program!]);
    expect(files).toContain("integrations");
    const steps = /^RUN ([\s\S]*?)(?=^[A-Z]+ )/m.exec(file)![1]!;
    expect(spawnSync("sh", ["-n", "-c", steps], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
    expect(file.indexOf("USER node")).toBeGreaterThan(file.indexOf("RUN "));
  });
});
