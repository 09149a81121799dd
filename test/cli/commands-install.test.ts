// install and uninstall: four links in ~/.local/bin, all or none, and never over somebody else's program.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, createWorkspace, runCli, type Workspace } from "../support/run-cli.ts";

const names = ["agent", "courser", "courser-hook", "cursor-agent"];
const targetOf = (name: string) => realpathSync(name === "courser-hook" ? join(dirname(cli), "courser-hook.cjs") : cli);
let workspace: Workspace;
let bin: string;
beforeEach(() => {
  workspace = createWorkspace();
  bin = join(workspace.home, ".local/bin");
});
afterEach(() => workspace.remove());

describe("install", () => {
  it("install links the three names and courser-hook, and says how to reach them", async () => {
    const { exit, stdout, stderr } = await workspace.run(["install"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(readdirSync(bin).sort()).toEqual(names);
    for (const name of names) expect(realpathSync(join(bin, name))).toBe(targetOf(name));
    expect(stdout).toContain(`${bin} is not in PATH`);
    expect(stdout).toContain('export PATH="$HOME/.local/bin:$PATH"');
    const version = await runCli(["--version"], { name: join(bin, "cursor-agent"), env: workspace.env });
    expect(version.stdout).toMatch(/^\d{4}\.\d\d\.\d\d-\w+\n$/);
    const script = join(workspace.path, "hook.ts");
    writeFileSync(script, "const word: string = 'ran';\nconsole.log(word);\n");
    const hook = await runCli([script], { name: join(bin, "courser-hook"), env: workspace.env });
    expect(hook).toMatchObject({ exit: 0, stdout: "ran\n" });
  });

  it("installing again changes nothing and advises nothing", async () => {
    await workspace.run(["install"]);
    const before = names.map((name) => lstatSync(join(bin, name)).ino);
    const { exit, stdout } = await workspace.run(["install"], { env: { PATH: `${bin}:${workspace.env["PATH"]}` } });
    expect(exit).toBe(0);
    expect(stdout.match(/already there/g)).toHaveLength(4);
    expect(stdout).not.toContain("PATH");
    expect(names.map((name) => lstatSync(join(bin, name)).ino)).toEqual(before);
  });

  it("install through its own link points to the real file", async () => {
    await workspace.run(["install"]);
    const again = await workspace.run(["install"], { name: join(bin, "agent") });
    expect(again.stdout.match(/already there/g)).toHaveLength(4);
    expect(readlinkSync(join(bin, "courser"))).toBe(realpathSync(cli));
  });

  it("install names another program of the same name, leaves it alone and links nothing", async () => {
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "cursor-agent"), "#!/bin/sh\necho original\n");
    const refused = await workspace.run(["install"]);
    expect({ exit: refused.exit, stdout: refused.stdout }).toEqual({ exit: 1, stdout: "" });
    expect(refused.stderr).toContain(join(bin, "cursor-agent"));
    expect(refused.stderr).toContain("courser install --force");
    expect(refused.stderr).toContain("[INSTALL_REFUSED]");
    expect(readdirSync(bin)).toEqual(["cursor-agent"]);
    expect(readFileSync(join(bin, "cursor-agent"), "utf8")).toContain("original");

    const forced = await workspace.run(["install", "--force"]);
    expect(forced.exit).toBe(0);
    for (const name of names) expect(realpathSync(join(bin, name))).toBe(targetOf(name));
  });

  it("install treats links to other programs as foreign, and never replaces a folder", async () => {
    mkdirSync(join(bin, "agent"), { recursive: true });
    symlinkSync("/bin/sh", join(bin, "courser"));
    const refused = await workspace.run(["install"]);
    expect(refused.stderr).toContain(join(bin, "courser"));
    expect(refused.stderr).toContain(join(bin, "agent"));
    expect((await workspace.run(["install", "--force"])).exit).toBe(1);
    expect(readlinkSync(join(bin, "courser"))).toBe("/bin/sh");
    expect(existsSync(join(bin, "cursor-agent"))).toBe(false);
  });

  it("install replaces dangling links of a copy that moved", async () => {
    mkdirSync(bin, { recursive: true });
    symlinkSync(join(workspace.path, "gone/dist/courser.cjs"), join(bin, "courser"));
    expect((await workspace.run(["install"])).exit).toBe(0);
    expect(realpathSync(join(bin, "courser"))).toBe(realpathSync(cli));
  });

  it("install reports a program of the same name that comes first in PATH", async () => {
    const earlier = join(workspace.path, "earlier");
    mkdirSync(earlier);
    writeFileSync(join(earlier, "agent"), "#!/bin/sh\n", { mode: 0o755 });
    const { stdout } = await workspace.run(["install"], {
      env: { PATH: `${earlier}:${bin}:${workspace.env["PATH"]}` },
    });
    expect(stdout).toContain(`${join(earlier, "agent")} comes first in PATH`);
  });

  it("install says why it cannot write its links", async () => {
    writeFileSync(join(workspace.home, ".local"), "");
    const { exit, stderr } = await workspace.run(["install"]);
    expect(exit).toBe(1);
    expect(stderr).toMatch(/cannot be written to: .*\[INSTALL_REFUSED\]\n$/);
  });
});

describe("uninstall", () => {
  it("uninstall removes its own links and nothing else", async () => {
    await workspace.run(["install"]);
    writeFileSync(join(bin, "other"), "");
    const { exit, stdout } = await workspace.run(["uninstall"]);
    expect(exit).toBe(0);
    expect(stdout.match(/^removed /gm)).toHaveLength(4);
    expect(readdirSync(bin)).toEqual(["other"]);
    expect(await workspace.run(["uninstall"])).toMatchObject({ exit: 0, stdout: `Nothing to remove in ${bin}.\n` });
  });

  it("uninstall keeps another program of the same name", async () => {
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "agent"), "#!/bin/sh\n");
    symlinkSync("/bin/sh", join(bin, "courser"));
    const { exit, stdout } = await workspace.run(["uninstall"]);
    expect(exit).toBe(0);
    expect(stdout).toContain(`kept  ${join(bin, "agent")}`);
    expect(readdirSync(bin).sort()).toEqual(["agent", "courser"]);
  });

  it("courser uninstall accepts no arguments", async () => {
    expect(await workspace.run(["uninstall", "everything"])).toMatchObject({ exit: 2, stdout: "" });
  });
});
