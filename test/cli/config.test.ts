// `config` through the built CLI: every setting is listed, and each is read and changed by its name.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { courserFields } from "../../src/store/courser-settings.ts";
import { settings } from "../../src/store/setting-table.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace();
});
afterEach(() => workspace.remove());

const config = (...args: string[]) => workspace.run(["config", ...args]);
const file = (name: string) => join(workspace.config, name);

describe("config", () => {
  it("config lists every setting with value, source and meaning, and writes nothing", async () => {
    const { exit, stdout, stderr } = await config();
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    for (const { name, meaning } of settings)
      expect(stdout).toMatch(new RegExp(`^${name.replaceAll(".", "\\.")} .*  ${meaning}$`, "m"));
    expect(existsSync(workspace.config)).toBe(false);
    const listed = JSON.parse((await config("list", "--format", "json")).stdout);
    expect(listed.map((each: { name: string }) => each.name)).toEqual(settings.map(({ name }) => name));
    expect(listed.find((each: { name: string }) => each.name === "retries")).toMatchObject({
      value: 3,
      source: "default",
    });
  });

  it("config knows every field of courser.json, and the page names every setting", () => {
    const names = settings.map(({ name }) => name.split(".")[0]);
    for (const name of Object.keys(courserFields))
      if (name !== "providers" && name !== "models") expect(names).toContain(name);
    const page = readFileSync(join(repository, "docs/configuration.md"), "utf8");
    for (const { name, file: home } of settings) if (home === "courser.json") expect(page).toContain(`\`${name}\``);
  });

  it.each([
    ["model", "gpt-5", "cli-config.json", { model: { modelId: "gpt-5", displayName: "gpt-5" } }, "gpt-5"],
    ["editor.vimMode", "true", "cli-config.json", { editor: { vimMode: true } }, "true"],
    ["approvalMode", "auto-review", "cli-config.json", { approvalMode: "auto-review" }, "auto-review"],
    ["statusLine", "echo hi", "cli-config.json", { statusLine: { type: "command", command: "echo hi" } }, "echo hi"],
    ["retries", "0", "courser.json", { retries: 0 }, "0"],
    ["fallbackModels", "gpt-5, haiku", "courser.json", { fallbackModels: ["gpt-5", "haiku"] }, '["gpt-5","haiku"]'],
    [
      "search.url",
      "http://127.0.0.1/x",
      "courser.json",
      { search: { url: "http://127.0.0.1/x" } },
      "http://127.0.0.1/x",
    ],
    ["providers.lab.keyEnv", "LAB", "courser.json", { providers: { lab: { keyEnv: "LAB" } } }, "LAB"],
  ])("config sets, gets and unsets %s", async (name, typed, home, content, shown) => {
    expect(await config("set", name, typed)).toMatchObject({ exit: 0, stderr: "" });
    expect(JSON.parse(readFileSync(file(home), "utf8"))).toMatchObject(content);
    expect(await config("get", name)).toMatchObject({ exit: 0, stdout: `${shown}\n` });
    expect((await config()).stdout).toMatch(new RegExp(`^${name.replaceAll(".", "\\.")} .* ${home} `, "m"));
    expect(await config("unset", name)).toMatchObject({ exit: 0, stderr: "" });
    expect(JSON.parse((await config("get", name, "--format", "json")).stdout).source).toMatch(/^(default|not set)$/);
    expect((await config("unset", name)).stdout).toContain("nothing was changed");
  });

  it("config keeps comments and everything else in the file", async () => {
    mkdirSync(workspace.config);
    writeFileSync(file("courser.json"), '{\n  // tried often\n  "retries": 2, // why\n  "idleMs": 9000\n}\n');
    await config("set", "retries", "7");
    const text = readFileSync(file("courser.json"), "utf8");
    expect(text).toContain("// tried often");
    expect((await config("get", "idleMs")).stdout).toBe("9000\n");
    expect((await config("get", "retries")).stdout).toBe("7\n");
  });

  it("config says when an environment variable overrides a setting of the file", async () => {
    const env = { COURSER_MODEL: "haiku" };
    expect((await workspace.run(["config", "get", "model"], { env })).stdout).toBe("haiku\n");
    expect((await workspace.run(["config", "set", "model", "gpt-5"], { env })).stderr).toContain(
      "COURSER_MODEL is set",
    );
    expect((await workspace.run(["config"], { env })).stdout).toMatch(/^model +haiku +COURSER_MODEL /m);
  });

  it("config does not show the values of headers", async () => {
    mkdirSync(workspace.config);
    const lab = { baseUrl: "http://127.0.0.1:9/v1", headers: { authorization: "Bearer hunter2hunter2" } };
    writeFileSync(file("courser.json"), JSON.stringify({ providers: { lab } }));
    for (const args of [[], ["list", "--format", "json"]]) {
      const { stdout } = await config(...args);
      expect(stdout).toContain("authorization");
      expect(stdout).not.toContain("hunter2");
    }
  });

  it.each([
    [["get", "nosuch"], "unknown setting 'nosuch'. To list them: courser config"],
    [["get", "vimMode"], "Did you mean editor.vimMode?"],
    [["get", "retrys"], "Did you mean retries?"],
    [["set", "retries"], "Type: courser config set retries <value>"],
    [["set", "retries", "many"], "'retries' must be an integer, at least 0, not 'many'"],
    [["set", "search.keyEnv", "sk-123"], "must be the name of an environment variable, not a key"],
    [["set", "permissions.allow", "Shell(ls)"], "Type: courser help permissions allow"],
    [["edit"], "there is no terminal"],
    [["edit", "other.json"], "cli-config.json or courser.json"],
  ])("config refuses %j", async (args, why) => {
    const { exit, stdout, stderr } = await config(...args);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain(why);
    expect(existsSync(workspace.config)).toBe(false);
  });

  it("inside an agent, config can be read but not changed", async () => {
    const env = { CURSOR_AGENT: "1" };
    expect((await workspace.run(["config", "get", "model"], { env })).exit).toBe(0);
    for (const args of [["set", "retries", "1"], ["unset", "retries"], ["edit"]])
      expect((await workspace.run(["config", ...args], { env })).stderr).toContain("agents may not change");
  });

  it("config path prints the paths of both files", async () => {
    expect((await config("path")).stdout).toBe(`${file("cli-config.json")}\n${file("courser.json")}\n`);
  });
});
