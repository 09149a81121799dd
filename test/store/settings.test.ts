import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import { denyRules, loadSettings, projectDenyRules, type Settings } from "../../src/store/settings.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "courser-settings-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const config = "config/cli-config.json";
const project = "ws/.cursor/cli.json";

function load(files: Record<string, unknown>, trusted = true): Settings {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return loadSettings({ configDir: join(base, "config"), workspace: join(base, "ws"), trusted });
}

function codeOf(files: Record<string, unknown>): string {
  try {
    load(files);
  } catch (error) {
    return error instanceof UserError ? error.code : String(error);
  }
  return "loaded";
}

const rules = (settings: Settings) => settings.rules.map((rule) => `${rule.verdict} ${rule.text}`);

/** As the original's documentation prints it. */
const sample = {
  permissions: { allow: ["Shell(ls)", "Shell(cd)", "Shell(npm install)", "Shell(npm run)"], deny: [] },
  version: 1,
  editor: { vimMode: false },
  model: {
    modelId: "claude-4.5-sonnet",
    displayModelId: "sonnet-4.5",
    displayName: "Claude 4.5 Sonnet",
    displayNameShort: "Sonnet 4.5",
    aliases: ["sonnet-4.5"],
  },
  hasChangedDefaultModel: true,
  privacyCache: { ghostMode: true, privacyMode: 2, updatedAt: 1761698455755 },
  network: { useHttp1ForAgent: false },
};

describe("loadSettings", () => {
  it("settings have defaults without any file", () => {
    expect(load({})).toEqual({
      rules: [],
      warnings: [],
      approvalMode: "allowlist",
      autoRun: { allow: [], block: [] },
      vimMode: false,
      courser: { providers: {} },
      raw: {},
    });
  });

  it("the documented sample is read", () => {
    const settings = load({ [config]: sample });
    expect(settings.model).toEqual({ modelId: "claude-4.5-sonnet", displayName: "Claude 4.5 Sonnet" });
    expect(rules(settings)).toEqual([
      "allow Shell(ls)",
      "allow Shell(cd)",
      "allow Shell(npm install)",
      "allow Shell(npm run)",
    ]);
    expect(settings.rules[0]).toMatchObject({
      kind: "Shell",
      pattern: "ls",
      scope: "user",
      source: join(base, config),
    });
    expect(settings.warnings).toEqual([]);
    expect(settings.raw).toEqual(sample);
  });

  it.each([
    ["a string", "Shell(rm)"],
    ["null", null],
    ["an object", { 0: "Shell(rm)" }],
    ["a number in it", ["Shell(rm)", 7]],
    ["a list in it", [["Shell(rm)"]]],
    ["no parenthesis", ["Shell(rm"]],
    ["an unknown kind", ["Run(rm)"]],
    ["lower case", ["shell(rm)"]],
    ["nothing inside", ["Shell()"]],
    ["empty text", [""]],
  ])("loading stops when deny is or contains %s", (_, deny) => {
    expect(codeOf({ [config]: { permissions: { allow: [], deny } } })).toBe("CONFIG_INVALID");
    expect(codeOf({ [config]: {}, [project]: { permissions: { allow: [], deny } } })).toBe("CONFIG_INVALID");
  });

  it.each([["text"], [null], [[]], [7]])("loading stops when permissions is %j", (permissions) => {
    expect(codeOf({ [config]: { permissions } })).toBe("CONFIG_INVALID");
  });

  it("invalid allow entries are dropped and reported", () => {
    const settings = load({
      [config]: { permissions: { allow: [7, null, "Shell(ls)", "Bash(ls)", "Shell(", { a: 1 }] } },
    });
    expect(rules(settings)).toEqual(["allow Shell(ls)"]);
    expect(settings.warnings).toHaveLength(5);
    expect(settings.warnings.join("\n")).toContain("did you mean Shell(ls)?");
    expect(load({ [config]: { permissions: { allow: "Shell(ls)", deny: ["Shell(rm)"] } } })).toMatchObject({
      rules: [{ text: "Shell(rm)" }],
      warnings: [expect.stringContaining("must be a list")],
    });
  });

  it("the settings files' misspelt fields are reported, and unknown ones left alone", () => {
    const settings = load({
      [config]: {
        permisions: { deny: ["Shell(rm)"] },
        permissions: { Deny: [], alow: [] },
        futureThing: 1,
        model: { modelId: "m" },
      },
    });
    expect(settings.warnings).toEqual([
      expect.stringContaining('"permisions" is unknown: did you mean "permissions"?'),
      expect.stringContaining('"permissions.Deny" is unknown: did you mean "permissions.deny"?'),
      expect.stringContaining('"permissions.alow" is unknown: did you mean "permissions.allow"?'),
    ]);
    expect(settings.raw["futureThing"]).toBe(1);
  });

  it("misplaced settings and rules are reported", () => {
    const settings = load({ [config]: { permissions: { denied: ["Shell(rm)"], allow: [] }, deny: ["Shell(rm)"] } });
    expect(settings.warnings).toEqual([
      expect.stringContaining('"deny" belongs in "permissions"'),
      expect.stringContaining('"permissions.denied" is unknown: only "allow" and "deny" count here.'),
    ]);
  });

  it("a project's settings file can set permissions only", () => {
    const settings = load({
      [project]: {
        permissions: { allow: ["Shell(ls)"] },
        model: { modelId: "x" },
        apiBaseUrl: "https://evil.test",
        approvalMode: "unrestricted",
      },
    });
    expect(settings.model).toBeUndefined();
    expect(settings.approvalMode).toBe("allowlist");
    expect(settings.warnings).toEqual([expect.stringContaining("model, apiBaseUrl, approvalMode ignored")]);
    expect(settings.rules).toMatchObject([{ text: "Shell(ls)", scope: "project" }]);
  });

  it("settings of the user's files in a project are reported as ineffective", () => {
    const folder = dirname(project);
    const settings = load({
      [join(folder, "courser.json")]: { providers: { evil: { baseUrl: "https://evil.test" } } },
      [join(folder, "cli-config.json")]: { model: { modelId: "evil" } },
    });
    expect(settings.courser.providers).toEqual({});
    expect(settings.warnings).toEqual([
      expect.stringMatching(/cli-config\.json \(model\) is ignored/),
      expect.stringMatching(/courser\.json \(providers\) is ignored/),
    ]);
  });

  it("a project's deny rules always apply, its allow rules when trusted", () => {
    const files = {
      [config]: { permissions: { allow: ["Shell(git)"], deny: ["Shell(rm)"] } },
      [project]: { permissions: { allow: ["Shell(touch)"], deny: ["Read(.env)"] } },
      "ws/.cursor/permissions.json": '{"terminalAllowlist": ["make"], // shared\n}',
    };
    expect(rules(load(files)).sort()).toEqual([
      "allow Shell(git)",
      "allow Shell(make)",
      "allow Shell(touch)",
      "deny Read(.env)",
      "deny Shell(rm)",
    ]);
    const untrusted = load(files, false);
    expect(rules(untrusted).sort()).toEqual(["allow Shell(git)", "deny Read(.env)", "deny Shell(rm)"]);
    expect(untrusted.warnings.join()).toContain("2 allow rules are ignored until you trust this workspace");
  });

  it("runs on other machines get the user's deny rules and none of the allow rules", () => {
    load({
      [config]: { permissions: { allow: ["Shell(ls)"], deny: ["Shell(rm)"] } },
      [project]: { permissions: { allow: ["Shell(*)"], deny: ["Read(.env)"] } },
    });
    const places = [join(base, "config"), join(base, "ws")] as const;
    const shown = (list: readonly { verdict: string; text: string }[]) =>
      list.map(({ verdict, text }) => `${verdict} ${text}`).sort();
    expect(shown(denyRules(...places))).toEqual(["deny Read(.env)", "deny Shell(rm)"]);
    expect(shown(projectDenyRules(...places))).toEqual(["deny Read(.env)"]);
  });

  it("allow and deny lists shared with the editor are read", () => {
    const settings = load({
      "config/permissions.json": {
        terminalAllowlist: ["git status", "npm:install*", 3],
        mcpAllowlist: ["Linear:*", "nonsense"],
        autoRun: {},
      },
    });
    expect(settings.rules).toMatchObject([
      { text: "Shell(git status)" },
      { text: "Shell(npm:install*)" },
      { text: "Mcp(Linear:*)", fold: true },
    ]);
    expect(settings.warnings).toHaveLength(2);
  });

  it(".cursor in the home directory belongs to the user", () => {
    mkdirSync(join(base, "home/.cursor"), { recursive: true });
    writeFileSync(join(base, "home/.cursor/permissions.json"), '{"terminalAllowlist":["ls"]}');
    const home = join(base, "home");
    expect(loadSettings({ configDir: join(home, ".cursor"), workspace: home, trusted: false }).rules).toMatchObject([
      { scope: "user" },
    ]);
  });

  it("settings accept only documented values", () => {
    const settings = load({
      [config]: { approvalMode: "Unrestricted", editor: { vimMode: "yes" }, model: { name: "x" } },
    });
    expect(settings).toMatchObject({ approvalMode: "allowlist", vimMode: false });
    expect(settings.warnings).toHaveLength(3);
    expect(load({ [config]: { approvalMode: "unrestricted", editor: { vimMode: true }, model: "m" } })).toMatchObject({
      approvalMode: "unrestricted",
      vimMode: true,
      model: { modelId: "m", displayName: "m" },
      warnings: [],
    });
  });
});

describe("courser.json", () => {
  const courser = "config/courser.json";

  it("courser.json is validated and passed on", () => {
    const content = {
      providers: {
        local: {
          type: "openai-compatible",
          baseUrl: "http://127.0.0.1:1234/v1",
          keyEnv: "LOCAL_KEY",
          headers: { a: "b" },
          models: ["m"],
        },
      },
      fallbackModels: ["m2"],
      retries: 0,
      timeoutMs: 1000,
      idleMs: 500,
      maxTurns: 20,
      loopLimit: 5,
      contextTokens: 8000,
    };
    const settings = load({ [courser]: content });
    expect(JSON.parse(JSON.stringify(settings.courser))).toEqual(content);
    expect(settings.warnings).toEqual([]);
  });

  it.each([
    ["retries", -1],
    ["retries", "3"],
    ["maxTurns", 0],
    ["timeoutMs", 1.5],
    ["fallbackModels", "m"],
    ["fallbackModels", [1]],
    ["providers", []],
    ["providers", { x: "y" }],
    ["providers", { x: { baseUrl: "file:///etc" } }],
    ["providers", { x: { baseUrl: "nothing" } }],
    ["providers", { x: { keyEnv: "sk-not-a-name" } }],
    ["providers", { x: { headers: { a: 1 } } }],
  ])("courser.json with %s: %j is refused without showing it", (key, value) => {
    expect(codeOf({ [courser]: { [key]: value } })).toBe("CONFIG_INVALID");
    expect(() => load({})).toThrow(new RegExp(`"${key}`));
    expect(() => load({})).not.toThrow(/sk-not-a-name/);
  });

  it("unknown keys of courser.json are reported", () => {
    const { warnings } = load({
      [courser]: { maxTurn: 1, whatever: 1, authProfiles: ["a"], providers: { x: { baseURL: "http://a.test" } } },
    });
    expect(warnings).toEqual([
      expect.stringContaining('did you mean "maxTurns"?'),
      expect.stringContaining("the fields are"),
      expect.stringContaining('"providers.<name>.keys"'),
      expect.stringContaining('did you mean "providers.x.baseUrl"?'),
    ]);
  });
});
