// Commands of this program that change what the agent may do.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ownCommands } from "../../src/policy/own-commands.ts";
import { startedPrograms } from "../../src/policy/starts/wrappers.ts";

const found = (command: string) => ownCommands(startedPrograms(command).runs);

describe("commands of the program itself", () => {
  it.each([
    "courser",
    "cursor-agent",
    "agent",
    "courser.cjs",
    "courser.js",
    "courser-agent",
    "./bin/courser",
    "COURSER",
  ])("Courser's own commands are recognised under the name %s", (name) => {
    expect(found(`${name} permissions allow x`)).toHaveLength(1);
    expect(found(`${name} permissions list`)).toEqual([]);
  });

  it.each([
    "permissions allow x",
    "permissions deny x",
    "sandbox enable",
    "sandbox disable",
    "sandbox reset",
    "mcp enable x",
    "mcp disable x",
    "mcp add x",
    "mcp remove x",
    "mcp login x",
    "mcp logout x",
    "login",
    "logout",
    "install",
    "uninstall",
    "update",
    "upgrade",
    "install-shell-integration",
    "uninstall-shell-integration",
    "--model auto permissions --format json allow x",
    "--force x",
    "--yolo x",
    "--trust x",
    "--approve-mcp x",
    "--approve-mcps x",
    "--mcp-config x",
    "--hooks x",
    "--ask-command x",
    "--auto-review x",
    "--sandbox disabled",
    "--sandbox=disabled",
    "--add-dir /",
    "-f x",
    "-pf x",
    "-fp x",
    "$X",
    "-p $X",
    "permissions $X",
    "per*",
  ])("Courser's own command %s changes something", (args) => {
    expect(found(`courser ${args}`)).toHaveLength(1);
    expect(found(`node dist/courser.cjs ${args}`)).toHaveLength(1);
    expect(found(`node dist/other.cjs ${args}`)).toEqual([]);
    expect(found(`other courser ${args}`)).toEqual([]);
  });

  it.each([
    "",
    "-p hello",
    "permissions",
    "permissions list",
    "permissions check 'Shell: ls'",
    "allow permissions",
    "sandbox run ls",
    "mcp list",
    "models",
    "--format json -p hello",
    "--forced",
    "constructor",
  ])("Courser's own command %s is judged as changing nothing", (args) => {
    expect(found(`courser ${args}`)).toEqual([]);
    expect(found(`node dist/courser.cjs ${args}`)).toEqual([]);
  });

  it("the policy recognises Courser's own commands through a link and as a copy", () => {
    const folder = mkdtempSync(join(tmpdir(), "courser-own-"));
    try {
      const entry = readFileSync(join(import.meta.dirname, "../../src/cli/boot.ts"), "utf8");
      mkdirSync(join(folder, "dist"));
      writeFileSync(join(folder, "dist/courser.cjs"), entry);
      writeFileSync(join(folder, "copy.cjs"), entry);
      writeFileSync(join(folder, "other.cjs"), 'import "courser-agent";');
      symlinkSync("dist/courser.cjs", join(folder, "link"));
      symlinkSync(join(folder, "link"), join(folder, "second.js"));
      const here = (command: string) => ownCommands(startedPrograms(command).runs, [folder]);
      for (const program of ["./link", "node ./second.js", "bash -c './link \"$0\"'", "./copy.cjs"])
        expect(here(`${program} permissions allow x`), program).toHaveLength(1);
      expect(here(`node '${folder}/copy.cjs' --force x`)).toHaveLength(1);
      expect(here("env -u CURSOR_AGENT ./copy.cjs sandbox disable")).toHaveLength(1);
      expect(here("./link permissions list")).toEqual([]);
      expect(here("node other.cjs --force permissions allow x")).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("the policy reports each of Courser's own commands in a line once", () => {
    expect(found("courser login; courser login; courser logout")).toHaveLength(2);
  });
});
