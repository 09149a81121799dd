// update: finds out how this copy was installed and runs that package manager; small programs stand in for npm and its kin.
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
let programs: string;
beforeEach(() => {
  workspace = createWorkspace();
  programs = join(workspace.path, "programs");
  mkdirSync(programs);
});
afterEach(() => workspace.remove());

/** A copy of the built CLI at a place in the workspace; the path of its program comes back. */
function copyTo(place: string, version = "0.1.0"): string {
  const root = join(workspace.path, place);
  mkdirSync(join(root, "dist/cli"), { recursive: true });
  const programs = readdirSync(join(dirname(cli), "cli")).map((name) => join("cli", name));
  for (const name of ["courser.cjs", ...programs]) linkOrCopy(join(dirname(cli), name), join(root, "dist", name));
  writeFileSync(join(root, "package.json"), JSON.stringify({ name: "courser-agent", version }));
  return join(root, "dist/courser.cjs");
}

/** The program must not see a symbolic link. Another disk has a copy. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** A package manager that writes down how it was called. `newest`: its answer to the question for the version. */
function manager(name: string, { newest = "9.9.9", exit = 0, complaint = "" } = {}): void {
  const script = `#!/bin/sh
echo "$PWD: ${name} $*" >> "${join(workspace.path, "calls")}"
case "$*" in *view*|*info*) [ ${exit} = 0 ] || { echo "${complaint}" >&2; exit ${exit}; }; echo "${newest}"; exit 0;; esac
echo "progress of ${name}"
exit ${exit}
`;
  writeFileSync(join(programs, name), script, { mode: 0o755 });
}

function calls(): string[] {
  const file = join(workspace.path, "calls");
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

const run = (program: string, args = ["update"]) =>
  workspace.run(args, { name: program, env: { PATH: `${programs}:/usr/bin:/bin` } });

describe("update", () => {
  it.each([
    [
      "npm",
      "node/lib/node_modules/courser-agent",
      "npm install --global --prefix {WORK}/node courser-agent@9.9.9",
      "globally by npm",
    ],
    [
      "pnpm",
      "share/pnpm/global/5/.pnpm/courser-agent@0.1.0/node_modules/courser-agent",
      "pnpm add --global courser-agent@9.9.9",
      "globally by pnpm",
    ],
    [
      "yarn",
      "config/yarn/global/node_modules/courser-agent",
      "yarn global add courser-agent@9.9.9",
      "globally by yarn",
    ],
    [
      "bun",
      ".bun/install/global/node_modules/courser-agent",
      "bun add --global courser-agent@9.9.9",
      "globally by bun",
    ],
  ])(
    "the update command runs the package manager of a global installation: %s",
    async (name, place, command, where) => {
      manager(name);
      const program = copyTo(place);
      const { exit, stdout, stderr } = await run(program);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
      const expected = command.replace("{WORK}", workspace.path);
      expect(stdout).toBe(
        `courser-agent 0.1.0, installed ${where}: updating to 9.9.9\n$ ${expected}\nprogress of ${name}\n`,
      );
      expect(calls().at(-1)).toMatch(new RegExp(`: ${expected.replace(/[.*+]/g, "\\$&")}$`));
    },
  );

  it.each([
    ["npm", "package-lock.json", "npm install courser-agent@9.9.9"],
    ["pnpm", "pnpm-lock.yaml", "pnpm update --latest courser-agent"],
    ["yarn", "yarn.lock", "yarn upgrade --latest courser-agent"],
    ["bun", "bun.lock", "bun update --latest courser-agent"],
  ])("update uses the package manager %s in a project with %s", async (name, lock, command) => {
    manager(name);
    const program = copyTo("project/node_modules/courser-agent");
    writeFileSync(join(workspace.path, "project", lock), "");
    const { exit, stdout } = await run(program, ["upgrade"]);
    expect(exit).toBe(0);
    expect(stdout).toContain(`installed by ${name} in ${workspace.path}/project`);
    expect(calls().at(-1)).toBe(`${workspace.path}/project: ${command}`);
  });

  it("update finds the installation behind a link, as global bins are", async () => {
    manager("npm");
    const program = copyTo("node/lib/node_modules/courser-agent");
    const link = join(programs, "cursor-agent");
    symlinkSync(program, link);
    expect((await run(link)).stdout).toContain("installed globally by npm");
  });

  it("update changes nothing when the newest version is installed", async () => {
    manager("npm", { newest: "0.1.0" });
    const { exit, stdout } = await run(copyTo("node/lib/node_modules/courser-agent"));
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: "courser-agent 0.1.0, installed globally by npm, is the newest version.\n",
    });
    expect(calls()).toHaveLength(1);
  });

  it("update does not install an older version, and never executes an answer", async () => {
    manager("npm", { newest: "0.0.9" });
    const program = copyTo("node/lib/node_modules/courser-agent");
    const older = await run(program);
    expect(older.stdout).toContain("is newer than 0.0.9");
    expect(calls().filter((call) => call.includes("install"))).toEqual([]);
    manager("npm", { newest: "1.0.0; touch pwned --registry=http://evil.test" });
    const hostile = await run(program);
    expect(hostile.stdout).toContain("updating to 1.0.0\n");
    expect(calls().at(-1)).toMatch(/npm install --global --prefix \S+ courser-agent@1\.0\.0$/);
    expect(existsSync(join(workspace.path, "pwned"))).toBe(false);
  });

  it("update without a network prints one line and exits with 1", async () => {
    manager("npm", {
      exit: 1,
      complaint: "npm error code ENOTFOUND\nnpm error network request to https://registry.test failed",
    });
    const { exit, stdout, stderr } = await run(copyTo("node/lib/node_modules/courser-agent"));
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: "" });
    expect(stderr).toMatch(
      /^Error: npm could not update courser-agent: network request to .* failed\. To try again: \S+ update \[UPDATE_FAILED\]\n$/,
    );
    expect(calls()).toHaveLength(1);
  });

  it("update reports a package manager that is not installed", async () => {
    const { exit, stderr } = await run(copyTo(".bun/install/global/node_modules/courser-agent"));
    expect(exit).toBe(1);
    expect(stderr).toMatch(/it is not in PATH\. Put it there, then type: \S+ update /);
    expect(stderr).toContain("[UPDATE_FAILED]");
  });

  it("update reports a failed installation with its exit code", async () => {
    writeFileSync(join(programs, "npm"), '#!/bin/sh\n[ "$1" = view ] && { echo 9.9.9; exit 0; }\nexit 7\n', {
      mode: 0o755,
    });
    const { exit, stderr } = await run(copyTo("node/lib/node_modules/courser-agent"));
    expect(exit).toBe(1);
    expect(stderr).toMatch(/it ended with exit code 7\. .*\[UPDATE_FAILED\]\n$/);
  });

  it("update leaves a checkout alone, and says so", async () => {
    manager("npm");
    const program = copyTo("checkout");
    mkdirSync(join(workspace.path, "checkout/.git"));
    const before = readdirSync(join(workspace.path, "checkout"));
    const { exit, stdout } = await run(program);
    expect(exit).toBe(0);
    expect(stdout).toContain("git pull && npm ci");
    expect(calls()).toEqual([]);
    expect(readdirSync(join(workspace.path, "checkout"))).toEqual(before);
  });

  it("update distinguishes a linked clone from a package", async () => {
    manager("npm");
    copyTo("clone");
    mkdirSync(join(workspace.path, "clone/.git"));
    mkdirSync(join(workspace.path, "node/lib/node_modules"), { recursive: true });
    symlinkSync(join(workspace.path, "clone"), join(workspace.path, "node/lib/node_modules/courser-agent"));
    const { exit, stdout } = await run(join(workspace.path, "node/lib/node_modules/courser-agent/dist/courser.cjs"));
    expect({ exit, stdout }).toMatchObject({ exit: 0, stdout: expect.stringContaining("git pull && npm ci") });
    expect(calls()).toEqual([]);
  });

  it("update does not suggest to pull source without git", async () => {
    const program = copyTo("unpacked");
    mkdirSync(join(workspace.path, "unpacked/scripts"));
    writeFileSync(join(workspace.path, "unpacked/scripts/prepare.mjs"), "");
    const { exit, stdout } = await run(program);
    expect({ exit, stdout }).toMatchObject({ exit: 0, stdout: expect.stringMatching(/unpacked && npm ci\n$/) });
    expect(stdout).not.toContain("git pull");
  });

  it.each([
    ["file:../courser-agent-0.1.0.tgz", "When a newer one is there", "npm install file:../courser-agent-0.1.0.tgz"],
    ["https://example.com/c.tgz", "When a newer one is there", "npm install https://example.com/c.tgz"],
    ["git+file:///src/courser", "To update", "npm install git+file:///src/courser"],
    [`git+ssh://git@example.com/c.git#${"a".repeat(40)}`, "To update", "npm install git+ssh://git@example.com/c.git"],
    ["somebody/courser", "To update", "npm install somebody/courser"],
  ])("update does not send a project installation from %s to the registry", async (source, when, command) => {
    manager("npm");
    const program = copyTo("project/node_modules/courser-agent");
    writeFileSync(
      join(workspace.path, "project/package.json"),
      JSON.stringify({ devDependencies: { "courser-agent": source } }),
    );
    const { exit, stdout, stderr } = await run(program);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toContain(`is from ${source}. ${when}:\n\n  cd ${workspace.path}/project && ${command}\n`);
    expect(calls()).toEqual([]);
  });

  it("when the registry has no such package, the update command suggests installing from a file or URL", async () => {
    const complaint = "npm error code E404\nnpm error 404 Not Found - GET https://registry.test/courser-agent";
    manager("npm", { exit: 1, complaint });
    const { exit, stderr } = await run(copyTo("node/lib/node_modules/courser-agent"));
    expect(exit).toBe(1);
    expect(stderr).toContain(`npm install --global --prefix ${workspace.path}/node FILE_OR_URL [UPDATE_FAILED]`);
    expect(stderr).not.toMatch(/courser-agent@/);
  });

  it("update recognises npx's cache, and install refuses it", async () => {
    const program = copyTo(".npm/_npx/0a1b2c3d/node_modules/courser-agent");
    const { exit, stdout } = await run(program);
    expect(exit).toBe(0);
    expect(stdout).toContain("npx courser-agent@latest");
    expect((await run(program, ["install"])).stderr).toContain("[INSTALL_REFUSED]");
    const package_ = { dependencies: { "courser-agent": "git+file:///src/courser" } };
    writeFileSync(join(workspace.path, ".npm/_npx/0a1b2c3d/package.json"), JSON.stringify(package_));
    expect((await run(program)).stdout).toContain("npx git+file:///src/courser\n");
  });

  it("the update command does not change a copy that no package manager installed", async () => {
    const { exit, stderr } = await run(copyTo("anywhere"));
    expect(exit).toBe(1);
    expect(stderr).toContain("npm ci && npm install --global .");
    expect(stderr).toContain("[UPDATE_FAILED]");
  });

  it("no command except update starts a package manager", async () => {
    for (const name of ["npm", "pnpm", "yarn", "bun", "git"]) manager(name);
    const program = copyTo("node/lib/node_modules/courser-agent");
    for (const args of [
      ["--help"],
      ["about"],
      ["status"],
      ["models"],
      ["-p", "--model", "offline", "--force", "what is 2+2?"],
    ])
      await run(program, args);
    expect(calls().filter((call) => !/: git /.test(call))).toEqual([]);
  });
});
