// What a user may not read is said: it is neither empty, nor does nothing match, nor is there a word of the system's.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";

const user = 65_534;
const cannotRun = whyNot();

/** Another user must be able to read the built program, too: a clone may lie in a folder of root's own. */
function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return "only root becomes another user";
  const { status } = spawnSync(process.execPath, [cli, "--version"], { uid: user, gid: user, cwd: "/" });
  return status === 0 ? undefined : "others may not read this folder";
}

const raw = /\bE[A-Z]{4,}\b|os error/;

let workspace: Workspace;
const run = (...args: string[]) => workspace.run(args, { user });
const ask = async (prompt: string) => (await run("-p", "--trust", prompt)).stdout.trim();

/** Root's, with nothing for others. */
function close(path: string): void {
  chownSync(path, 0, 0);
  chmodSync(path, 0o700);
}

function open(path: string): void {
  chownSync(path, user, user);
}

describe.skipIf(cannotRun)(orSkipped("without the right to read", cannotRun), { timeout: 60_000 }, () => {
  beforeAll(() => {
    workspace = createWorkspace({ "open/a.txt": "alpha\n", "shut/b.txt": "alpha\n", "secret.txt": "alpha\n" });
    chmodSync(dirname(workspace.path), 0o755);
    execFileSync("chown", ["-R", `${user}:${user}`, workspace.path, workspace.home]);
    close(join(workspace.path, "shut"));
    close(join(workspace.path, "secret.txt"));
  });
  afterAll(() => workspace?.remove());

  it("LS and searches report what they could not read", async () => {
    expect(await ask("list the files")).toContain("[Permission denied, not searched: shut]");
    expect(await ask("search for alpha")).toMatch(
      /a\.txt\n1:alpha\n\[Permission denied, not searched: secret\.txt, shut\]/,
    );
    expect(await ask("which files contain zzz")).toBe(
      'Nothing contains "zzz". Permission denied, not searched: secret.txt, shut.',
    );
    const found = (await ask("find files named *.txt")).split("\n");
    expect(found.slice(-4, -2).sort()).toEqual(["open/a.txt", "secret.txt"]);
    expect(found.at(-2)).toBe("[Permission denied, not searched: shut]");
    expect(await ask("find files named *.zzz")).toBe("No file matches *.zzz. Permission denied, not searched: shut.");
  });

  it("semantic search names the files it may not read", async () => {
    const script = join(workspace.home, "search.json");
    const calls = [{ name: "SemanticSearch", args: { query: "where is alpha?" } }];
    writeFileSync(script, JSON.stringify([{ calls }, { text: "Looked." }]));
    open(script);
    const { stdout } = await run(
      "-p",
      "--trust",
      "--output-format",
      "stream-json",
      "--model",
      `script:${script}`,
      "look",
    );
    const chat = JSON.parse(stdout.split("\n")[0]!).session_id;
    const shown = await run("sessions", "export", chat, "--format", "json");
    expect(shown.stdout).toContain("[Permission denied, not searched: secret.txt, shut]");
  });

  it("reading an unreadable file fails with one error message", async () => {
    for (const prompt of ["list the files in shut", "search for alpha in shut", "search for alpha in secret.txt"]) {
      const { stdout, stderr } = await run("-p", "--trust", prompt);
      expect(stdout).toMatch(/^I could not .*: Permission denied: this user may not read .*\.\n$/);
      expect(stderr).toBe("");
    }
    const { stdout, stderr } = await run("-p", "--trust", "read shut/b.txt");
    expect(stdout).toContain("cannot be resolved (permission denied)");
    expect(stderr).not.toMatch(/Warning|left out/);
  });

  it("ls shows one warning for an unreadable folder of chats, and lists the others", async () => {
    const chats = join(workspace.config, "chats");
    const other = join(chats, "0".repeat(32));
    mkdirSync(other);
    close(other);
    for (const args of [
      ["ls", "--all"],
      ["ls", "--search", "alpha"],
    ]) {
      const { exit, stdout, stderr } = await run(...args);
      expect(exit).toBe(0);
      expect(stdout).toContain("search for alpha");
      expect(stderr).toMatch(/^(Warning|Note): The chats in .* cannot be read: permission denied\. .*\n$/);
    }
    close(chats);
    for (const args of [
      ["ls"],
      ["ls", "--all"],
      ["ls", "--search", "alpha"],
      ["-p", "--resume", crypto.randomUUID(), "hi"],
    ]) {
      const { exit, stdout, stderr } = await run(...args);
      expect({ exit, stdout }).toEqual({ exit: 1, stdout: "" });
      expect(stderr).toMatch(/^Error: The chats in .* cannot be read: permission denied\. .*\[FILE_UNREADABLE\]\n$/);
    }
    open(chats);
  });

  it("an unreadable chat is reported as unreadable, not as missing", async () => {
    const id: string = JSON.parse((await run("ls", "--format", "json")).stdout)[0].id;
    const project = join(workspace.config, "chats", createHash("md5").update(workspace.path).digest("hex"));
    const folder = join(project, id);
    const asked = (...args: string[]) => run("-p", "--trust", ...args, "hi");
    const ways = [
      ["--resume", id],
      ["--resume", id.slice(0, 8)],
      ["--resume-or-new", id],
    ];
    close(folder);
    for (const way of ways) {
      const { exit, stdout, stderr } = await asked(...way);
      expect({ exit, stdout }).toEqual({ exit: 1, stdout: "" });
      expect(stderr).toMatch(
        new RegExp(`^Error: The chat ${id} exists but cannot be read: permission denied for .*chmod.*FILE_UNREADABLE`),
      );
    }
    open(folder);
    close(project);
    expect((await asked("--resume", id)).stderr).toMatch(
      /^Error: The chat .* was not found, but it may be in .*, which cannot be read: permission denied\. .*FILE_UNREADABLE/,
    );
    expect((await asked("--resume", id.slice(0, 8))).stderr).toMatch(
      /^Error: No readable chat starts with \w+\. The chats in .* cannot be read: permission denied\. .*FILE_UNREADABLE/,
    );
    open(project);
    expect((await asked("--resume", id)).exit).toBe(0);
  });

  it("unreadable configuration files are named, with the reason", async () => {
    for (const [file, ...args] of [
      ["mcp.json", "mcp", "list"],
      ["cli-config.json", "permissions", "list"],
      ["hooks.json", "hooks", "list"],
      ["hooks.json", "hooks", "doctor"],
    ] as const) {
      const path = join(workspace.config, file);
      writeFileSync(path, "{}");
      close(path);
      const { stdout, stderr } = await run(...args);
      expect(stdout + stderr).toMatch(new RegExp(`${file}:? exists but cannot be read: permission denied`));
      expect(stdout + stderr).not.toMatch(raw);
      chownSync(path, user, user);
    }
    const imported = await run("sessions", "import", "secret.txt");
    expect(imported.stderr).toMatch(/secret\.txt: the session cannot be read: permission denied\. \[FILE_UNREADABLE\]/);
    close(join(workspace.config, "projects"));
    expect((await run("trust")).stderr).toMatch(/projects, where trust is kept, cannot be read: permission denied/);
    open(join(workspace.config, "projects"));
  });
});
