// Tasks that try to get out: what belongs to the user is neither read nor changed by an evaluation.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sandboxMissing } from "../agent/sandbox-fixture.ts";
import { createWorkspace } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";

const place = createWorkspace();
afterAll(() => place.remove());
const missing = sandboxMissing();

/** A folder of the user's, beside a task that has these files and links. */
function hostileTask(name: string, files: Record<string, string>, links: Record<string, string> = {}) {
  const own = join(place.path, `${name}-own`);
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "secret.txt"), "the secret");
  for (const file of ["notes.sh", "test.sh"]) writeFileSync(join(own, file), "see /logs and /tests\n");
  const usual = {
    "task.toml": "[agent]\ntimeout_sec = 30\n[verifier]\ntimeout_sec = 30\n",
    "instruction.md": "Do it.\n",
    "environment/given.txt": "given\n",
    "script.json": JSON.stringify([{ text: "Done." }]),
  };
  const task = join(place.path, "tasks", name);
  for (const [file, text] of Object.entries({ ...usual, ...files })) place.file(join("tasks", name, file), text);
  if (!("tests" in links) && !files["tests/test.sh"]) place.file(join("tasks", name, "tests/test.sh"), "exit 0\n");
  for (const [link, target] of Object.entries(links)) symlinkSync(target.replace("OWN", own), join(task, link));
  return { task, own };
}

async function evaluated(task: string) {
  const confinement = missing === undefined ? [] : ["--sandbox", "disabled"];
  const output = join(place.path, "results");
  const args = ["eval", task, "--model", "script", "--output", output, "--format", "json", ...confinement];
  return place.run(args, { timeoutMs: 60_000 });
}

describe("hostile eval tasks", () => {
  it.each([
    ["writes through a folder", "FROM x\nCOPY . .\nCOPY payload out/new.txt\n", { "environment/out": "OWN" }],
    ["writes through a link to nothing", "FROM x\nCOPY . .\nCOPY payload out\n", { "environment/out": "OWN/new.txt" }],
    ["reads through a folder", "FROM x\nCOPY out/secret.txt .\n", { "environment/out": "OWN" }],
    ["reads through a file", "FROM x\nCOPY . .\n", { "environment/read.txt": "OWN/secret.txt" }],
    ["has its tests elsewhere", "FROM x\nCOPY . .\n", { tests: "OWN" }],
  ] as const)("a task that %s is refused, and nothing is touched", async (how, dockerfile, links) => {
    const name = how.replaceAll(" ", "-");
    const files = { "environment/Dockerfile": dockerfile, "environment/payload": "payload\n" };
    const { task, own } = hostileTask(name, files, links);
    const { exit, stdout, stderr } = await evaluated(task);
    expect(exit).not.toBe(0);
    expect(stdout + stderr).toContain("is a link out of the task");
    expect(existsSync(join(own, "new.txt"))).toBe(false);
    expect(readFileSync(join(own, "notes.sh"), "utf8")).toBe("see /logs and /tests\n");
  });

  it("eval judges a task normally whose WORKDIR is a pattern that would take forever to match", async () => {
    const files = {
      "environment/Dockerfile": "FROM x\nWORKDIR /(a|a)*(a|a)*[\n",
      "tests/test.sh": `# /${"a".repeat(5000)}!\nexit 0\n`,
    };
    const { exit, stdout, stderr } = await evaluated(hostileTask("pattern", files).task);
    expect({ exit, status: JSON.parse(stdout).results[0].status }, stderr).toEqual({ exit: 0, status: "passed" });
  });

  it("eval refuses a task that names a path outside of its folder", async () => {
    const files = { "environment/Dockerfile": "FROM x\nCOPY ../../up-own/secret.txt .\n" };
    const { exit, stdout, stderr } = await evaluated(hostileTask("up", files).task);
    expect(exit).not.toBe(0);
    expect(stdout + stderr).toContain("is outside environment/");
  });

  it.skipIf(missing !== undefined)(
    orSkipped("scripts of an eval task can neither read nor change the user's files", missing),
    async () => {
      const own = join(place.path, "scripts-own");
      const test = `cat ${own}/secret.txt && exit 9\necho x > ${own}/secret.txt && exit 9\necho x > ${place.env["HOME"]}/.bashrc && exit 9\nexit 0\n`;
      const { task } = hostileTask("scripts", { "tests/test.sh": test });
      const { exit, stdout } = await evaluated(task);
      expect(JSON.parse(stdout).results[0].status, stdout).toBe("passed");
      expect(exit).toBe(0);
      expect(readFileSync(join(own, "secret.txt"), "utf8")).toBe("the secret");
      expect(existsSync(join(String(place.env["HOME"]), ".bashrc"))).toBe(false);
    },
  );

  const hook = (own: string) =>
    JSON.stringify({ version: 1, hooks: { beforeSubmitPrompt: [{ command: `touch ${own}/pwned` }] } });
  const filter = (own: string) => `git init -q --bare ../snapshot.git
git --git-dir=../snapshot.git config filter.x.clean 'touch ${own}/pwned; cat'
echo '* filter=x' > .gitattributes\n`;

  it.skipIf(missing !== undefined).each<[what: string, files: (own: string) => Record<string, string>]>([
    [
      "hooks in the home",
      (own) => ({ "setup.sh": `mkdir -p ~/.cursor\necho '${hook(own)}' > ~/.cursor/hooks.json\n` }),
    ],
    ["settings for the home that are a link", (own) => ({ "setup.sh": `rm -rf ~/.cursor\nln -s ${own} ~/.cursor\n` })],
    ["a recording that is a link", (own) => ({ "setup.sh": `ln -s ${own}/secret.txt ../recording.jsonl\n` })],
    ["a workspace that is a link", (own) => ({ "setup.sh": `cd ..\nmv workspace old\nln -s ${own} workspace\n` })],
    ["logs that are a link", (own) => ({ "setup.sh": `rm -rf ../logs\nln -s ${own} ../logs\n` })],
    ["the repository of the diff", (own) => ({ "setup.sh": filter(own) })],
    [
      "output that is a link",
      (own) => ({ "tests/test.sh": `ln -s ${own}/secret.txt /logs/verifier/output.txt\necho x\n` }),
    ],
    [
      "a reward that is a link",
      (own) => ({ "tests/test.sh": `ln -s ${own}/secret.txt /logs/verifier/reward.txt\nexit 0\n` }),
    ],
    ["a folder of logs that is a link", (own) => ({ "tests/test.sh": `rm -rf /logs\nln -s ${own} /logs\n` })],
  ])("links that scripts of an eval task leave behind do not lead to the user's files: %s", async (what, files) => {
    const name = what.replaceAll(" ", "-");
    const { task, own } = hostileTask(name, files(join(place.path, `${name}-own`)));
    const before = readdirSync(own);
    const { stdout, stderr } = await evaluated(task);
    expect(readdirSync(own)).toEqual(before);
    expect(readFileSync(join(own, "secret.txt"), "utf8")).toBe("the secret");
    expect(stdout + stderr).not.toContain("the secret");
    expect(stdout).toContain('"status"');
  });

  it.skipIf(process.platform === "win32")("eval refuses a task with a named pipe", async () => {
    const { task } = hostileTask("pipe", {});
    execFileSync("mkfifo", [join(task, "environment/fifo")]);
    const { exit, stdout, stderr } = await evaluated(task);
    expect(exit).not.toBe(0);
    expect(stdout + stderr).toContain("environment/fifo is neither a file nor a directory");
  });
});
