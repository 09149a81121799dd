// The sandbox on paper: plans, layouts, command lines, profiles and filters, for every kind of machine.
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createProcessRunner } from "../../src/agent/process.ts";
import {
  bubblewrapCommand,
  bubblewrapProblem,
  kernelPaths,
  systemProgram,
} from "../../src/agent/sandbox/bubblewrap.ts";
import { confinedEnvironment } from "../../src/agent/sandbox/environment.ts";
import { createSandbox, planSandbox } from "../../src/agent/sandbox/index.ts";
import { arrangeMounts, type Mount } from "../../src/agent/sandbox/layout.ts";
import { seatbeltProfile } from "../../src/agent/sandbox/seatbelt.ts";
import { seccompFilter } from "../../src/agent/sandbox/seccomp.ts";
import { floorOf } from "../../src/policy/paths.ts";
import { gitFolders, homeSettings, protectedFiles, protectedFolders } from "../../src/policy/protected-names.ts";
import type { SandboxSettings } from "../../src/store/sandbox-settings.ts";
import { orSkipped } from "../support/skipping.ts";
import { plainSettings, rulesOf } from "./sandbox-support.ts";

function plan(settings: Partial<SandboxSettings> = {}, place: { workspace?: string; roots?: string[] } = {}) {
  const home = "/Users/ada";
  return planSandbox(
    { ...plainSettings, ...settings },
    {
      workspace: "/Users/ada/work",
      roots: [],
      home,
      configDir: `${home}/.cursor`,
      rules: [],
      totalMemoryMb: 8192,
      ...place,
    },
  );
}

describe("the sandbox plan", () => {
  it("the sandbox plan has default limits", () => {
    expect(plan({ limits: {} }).limits).toEqual({ memoryMb: 6144, processes: 4096, temporaryMb: 2048 });
  });

  it("the sandbox plan contains only those rules that are about paths", () => {
    const rules = rulesOf(["Shell(rm)", "Read(a)", "Write(b)", "+Read(c)", "+Write(d)", "WebFetch(e.test)"]);
    const place = { workspace: "/w", roots: [], home: "/h", configDir: "/c", rules, totalMemoryMb: 1 };
    expect(planSandbox(plainSettings, place).rules.map((rule) => rule.text)).toEqual([
      "Read(a)",
      "Write(b)",
      "Write(d)",
    ]);
  });

  it("the sandbox plan contains the protected paths of the policy", () => {
    const place = { workspace: "/w", roots: [], home: "/h", configDir: "/h/.cursor" };
    const git = [...gitFolders.filter((name) => !/modules|worktrees/.test(name)), "config.worktree", "commondir"];
    const paths = [
      ...[".cursor", ".git", ...protectedFolders, ...protectedFiles].map((name) => `/w/${name}`),
      ...git.map((name) => `/w/.git/${name}`),
      ...homeSettings.map((name) => `/h/${name}`),
    ];
    expect(paths.filter((path) => !floorOf({ given: path, real: path }, place))).toEqual([]);
  });
});

describe("the mount layout", () => {
  const laid = (...mounts: [at: string, as: Exclude<Mount["as"], "private" | "hidden">][]) =>
    arrangeMounts(mounts.map(([at, as]) => ({ at, as }))).map(({ at, as }) => `${as} ${at}`);

  it("sandbox folders are mounted before their contents, compared by whole names", () => {
    expect(laid(["/w/a", "readOnly"], ["/w-b", "writable"], ["/w", "writable"], ["/w/a/b", "writable"])).toEqual([
      "writable /w",
      "readOnly /w/a",
      "writable /w/a/b",
      "writable /w-b",
    ]);
  });

  it("sandbox mounts that change nothing are left out", () => {
    expect(laid(["/home", "visible"], ["/home/.ssh", "readOnly"], ["/etc", "pinned"])).toEqual([]);
    expect(laid(["/tmp", "covered"], ["/tmp/w", "writable"], ["/tmp/h", "visible"], ["/tmp/h/x", "readOnly"])).toEqual([
      "covered /tmp",
      "visible /tmp/h",
      "writable /tmp/w",
    ]);
    expect(laid(["/w", "writable"], ["/w/bin", "visible"])).toEqual(["writable /w"]);
  });

  it("the sandbox never opens a subfolder of a closed folder", () => {
    expect(laid(["/w", "writable"], ["/w/.vscode", "readOnly"], ["/w/.vscode/a", "pinned"])).toEqual([
      "writable /w",
      "readOnly /w/.vscode",
    ]);
  });

  it("if two sandbox rules name the same path, the stricter wins, and nothing below a hidden folder is visible", () => {
    expect(laid(["/w", "visible"], ["/w", "writable"], ["/w/a", "writable"], ["/w/a", "readOnly"])).toEqual([
      "writable /w",
      "readOnly /w/a",
    ]);
    const hidden: Mount[] = [
      { at: "/s/deep", as: "writable" },
      { at: "/s", as: "hidden", kind: "folder" },
    ];
    expect(arrangeMounts(hidden)).toEqual([{ at: "/s", as: "hidden", kind: "folder" }]);
  });
});

describe("the bubblewrap command line", () => {
  const parts = {
    bwrap: "/usr/bin/bwrap",
    bash: "/usr/bin/bash",
    stat: "/usr/bin/stat",
    kernelPaths: kernelPaths.slice(0, 2),
    emptyFile: "/private/nothing",
    emptyFolder: "/private/none",
    filter: "/private/filter",
    groups: ["/sys/fs/cgroup/it's/x"],
  };
  const layout: Mount[] = [
    { at: "/run", as: "covered" },
    { at: "/tmp", as: "private", from: "/private/tmp" },
    { at: "/w", as: "writable" },
    { at: "/w/.env", as: "hidden", kind: "file" },
    { at: "/w/.git", as: "pinned" },
    { at: "/w/.git/hooks", as: "readOnly" },
    { at: "/home/.cursor", as: "closed" },
  ];
  const limits = { memoryMb: 512, processes: 256, temporaryMb: 100 };
  const files = { checks: "/private/start.checks", complainTo: "/private/start.txt" };
  const confinement = { layout, cwd: "/w/sub", limits, ...files };

  it("bubblewrap gets the whole sandbox plan on one command line", async () => {
    const words = bubblewrapCommand(parts, confinement, ["bash", "-c", "ls -l"]);
    await expect(`${words.join("\n")}\n`).toMatchFileSnapshot("golden/bubblewrap.txt");
  });

  it("the sandbox's network relay starts if hosts are listed", async () => {
    const relay = { node: "/usr/bin/node", socket: "/private/net/proxy" };
    const { filter: _none, ...plain } = { ...parts, groups: [] };
    const words = bubblewrapCommand(plain, { ...confinement, layout: [], relay }, ["true"]);
    const inner = words.slice(words.indexOf("/usr/bin/node"));
    expect(inner.slice(0, 2)).toEqual(["/usr/bin/node", "-e"]);
    expect(inner.slice(3, 6)).toEqual(["--", "/private/net/proxy", "/usr/bin/bash"]);
    expect(inner.at(-1)).toBe("true");
  });

  it.each([
    ["bwrap: setting up uid map: Permission denied", /AppArmor.*apparmor_restrict_unprivileged_userns/],
    ["bwrap: Creating new namespace failed: Operation not permitted", /unprivileged_userns_clone=1/],
    [
      "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
      /max_user_namespaces/,
    ],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /systempaths=unconfined/],
    ["bwrap: Unknown option --die-with-parent", /too old/],
    ["", /gave no reason.*bwrap --unshare-all/],
  ])("a sandbox that cannot start says what to do: %j", (stderr, advice) => {
    expect(bubblewrapProblem(stderr)).toMatch(advice);
  });
});

describe("system programs used by the sandbox", () => {
  const folder = mkdtempSync(join(tmpdir(), "courser-programs-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const own = join(folder, "courser-test-program");
  writeFileSync(own, "#!/bin/sh\n", { mode: 0o755 });

  it("the sandbox finds system programs whatever PATH puts first", () => {
    writeFileSync(join(folder, "bash"), "#!/bin/sh\n", { mode: 0o755 });
    expect(systemProgram("bash", { PATH: `${folder}:/usr/bin` }, [folder])).toMatch(/^\/(usr\/)?bin\/bash$/);
    expect(systemProgram("bash", { PATH: `${folder}:.:bin` }, [])).toMatch(/^\/(usr\/)?bin\/bash$/);
  });

  it("the sandbox never takes its system programs from the workspace, writable or relative folders", () => {
    const name = "courser-test-program";
    expect(systemProgram(name, { PATH: folder }, [folder])).toBeUndefined();
    chmodSync(folder, 0o777);
    expect(systemProgram(name, { PATH: folder }, [])).toBeUndefined();
    chmodSync(folder, 0o755);
    symlinkSync(own, join(folder, "courser-link"));
    expect(systemProgram("courser-link", { PATH: folder }, [folder])).toBeUndefined();
    expect(systemProgram("courser-test-program", { PATH: "." }, [])).toBeUndefined();
  });
});

describe("the macOS seatbelt profile", () => {
  it("the macOS sandbox profile denies by default and opens the workspace", async () => {
    const parts = { temporary: "/private/tmp/x", ruled: [], needed: [] };
    await expect(seatbeltProfile(plan(), parts)).toMatchFileSnapshot("golden/seatbelt-plain.sb");
  });

  it("the macOS sandbox profile covers every sandbox setting", async () => {
    const settings = {
      readBoundary: "workspace",
      readPaths: ["/opt/sdk"],
      readwritePaths: ["/opt/out"],
      readonlyPaths: ["dist"],
    } as const;
    const ruled: Mount[] = [
      { at: "/Users/ada/work/.env", as: "hidden", kind: "file" },
      { at: "/Users/ada/work/gen", as: "readOnly" },
    ];
    const wide = plan({ ...settings, readPaths: ["/opt/sdk"], readwritePaths: ["/opt/out"], readonlyPaths: ["dist"] });
    const parts = { temporary: "/private/tmp/x", ruled, needed: ["/opt/tools/bin"], proxyPort: 4321 };
    await expect(seatbeltProfile(wide, parts)).toMatchFileSnapshot("golden/seatbelt-every-setting.sb");
  });

  it("the macOS profile protects settings in a home directory that is the workspace", async () => {
    const home = plan({}, { workspace: "/Users/ada" });
    const parts = { temporary: "/private/tmp/x", ruled: [], needed: [] };
    await expect(seatbeltProfile(home, parts)).toMatchFileSnapshot("golden/seatbelt-home.sb");
  });

  it("the macOS sandbox profile quotes names, and allows no writes in read-only mode", () => {
    const odd = plan({ type: "workspace_readonly", tmpWrite: false }, { workspace: '/Users/ada/a"b(c)' });
    const profile = seatbeltProfile(odd, { temporary: "/t", ruled: [], needed: [] });
    expect(profile).not.toMatch(/allow file-write\*/);
    const quoted = seatbeltProfile(plan({}, { workspace: '/Users/ada/a"b(c)' }), {
      temporary: "/t",
      ruled: [],
      needed: [],
    });
    expect(quoted).toContain('(subpath "/Users/ada/a\\"b(c)")');
    expect(quoted).toContain('#"^/Users/ada/a.b\\(c\\)/(.*/)?');
  });
});

describe("the system call filter", () => {
  const allowed = 0x7fff0000;
  const failed = (error: number) => 0x50000 + error;
  const machines = {
    x64: {
      arch: 0xc000003e,
      read: 0,
      socket: 41,
      ioctl: 16,
      unshare: 272,
      clone: 56,
      clone3: 435,
      keyctl: 250,
      io_uring: 425,
      ptrace: 101,
      writev: 311,
      readv: 310,
    },
    arm64: {
      arch: 0xc00000b7,
      read: 63,
      socket: 198,
      ioctl: 29,
      unshare: 97,
      clone: 220,
      clone3: 435,
      keyctl: 219,
      io_uring: 425,
      ptrace: 117,
      writev: 271,
      readv: 270,
    },
  };

  describe.each(Object.entries(machines))("the system call filter: %s", (machine, calls) => {
    const filter = seccompFilter(machine)!;
    const answer = (call: number, ...args: number[]) => run(filter, call, calls.arch, args);

    it.each([
      ["reading", [calls.read, 0], allowed],
      ["a unix socket", [calls.socket, 1, 1], allowed],
      ["an internet socket", [calls.socket, 2, 1], allowed],
      ["a socket of version 6", [calls.socket, 10, 1], allowed],
      ["a netlink socket", [calls.socket, 16, 3], allowed],
      ["a socket past namespaces", [calls.socket, 40, 1], failed(97)],
      ["a raw packet socket", [calls.socket, 17, 3], failed(97)],
      ["an ordinary ioctl", [calls.ioctl, 0, 0x5401], allowed],
      ["typing into a terminal", [calls.ioctl, 0, 0x5412], failed(1)],
      ["pasting into a console", [calls.ioctl, 0, 0x541c], failed(1)],
      ["a thread", [calls.clone, 0x3d0f00], allowed],
      ["a user namespace by clone", [calls.clone, 0x10000011], failed(1)],
      ["a user namespace by unshare", [calls.unshare, 0x10000000], failed(1)],
      ["another unshare", [calls.unshare, 0x400], allowed],
      ["clone3", [calls.clone3, 0], failed(38)],
      ["keys", [calls.keyctl, 0], failed(1)],
      ["a ring", [calls.io_uring, 1], failed(38)],
      ["tracing a process of its own", [calls.ptrace, 16, 12], allowed],
      ["tracing the keeper", [calls.ptrace, 16, 1], failed(1)],
      ["writing into the keeper", [calls.writev, 1], failed(1)],
      ["reading out of the keeper", [calls.readv, 1], failed(1)],
      ["a handle on the keeper", [434, 1], failed(1)],
      ["a handle on a process of its own", [434, 12], allowed],
    ])("the sandbox's system call filter allows or refuses %s", (_, [call, ...args], expected) => {
      expect(answer(call!, ...args)).toBe(expected);
    });

    it("the sandbox ends programs for another architecture", () => {
      expect(run(filter, calls.read, 0x40000003, [])).toBe(0x80000000);
    });
  });

  it("the system call filter knows the second call table of x64, and refuses other machines", () => {
    expect(run(seccompFilter("x64")!, 0x40000000 + 41, machines.x64.arch, [40])).toBe(failed(38));
    expect(seccompFilter("riscv64")).toBeUndefined();
  });
});

/** What the kernel makes of it. */
function run(filter: Buffer, call: number, arch: number, args: readonly number[]): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call >>> 0, 0);
  data.writeUInt32LE(arch >>> 0, 4);
  for (const [index, value] of args.entries()) data.writeUInt32LE(value >>> 0, 16 + 8 * index);
  let word = 0;
  for (let at = 0; ; at++) {
    const step = filter.subarray(at * 8, at * 8 + 8);
    const [code, value] = [step.readUInt16LE(0), step.readUInt32LE(4)];
    const jump = (holds: boolean) => step.readUInt8(holds ? 2 : 3);
    if (code === 0x20) word = data.readUInt32LE(value);
    else if (code === 0x15) at += jump(word === value);
    else if (code === 0x45) at += jump((word & value) !== 0);
    else if (code === 0x35) at += jump(word >= value);
    else if (code === 0x06) return value;
    else throw new Error(`unknown code ${code}`);
  }
}

describe("environment variables in the sandbox", () => {
  it.each([
    ["PATH", true],
    ["LC_CTYPE", true],
    ["PYENV_ROOT", true],
    ["GOPATH", true],
    ["JAVA_HOME", true],
    ["GIT_AUTHOR_NAME", true],
    ["COURSER_CALL_1_abc", true],
    ["LD_PRELOAD", false],
    ["BASH_ENV", false],
    ["SSH_AUTH_SOCK", false],
    ["DBUS_SESSION_BUS_ADDRESS", false],
    ["XDG_RUNTIME_DIR", false],
    ["DOCKER_HOST", false],
    ["GIT_SSH_COMMAND", false],
    ["DATABASE_URL", false],
    ["SOME_TOKEN", false],
    ["NODE_AUTH_TOKEN", false],
    ["EXTRA", true],
  ])("the environment variable %s passes into the sandbox: %s", (variable, passes) => {
    expect(variable in confinedEnvironment({ [variable]: "x" }, ["EXTRA"])).toBe(passes);
  });
});

describe("other operating systems", () => {
  it.each([
    ["win32", "there is none for Windows. Use WSL or a container"],
    ["freebsd", "there is none for freebsd"],
  ])("on %s there is no sandbox, and the agent says so", async (platform, why) => {
    const sandbox = createSandbox({
      plan: plan(),
      processes: createProcessRunner(),
      platform: platform as NodeJS.Platform,
    });
    expect(await sandbox.problem()).toContain(`The sandbox is not available: ${why}`);
    expect(() => sandbox.enter({ command: ["true"], cwd: "/", env: {} })).toThrow("not open");
    await sandbox.end();
  });

  const onMac = process.platform === "darwin" && "macOS has its helper";
  it.skipIf(onMac)(orSkipped("macOS without its helper has none", onMac), async () => {
    const sandbox = createSandbox({ plan: plan(), processes: createProcessRunner(), platform: "darwin" });
    expect(await sandbox.problem()).toContain("/usr/bin/sandbox-exec is missing");
  });
});
