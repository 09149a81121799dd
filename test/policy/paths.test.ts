// Where paths lead, and which of them are protected.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  absolutePath,
  floorOf,
  holdsWorkspace,
  isDirectory,
  isInside,
  isThere,
  kernelPath,
  protectedBelow,
  realOrSame,
  realTarget,
  resolvePath,
  rootOf,
  shownPath,
  specialKind,
  type WorkspacePaths,
} from "../../src/policy/paths.ts";
import { keptWhole } from "../../src/policy/system-folders.ts";
import { type Fixture, makeFixture, removeFixture, situationOf } from "./fixture.ts";

let fixture: Fixture;
let place: WorkspacePaths;
beforeAll(() => {
  fixture = makeFixture();
  const { base, workspace } = fixture;
  place = situationOf(fixture);
  mkdirSync(join(base, "far/deep"), { recursive: true });
  const links = {
    link: "../far/deep",
    dangling: "link/../new",
    absolute: join(base, "far/later"),
    loop: "loop",
    "through-nothing": "nothing/../through-nothing",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(workspace, name));
});
afterAll(() => removeFixture(fixture));

/** `WS`, `HOME` and `BASE` stand for the folders of the fixture, `ROOT` for the home of root. */
const filled = (text: string) =>
  text
    .replace("WS", fixture.workspace)
    .replace("HOME", fixture.home)
    .replace("BASE", fixture.base)
    .replace("ROOT", process.platform === "darwin" ? "/var/root" : "/root");

describe("resolving a path", () => {
  it.each<[string, string, string]>([
    ["a", "WS/a", "WS/a"],
    [".", "WS", "WS"],
    ["./src//app.ts", "WS/src/app.ts", "WS/src/app.ts"],
    ["~", "HOME", "HOME"],
    ["~/a", "HOME/a", "HOME/a"],
    // Nobody else may look into root's home.
    ...(process.getuid?.() === 0 ? ([["~root/a", "ROOT/a", "ROOT/a"]] satisfies [string, string, string][]) : []),
    ["~root", "ROOT", "ROOT"],
    ["~nobody-has-this-name/a", "WS/~nobody-has-this-name/a", "WS/~nobody-has-this-name/a"],
    ["~$a.docx", "WS/~$a.docx", "WS/~$a.docx"],
    ["a/~root", "WS/a/~root", "WS/a/~root"],
    ["~a", "WS/~a", "WS/~a"],
    ["/etc/../x", "/x", "/x"],
    ["../a", "BASE/a", "BASE/a"],
    // The kernel follows a link before it goes up.
    ["link/x", "WS/link/x", "BASE/far/deep/x"],
    ["link/../x", "WS/x", "BASE/far/x"],
    ["link/..", "WS", "BASE/far"],
    ["WS/link/../x", "WS/x", "BASE/far/x"],
    ["~/../ws/link/../x", "WS/x", "BASE/far/x"],
    ["link/./../../x/y/..", "WS/../x", "BASE/x"],
    ["dangling", "WS/dangling", "BASE/far/new"],
    ["absolute", "WS/absolute", "BASE/far/later"],
    ["absolute/x", "WS/absolute/x", "BASE/far/later/x"],
    ["README.md/x", "WS/README.md/x", "WS/README.md/x"],
    [`${"new/".repeat(60)}x`, `WS/${"new/".repeat(60)}x`, `WS/${"new/".repeat(60)}x`],
    [`${"./".repeat(4000)}x`, "WS/x", "WS/x"],
  ])("the path %s is resolved", (target, given, real) => {
    const expected = { given: join(filled(given)), real: filled(real) };
    expect(resolvePath(filled(target), place)).toMatchObject(expected);
    expect(absolutePath(filled(target), place)).toBe(expected.given);
  });

  it("a relative path is resolved against the call's working directory", () => {
    const cwd = join(fixture.workspace, "link");
    expect(resolvePath("x", place, cwd)).toEqual({ given: join(cwd, "x"), real: filled("BASE/far/deep/x") });
    expect(resolvePath("../x", place, cwd)).toEqual({ given: filled("WS/x"), real: filled("BASE/far/x") });
    expect(resolvePath("~/x", place, cwd)).toMatchObject({ real: filled("HOME/x") });
    expect(absolutePath("x", place, cwd)).toBe(join(cwd, "x"));
  });

  it.each(["a\0b", "file:///etc/passwd", "HTTPS://a.test", "git+ssh://a.test", "loop/x", "x".repeat(300)])(
    "a path that cannot be resolved: %j",
    (target) => {
      expect(resolvePath(target, place)).toEqual({ problem: expect.any(String) });
    },
  );

  it("missing parts of a path are resolved unless folders that the line creates could lead elsewhere", () => {
    expect(resolvePath("nothing", place)).toMatchObject({ isNew: true });
    for (const path of ["README.md", ".", "nothing/../README.md", "link/nothing"])
      expect(resolvePath(path, place)).not.toHaveProperty("isNew");
  });

  it("a NUL in a path is reported", () => {
    expect(resolvePath("a\0b", place)).toEqual({ problem: expect.stringContaining("NUL") });
  });

  it("the policy accepts a path with a colon", () => {
    expect(resolvePath("a:b//c", place)).toMatchObject({ given: filled("WS/a:b/c") });
    expect(resolvePath("x/https://a", place)).toMatchObject({ given: filled("WS/x/https:/a") });
  });

  it.each(["loop", "through-nothing"])("a path through a link loop is not resolved: %s", (name) => {
    const path = join(fixture.workspace, name);
    expect(() => realTarget(path)).toThrow(expect.objectContaining({ code: "ELOOP" }));
    expect(realOrSame(path)).toBe(path);
  });

  it("resolving a path tells whether it exists", () => {
    expect(isThere(filled("WS/README.md"))).toBe(true);
    expect(isThere(filled("WS/dangling"))).toBe(true);
    expect(isThere(filled("WS/new"))).toBe(false);
    expect(isThere(filled("WS/README.md/x"))).toBe(true);
    expect(isDirectory(filled("WS/link"))).toBe(true);
    expect(isDirectory(filled("WS/README.md"))).toBe(false);
    expect(isDirectory(filled("WS/new"))).toBe(false);
  });

  it.each([
    ["/srv", "/srv", true],
    ["/srv/a", "/srv", true],
    ["/srv-evil", "/srv", false],
    ["/srv", "/srv/a", false],
    ["/srv", "/", true],
  ])("the path %s is inside %s: %s", (path, folder, expected) => {
    expect(isInside(path, folder)).toBe(expected);
  });

  it("messages show a path inside the workspace relative to it", () => {
    expect(shownPath("/w/src/a", "/w")).toBe("src/a");
    expect(shownPath("/w", "/w")).toBe(".");
    expect(shownPath("/x/a", "/w")).toBe("/x/a");
  });

  it("the policy assigns a path to the root that contains it", () => {
    const roots = { ...place, roots: ["/one", "/two"] };
    expect(rootOf("/two/a", roots)).toBe("/two");
    expect(rootOf(filled("WS/a"), roots)).toBe(fixture.workspace);
    expect(rootOf("/three", roots)).toBeUndefined();
  });
});

const level = (path: string, changes: Partial<WorkspacePaths> = {}) => {
  const real = filled(path);
  return floorOf({ given: real, real }, { ...place, ...changes })?.level;
};

describe("protected paths", () => {
  const words = (text: string) => text.trim().split(/\s+/);

  it.each(
    words(`WS/.vscode WS/.idea WS/.claude/a WS/.codex/a WS/.gemini/a WS/.devcontainer/a WS/a/b/.vscode/c
    WS/.mcp.json WS/.envrc WS/.cursorignore WS/.cursorindexingignore WS/.devcontainer.json WS/a/.envrc
    WS/x.code-workspace WS/.cursor WS/.cursor/mcp.json WS/.cursor/rulesx WS/a/.cursor/hooks.json
    WS/.git WS/.git/hooks WS/.git/hooks/x WS/.git/config WS/.git/config.worktree WS/.git/commondir
    WS/.git/info WS/.git/info/attributes WS/.git/modules/a/b/hooks/x WS/.git/modules/a/config WS/.git/worktrees/a/commondir
    WS/.git/worktrees/a/config.worktree WS/a/.git/hooks/x BASE/other/.vscode/x
    WS/.VSCODE/x WS/.vscode./x WS/.git::$INDEX_ALLOCATION/hooks/x WS/.git:$x/config WS/git~1/hooks/x WS/.ENVRC
    HOME/.bashrc HOME/.bash_profile HOME/.bash_login HOME/.bash_logout HOME/.bash_aliases HOME/.profile HOME/.zshrc
    HOME/.zshenv HOME/.zprofile HOME/.zlogin HOME/.zlogout HOME/.kshrc HOME/.cshrc HOME/.tcshrc HOME/.login HOME/.logout
    HOME/.inputrc HOME/.xprofile HOME/.xinitrc HOME/.xsessionrc HOME/.pam_environment HOME/.gitconfig HOME/.BASHRC
    HOME/.ssh HOME/.ssh/config HOME/.config/fish/config.fish HOME/.config/git/config HOME/.config/environment.d/a.conf
    HOME/.config/autostart/a.desktop HOME/.config/systemd/user/a.service
    /etc/profile /etc/profile.d/a.sh /etc/bash.bashrc /etc/bashrc /etc/zsh/zshrc /etc/zshrc /etc/zshenv /etc/zprofile
    /etc/environment /etc/fish/config.fish /ETC/profile`),
  )("the path is protected: %s", (path) => {
    expect(level(path)).toBe("protected");
  });

  it.each(
    words(`WS WS/a WS/vscode/x WS/.vscode-x WS/.envrc/x WS/.mcp.json/x WS/x.code-workspace/y WS/.cursor/rules WS/.cursor/rules/a.mdc
    WS/.cursor/commands/a.md WS/.cursor/skills/a/SKILL.md WS/.cursor/agents/a.md WS/.git/HEAD WS/.git/info/exclude
    WS/.git/refs/heads/hooks/x WS/.git/modules/a/HEAD WS/.git/objects/config WS/git~x/hooks/x WS/.bashrc WS/.ssh/config
    HOME HOME/.bashrc.bak HOME/.sshx HOME/.config/other HOME/sub/.bashrc /etc/profile.x /etc/hosts BASE/x`),
  )("the path %s is not protected", (path) => {
    expect(level(path)).toBeUndefined();
  });

  it("protected paths are protected under either name", () => {
    const [plain, other] = [filled("WS/x"), filled("WS/.envrc")];
    expect(floorOf({ given: plain, real: other }, place)?.level).toBe("protected");
    expect(floorOf({ given: other, real: plain }, place)?.level).toBe("protected");
    const own = filled("HOME/.cursor/x");
    expect(floorOf({ given: other, real: own }, place)?.level).toBe("never");
    expect(floorOf({ given: own, real: plain }, place)?.level).toBe("never");
  });

  it("protection does not depend on what is above the workspace", () => {
    const workspace = "/nowhere/.vscode/ws";
    expect(level("/nowhere/.vscode/ws/a", { workspace })).toBeUndefined();
    expect(level("/nowhere/.vscode/ws/.idea/a", { workspace })).toBe("protected");
    expect(level("/nowhere/.vscode/a", { workspace })).toBe("protected");
    expect(level("/nowhere/.vscode/two/a", { workspace, roots: ["/nowhere/.vscode/two"] })).toBeUndefined();
  });

  it("protected paths are found in a home that is the root", () => {
    expect(level("/.bashrc", { home: "/" })).toBe("protected");
    expect(level("/root/.bashrc", { home: "/" })).toBeUndefined();
  });
});

describe("the agent's own configuration", () => {
  it("the policy never allows writing the configuration, wherever it is and whatever it is called", () => {
    symlinkSync("../far", join(fixture.home, ".linked"));
    for (const path of ["HOME/.cursor", "HOME/.cursor/x", "HOME/.CURSOR/x", "HOME/.cursor/worktrees/a/b"])
      expect(level(path)).toBe("never");
    const configDir = filled("HOME/.linked");
    for (const path of ["HOME/.linked/x", "BASE/far/x", "HOME/.cursor/x"])
      expect(level(path, { configDir })).toBe("never");
    expect(level("BASE/farther/x", { configDir })).toBeUndefined();
  });

  it("worktrees inside the configuration are workspaces", () => {
    const worktrees = filled("HOME/.cursor/worktrees");
    const workspace = join(worktrees, "repo");
    expect(level(`${workspace}/a`, { workspace })).toBeUndefined();
    expect(level(`${workspace}/.envrc`, { workspace })).toBe("protected");
    expect(level(`${worktrees}/other/a`, { workspace })).toBe("never");
    expect(level("HOME/.cursor/x", { workspace })).toBe("never");
    expect(level(`${worktrees}/a`, { workspace: worktrees })).toBe("never");
    expect(level(`${workspace}/a`, { workspace: dirname(worktrees) })).toBe("never");
  });
});

describe("special folders", () => {
  it("folders that contain a workspace are recognised", () => {
    const holds = (path: string, changes: Partial<WorkspacePaths> = {}) =>
      holdsWorkspace(path, { ...place, ...changes });
    expect(holds(fixture.workspace)).toBe(true);
    expect(holds(fixture.base)).toBe(true);
    expect(holds(filled("WS/src"))).toBe(false);
    expect(holds("/one", { roots: ["/one/two"] })).toBe(true);
  });

  it("the policy recognises folders that no command may delete, or change mode or owner of, as a whole", () => {
    const kept = (path: string, change: "remove" | "open", changes: Partial<WorkspacePaths> = {}) =>
      keptWhole(path, change, { ...place, ...changes });
    expect(kept("/etc", "remove")).toContain("system folder");
    expect(kept("/etc", "open")).toContain("mode or owner");
    expect(kept("/etc/nginx", "remove")).toBeUndefined();
    expect(kept("/home/alice", "remove")).toBeDefined();
    expect(kept("/home/alice", "open")).toBeUndefined();
    expect(kept(fixture.home, "remove")).toContain("is your home directory");
    expect(kept(fixture.base, "remove")).toContain("contains your home directory");
    expect(kept("/config", "remove", { configDir: "/config/courser" })).toContain("own configuration");
    expect(kept(filled("WS/src"), "remove")).toBeUndefined();
  });

  it("folders with settings below them are recognised", () => {
    const files = [
      "a/b/.vscode/x",
      "c/node_modules/p/.vscode/x",
      "d/.git/config",
      "e/1/2/3/4/.envrc",
      "f/1/2/3/4/5/.envrc",
    ];
    for (const file of files) {
      mkdirSync(dirname(filled(`WS/${file}`)), { recursive: true });
      writeFileSync(filled(`WS/${file}`), "");
    }
    const below = (path: string) => protectedBelow(filled(`WS/${path}`), place);
    expect(below("a")).toBe(filled("WS/a/b/.vscode"));
    expect(below("a/b/.vscode")).toBe(filled("WS/a/b/.vscode/x"));
    expect(below("c")).toBeUndefined();
    expect(below("d")).toBeUndefined();
    expect(below("e")).toBe(filled("WS/e/1/2/3/4/.envrc"));
    // Deeper down it is what a package brought along.
    expect(below("f")).toBeUndefined();
    expect(below("missing")).toBeUndefined();
  });
});

describe("paths that are not files", () => {
  it.each(["/proc", "/proc/self/environ", "/dev/sda", "/sys/power/state"])(
    "the path is not treated as a file: %s",
    (path) => {
      expect(kernelPath(path)).toContain(path.split("/")[1]);
      expect(specialKind(path)).toBe(kernelPath(path));
    },
  );

  it("a named pipe is not treated as a file", () => {
    const pipe = filled("BASE/pipe");
    execFileSync("mkfifo", [pipe]);
    expect(kernelPath(pipe)).toBeUndefined();
    expect(specialKind(pipe)).toBeDefined();
  });

  it.each(["WS/README.md", "WS/src", "WS/new", "/device", "/procs"])("the path %s is treated as a file", (path) => {
    expect(specialKind(filled(path))).toBeUndefined();
  });
});
