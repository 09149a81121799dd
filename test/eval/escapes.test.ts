// Tasks that try to get out: what belongs to the user is neither read nor changed by an evaluation.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
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

describe("a hostile task", () => {
  it.each([
    ["writes through a folder", "FROM x\nCOPY . .\nCOPY payload out/new.txt\n", { "environment/out": "OWN" }],
    ["writes through a link to nothing", "FROM x\nCOPY . .\nCOPY payload out\n", { "environment/out": "OWN/new.txt" }],
    ["reads through a folder", "FROM x\nCOPY out/secret.txt .\n", { "environment/out": "OWN" }],
    ["reads through a file", "FROM x\nCOPY . .\n", { "environment/read.txt": "OWN/secret.txt" }],
    ["has its tests elsewhere", "FROM x\nCOPY . .\n", { tests: "OWN" }],
  ] as const)("that %s is refused, and nothing is touched", async (how, dockerfile, links) => {
    const name = how.replaceAll(" ", "-");
    const files = { "environment/Dockerfile": dockerfile, "environment/payload": "payload\n" };
    const { task, own } = hostileTask(name, files, links);
    const { exit, stdout, stderr } = await evaluated(task);
    expect(exit).not.toBe(0);
    expect(stdout + stderr).toContain("is a link out of the task");
    expect(existsSync(join(own, "new.txt"))).toBe(false);
    expect(readFileSync(join(own, "notes.sh"), "utf8")).toBe("see /logs and /tests\n");
  });

  it("that names a path outside is refused", async () => {
    const files = { "environment/Dockerfile": "FROM x\nCOPY ../../up-own/secret.txt .\n" };
    const { exit, stdout, stderr } = await evaluated(hostileTask("up", files).task);
    expect(exit).not.toBe(0);
    expect(stdout + stderr).toContain("is outside environment/");
  });

  it.skipIf(missing !== undefined)(
    orSkipped("that works by its scripts sees no file of the user's, and changes none", missing),
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
});
