// The built program with a scripted model in a pty, for tests; what was started is ended after each of them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { openCli, type Pty, type PtyOptions } from "./pty.ts";

export type Started = { pty: Pty; workspace: Workspace; again(args?: string[]): Pty };
type StartOptions = { args?: string[]; files?: Record<string, string> } & Partial<PtyOptions>;

/** To be called once in a file of tests. */
export function starter(): (script: unknown, options?: StartOptions) => Promise<Started> {
  const opened: { ptys: Pty[]; workspace: Workspace }[] = [];
  afterEach(async () => {
    for (const { ptys, workspace } of opened.splice(0)) {
      for (const pty of ptys) pty.kill();
      for (const pty of ptys) await pty.ended;
      workspace.remove();
    }
  });
  return async (script, { args = ["--force", "--trust"], files = {}, ...options } = {}) => {
    const workspace = createWorkspace(files);
    const file = join(workspace.path, "../script.json");
    writeFileSync(file, JSON.stringify(script));
    const ptys: Pty[] = [];
    const open = (given: string[]) => {
      const pty = openCli(workspace, ["--model", `script:${file}`, ...given], { columns: 90, rows: 26, ...options });
      ptys.push(pty);
      return pty;
    };
    opened.push({ ptys, workspace });
    return { pty: open(args), workspace, again: (given = args) => open(given) };
  };
}

export const ready = (pty: Pty) => pty.waitFor("Ask, or type /");
export const shell = (command: string) => ({ calls: [{ name: "Shell", args: { command } }] });
export const send = (pty: Pty, text: string) => pty.type(`${text}\r`);
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Long enough for a question to count as read. */
export const read = () => pause(600);
/** The row with the mark of a menu. */
export const marked = async (pty: Pty) => (await pty.screen()).findLast((line) => /^\s+› \S/.test(line))?.trim() ?? "";
