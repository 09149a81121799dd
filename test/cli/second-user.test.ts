// Another user of the machine: whatever a run leaves on the disk is closed to others, however open the user's own mask is.
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace({ "a.txt": "words\n" });
});
afterEach(() => workspace.remove());

/** What others can list, read or write below a folder; what lies in a folder that is closed to them is out of their reach. */
function openBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isSymbolicLink() || (stat.mode & 0o077) === 0) return [];
    return [`${(stat.mode & 0o7777).toString(8)} ${path}`, ...(stat.isDirectory() ? openBelow(path) : [])];
  });
}

it("another local user can read nothing of a run, in the configuration or temporary files", () => {
  const temporary = join(workspace.home, "tmp");
  mkdirSync(temporary);
  const replies = [
    {
      calls: [
        { name: "Shell", args: { command: "seq 60000; (sleep 60 &)" } },
        { name: "Write", args: { path: "b.txt", content: "b" } },
        { name: "Shell", args: { command: "echo later", is_background: true } },
      ],
    },
    { text: "end" },
  ];
  writeFileSync(join(workspace.home, "script.json"), JSON.stringify(replies));
  const env = { ...workspace.env, TMPDIR: temporary };
  const courser = (...args: string[]) =>
    execFileSync("sh", ["-c", 'umask 000; exec "$@"', "sh", process.execPath, cli, ...args], {
      cwd: workspace.path,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const [log, recording] = [join(workspace.config, "run.log"), join(workspace.config, "run.recording")];
  const script = `script:${join(workspace.home, "script.json")}`;
  mkdirSync(workspace.config, { mode: 0o755, recursive: true });
  courser("-p", "--trust", "--force", "--model", script, "--log", log, "--record", recording, "go");
  courser("permissions", "allow", "Shell(ls)");
  courser("config", "set", "editor.vimMode", "true");
  courser("ls");
  expect(openBelow(workspace.config)).toEqual([]);
  // Names among temporary files of everybody cannot be guessed before, and what lies behind them is closed.
  expect(openBelow(temporary)).toEqual([]);
});
