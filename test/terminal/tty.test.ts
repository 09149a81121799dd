// However a program ends, the shell after it works.

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTty } from "../../src/terminal/tty.ts";
import { openPty, type Pty } from "./pty.ts";

let folder = "";
let program = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "courser-tty-"));
  program = join(folder, "program.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "tty-program.ts")],
    outfile: join(folder, "built.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  writeFileSync(program, 'import { main } from "./built.mjs";\nprocess.exitCode = await main();\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A shell with a setting that is not the default one, and the program in it. */
async function inShell(shell: "bash" | "sh" = "bash"): Promise<Pty> {
  const pty = openPty({
    command: `/bin/${shell}`,
    args: shell === "bash" ? ["--norc", "--noprofile", "-i"] : ["-i"],
    env: { PATH: process.env["PATH"]!, PS1: "$ " },
  });
  await pty.waitFor("$ ");
  pty.type("stty -g > before; echo set\r".replace("before", join(folder, "before")));
  await pty.waitFor(/^set$/m);
  pty.type(`${process.execPath} ${program}\r`);
  await pty.waitFor(/entered \d+/);
  return pty;
}

async function works(pty: Pty): Promise<void> {
  // The prompt of the shell may have come before the main screen did: then it was on the other one.
  await pty.waitFor(/\x1b\[<u/, { in: "output" });
  await pty.quiet();
  pty.type(`stty -g | cmp - ${join(folder, "before")} && echo sa""me\r`);
  await pty.waitFor(/^same$/m);
  const written = pty.output();
  for (const [on, off] of [
    ["\x1b[?2004h\x1b[>1u", "\x1b[<u"],
    ["\x1b[>4;2m", "\x1b[>4m"],
  ] as const)
    expect(written.lastIndexOf(off)).toBeGreaterThan(written.lastIndexOf(on));
  expect(written.lastIndexOf("\x1b[?25h")).toBeGreaterThan(written.lastIndexOf("\x1b[?25l"));
  expect(pty.isAlternate()).toBe(false);
  pty.kill();
}

describe("the terminal after a program", () => {
  it.each([
    ["that leaves", "q"],
    ["that exits", "e"],
    ["that throws", "x"],
  ])("the terminal is restored after %s", async (_, key) => {
    const pty = await inShell();
    pty.type("k");
    await pty.waitFor('key "k"'); // one by one: raw
    pty.type(key);
    await works(pty);
  });

  // Unlike bash, sh puts nothing back by itself.
  it.each([
    ["SIGKILL", "sh"],
    ["SIGKILL", "bash"],
    ["SIGTERM", "sh"],
    ["SIGHUP", "sh"],
  ] as const)("the terminal is restored after %s in %s, also from a pager", async (signal, shell) => {
    const pty = await inShell(shell);
    const pid = Number(/entered (\d+)/.exec(pty.output())![1]);
    pty.type("t");
    await pty.waitFor('key "t"');
    expect(pty.title()).toContain("mine");
    pty.type("a");
    await pty.waitFor('key "a"');
    expect(pty.isAlternate()).toBe(true);
    process.kill(pid, signal);
    await works(pty);
    expect(pty.title()).not.toContain("mine");
  });

  it("the shell has the terminal during suspension, and the program again after fg", async () => {
    const pty = await inShell();
    pty.type("z");
    await pty.waitFor(/suspends[\s\S]*Stopped/);
    pty.type('echo in be""tween\r');
    await pty.waitFor(/^in between$/m);
    pty.type("fg\r");
    await pty.waitFor("resumed");
    pty.type("k");
    await pty.waitFor('key "k"');
    pty.type("q");
    await works(pty);
  });

  it("the alternate screen does not overtake output that is still pending", () => {
    const fd = openSync(join(folder, "terminal"), "w");
    const written: string[] = [];
    const output = { fd, columns: 80, rows: 24, write: (text: string) => written.push(text) > 0 };
    const tty = openTty({ input: {} as never, output: output as never, env: {}, onResume() {} });
    output.write("pending");
    tty.alternate(true);
    tty.alternate(false);
    closeSync(fd);
    expect(written).toEqual(["pending", "\x1b[?1049h", "\x1b[?1049l"]);
    expect(readFileSync(join(folder, "terminal"), "utf8")).toBe("");
  });

  it("the terminal shows a hostile title as text", async () => {
    const pty = await inShell();
    pty.type("t");
    await pty.waitFor('key "t"');
    expect(pty.title()).toBe("mine\\u001b]2;evil\\u0007");
    pty.kill();
  });
});
