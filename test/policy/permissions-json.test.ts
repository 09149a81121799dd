// The files that hold permissions, from their text to the answer of a call.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decide, type Situation } from "../../src/policy/decide.ts";
import type { Need } from "../../src/policy/need.ts";
import { entryLines } from "../../src/store/rule-files.ts";
import { loadSettings, type Settings } from "../../src/store/settings.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "courser-permissions-")));
  mkdirSync(join(base, "ws"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const user = "config/cli-config.json";
const project = "ws/.cursor/cli.json";
const shared = "config/permissions.json";
const projectShared = "ws/.cursor/permissions.json";

function load(files: Record<string, unknown>, trusted = true): Settings {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return loadSettings({ configDir: join(base, "config"), workspace: join(base, "ws"), trusted });
}

async function verdict(settings: Settings, kind: Need["kind"], target: string, mode: Situation["mode"] = "default") {
  const place = { workspace: join(base, "ws"), roots: [], home: base, configDir: join(base, "config") };
  const situation: Situation = { ...place, mode, interactive: true, rules: settings.rules, sandbox: "off" };
  return (await decide([{ kind, target }], situation)).verdict;
}

describe("merging rules of all files", () => {
  it("documented files are read with everything else they contain", async () => {
    const plain = { permissions: { allow: ["Shell(rm)", "Shell(git push)"], deny: [] } };
    expect(load({ [user]: plain })).toMatchObject({ warnings: [], rules: [{}, {}] });
    const settings = load({
      [user]: {
        permissions: { allow: ["Shell(ls)", "Shell(cd)", "Shell(npm install)", "Shell(npm run)"], deny: [] },
        version: 1,
        editor: { vimMode: false },
        model: { modelId: "claude-4.5-sonnet", displayName: "Claude 4.5 Sonnet", aliases: ["sonnet-4.5"] },
        hasChangedDefaultModel: true,
        privacyCache: { ghostMode: true, privacyMode: 2, updatedAt: 1761696000000 },
        network: { useHttp1ForAgent: false },
        approvalMode: "allowlist",
        sandbox: { mode: "disabled", networkAccess: "allowlist" },
      },
    });
    expect(settings.warnings).toEqual([]);
    expect(settings.rules).toHaveLength(4);
    expect(await verdict(settings, "Shell", "npm run build && ls -l")).toBe("allow");
    expect(await verdict(settings, "Shell", "npm publish")).toBe("ask");
  });

  it("rules of all permission files are united, and any deny wins", async () => {
    const settings = load({
      [user]: { permissions: { allow: ["Shell(git)"], deny: ["Shell(git push)"] } },
      [project]: { permissions: { allow: ["Shell(make)", "Shell(git push)"], deny: ["Shell(git reset)"] } },
      [shared]: { terminalAllowlist: ["cargo build", "npm:run *"], mcpAllowlist: ["Linear:get_*"] },
      [projectShared]: { terminalAllowlist: ["go"] },
    });
    for (const command of ["git status", "make all", "cargo build --release", "npm run build", "go test ./..."])
      expect([command, await verdict(settings, "Shell", command)]).toEqual([command, "allow"]);
    for (const command of ["cargo publish", "npm install", "rm x"])
      expect([command, await verdict(settings, "Shell", command)]).toEqual([command, "ask"]);
    for (const mode of ["default", "force"] as const) {
      expect(await verdict(settings, "Shell", "git push", mode)).toBe("deny");
      expect(await verdict(settings, "Shell", "git -C . reset --hard", mode)).toBe("deny");
    }
  });

  it("project permission rules widen only in a trusted folder, and always narrow", async () => {
    const files = {
      [project]: { permissions: { allow: ["Shell(make)"], deny: ["Shell(ls)"] } },
      [projectShared]: { terminalAllowlist: ["go"], autoRun: { allow_instructions: ["a"], block_instructions: ["b"] } },
    };
    const settings = load(files, false);
    expect(await verdict(settings, "Shell", "make")).toBe("ask");
    expect(await verdict(settings, "Shell", "go build")).toBe("ask");
    expect(await verdict(settings, "Shell", "ls", "force")).toBe("deny");
    expect(settings.autoRun).toEqual({ allow: [], block: ["b"] });
    expect(load(files).autoRun).toEqual({ allow: ["a"], block: ["b"] });
  });

  it("names in each list of permissions.json are compared with or without case, as the list requires", async () => {
    const settings = load({
      [user]: { permissions: { allow: ["Mcp(Linear:list)", "WebFetch(Docs.Example.COM)"], deny: ["Mcp(evil:*)"] } },
      [shared]: { terminalAllowlist: ["Git"], mcpAllowlist: ["GitHub:Get_*"] },
    });
    expect(await verdict(settings, "Mcp", "linear:list")).toBe("ask");
    expect(await verdict(settings, "Mcp", "Linear:list")).toBe("allow");
    expect(await verdict(settings, "Mcp", "github:get_issue")).toBe("allow");
    expect(await verdict(settings, "Mcp", "github:set_issue")).toBe("ask");
    expect(await verdict(settings, "Mcp", "EVIL:x", "force")).toBe("deny");
    expect(await verdict(settings, "Shell", "git status")).toBe("ask");
    expect(await verdict(settings, "WebFetch", "https://docs.example.com/x")).toBe("allow");
    expect(await verdict(settings, "WebFetch", "https://docs.example.com.evil.test/")).toBe("ask");
  });
});

describe("permissions.json", () => {
  it("permissions.json may contain comments and instructions for a reviewer", () => {
    const text = `{
      // shared with the editor
      "terminalAllowlist": ["git status",],
      "autoRun": { "allow_instructions": ["Tests may run.", " "], "block_instructions": ["No publishing."], },
    }`;
    const settings = load({ [shared]: text, [projectShared]: { autoRun: { block_instructions: ["No network."] } } });
    expect(settings.warnings).toEqual([]);
    expect(settings.autoRun).toEqual({ allow: ["Tests may run."], block: ["No publishing.", "No network."] });
  });

  it("entries of permissions.json that cannot be used are reported", () => {
    const settings = load({
      [shared]: { terminalAlowlist: [], autoRun: { allowInstructions: [], block_instructions: "x" }, other: 1 },
      [projectShared]: { autoRun: [] },
    });
    expect(settings.warnings).toEqual([
      expect.stringContaining('did you mean "terminalAllowlist"?'),
      expect.stringContaining('did you mean "autoRun.allow_instructions"?'),
      expect.stringContaining('"autoRun.block_instructions" must be a list of sentences'),
      expect.stringContaining('"autoRun" must be an object'),
    ]);
  });
});

describe("faulty rules", () => {
  it("a faulty deny rule is reported with its line", () => {
    const text = '{\n  "permissions": {\n    "deny": [\n      "Shell(rm)",\n      "Bash(curl)"\n    ]\n  }\n}';
    expect(() => load({ [user]: text })).toThrow(
      /cli-config\.json, line 5: "permissions\.deny\[1\]": .*did you mean Shell\(curl\)/,
    );
    expect(() => load({ [user]: "{}", [project]: '{"permissions":{"deny":[1]}}' })).toThrow(/cli\.json, line 1: /);
    expect(() => load({ [user]: '{\n  "permissions": {,}\n}', [project]: "{}" })).toThrow(/line 2, column 19/);
  });

  it("faulty entries of a permission file do not shift the line numbers of others", () => {
    const { rules } = load({
      [user]: '\ufeff{ "permissions": {\n"deny": ["Shell(a)"],\n"allow": [\n"Shell(b)", "bad",\n"Shell(c)"] } }',
      [shared]: '{\n"terminalAllowlist": ["d"]}',
    });
    expect(rules.map(({ text, source, entry }) => [text, entry, entryLines(source)(entry)])).toEqual([
      ["Shell(a)", "permissions.deny[0]", 2],
      ["Shell(b)", "permissions.allow[0]", 4],
      ["Shell(c)", "permissions.allow[2]", 5],
      ["Shell(d)", "terminalAllowlist[0]", 2],
    ]);
  });
});

describe("approvalMode", () => {
  it.each(["allowlist", "auto-review", "unrestricted"] as const)(
    "a project's permissions.json cannot set %s, only the user's can",
    (approvalMode) => {
      expect(load({ [user]: { approvalMode } }).approvalMode).toBe(approvalMode);
      expect(load({ [user]: {}, [project]: { approvalMode } }).approvalMode).toBe("allowlist");
    },
  );
});
