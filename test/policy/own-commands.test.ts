// Commands of this program that change what the agent may do.
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
  ])("are known as %s", (name) => {
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
  ])("%s is a change", (args) => {
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
  ])("%s is none", (args) => {
    expect(found(`courser ${args}`)).toEqual([]);
    expect(found(`node dist/courser.cjs ${args}`)).toEqual([]);
  });

  it("are told once each", () => {
    expect(found("courser login; courser login; courser logout")).toHaveLength(2);
  });
});
