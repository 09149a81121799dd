// sandbox.json of the user and of the project: what each may say, and what holds in the end.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadSandboxSettings } from "../../src/store/sandbox-settings.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "courser-settings-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

type Files = { user?: unknown; project?: unknown; config?: Record<string, unknown> };

function load({ user, project, config = {} }: Files) {
  const place = { configDir: join(base, "config"), workspace: join(base, "work"), cliConfig: { sandbox: config } };
  const files = {
    [join(place.configDir, "sandbox.json")]: user,
    [join(place.workspace, ".cursor/sandbox.json")]: project,
  };
  for (const [file, content] of Object.entries(files)) {
    if (content === undefined) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
  return loadSandboxSettings(place);
}

describe("sandbox defaults", () => {
  it("by default the workspace and a private /tmp are writable, and there is no network", () => {
    expect(load({})).toEqual({
      mode: "auto",
      type: "workspace_readwrite",
      readwritePaths: [],
      readonlyPaths: [],
      readBoundary: "system",
      readPaths: [],
      tmpWrite: true,
      sharedBuildCache: false,
      network: { default: "deny", allow: [], deny: [] },
      environment: [],
      limits: {},
      warnings: [],
    });
  });

  it.each([
    ["enabled", "enabled"],
    ["on", "enabled"],
    ["disabled", "disabled"],
    ["allowlist", "disabled"],
    ["sideways", "auto"],
    [true, "auto"],
  ])("sandbox.mode %j means %s", (mode, meaning) => {
    const { mode: found, warnings } = load({ config: { mode } });
    expect(found).toBe(meaning);
    expect(warnings).toHaveLength(meaning === "auto" ? 1 : 0);
  });
});

describe("sandbox settings of the user", () => {
  it("the user's sandbox.json may set everything, with comments", () => {
    const user = `{ // mine
      "type": "workspace_readonly", "additionalReadwritePaths": ["~/out"], "additionalReadonlyPaths": ["dist"],
      "readBoundary": "workspace", "additionalReadPaths": ["/opt"], "disableTmpWrite": true, "enableSharedBuildCache": true,
      "networkPolicy": { "default": "allow", "allow": ["a.test"], "deny": ["b.test"] },
      "environment": ["MY_THING"], "limits": { "memoryMb": 512, "processes": 64 } }`;
    expect(load({ user })).toMatchObject({
      type: "workspace_readonly",
      readwritePaths: ["~/out"],
      readonlyPaths: ["dist"],
      readBoundary: "workspace",
      readPaths: ["/opt"],
      tmpWrite: false,
      sharedBuildCache: true,
      network: { default: "allow", allow: ["a.test"], deny: ["b.test"] },
      environment: ["MY_THING"],
      limits: { memoryMb: 512, processes: 64 },
      warnings: [],
    });
  });

  it("the user may switch the sandbox off", () => {
    expect(load({ user: { type: "insecure_none" }, config: { mode: "enabled" } }).mode).toBe("disabled");
  });

  it.each([
    ["disabled", { default: "allow", allow: ["a.test"] }, { default: "deny", allow: [] }],
    ["allowlist", { allow: ["a.test"] }, { default: "deny", allow: ["a.test"] }],
    ["enabled", {}, { default: "allow", allow: [] }],
    ["enabled", { default: "deny", allow: ["a.test"] }, { default: "deny", allow: ["a.test"] }],
  ])("networkAccess %s and %j: the stricter one holds", (networkAccess, networkPolicy, expected) => {
    expect(load({ user: { networkPolicy }, config: { networkAccess } }).network).toEqual({ ...expected, deny: [] });
  });

  it.each([
    [{ type: "open" }, /"type" must be one of workspace_readwrite/],
    [{ networkPolicy: { deny: "a.test" } }, /"networkPolicy.deny" must be a list of strings/],
    [{ networkPolicy: [] }, /"networkPolicy" must be an object/],
    [{ disableTmpWrite: "yes" }, /"disableTmpWrite" must be true or false/],
    [{ limits: { memoryMb: 0 } }, /"limits.memoryMb" must be an integer/],
    [{ environment: ["A=1"] }, /"environment" must be a list of names/],
    ["{ broken", /line 1/],
  ])("invalid settings stop the run: %j", (user, message) => {
    expect(() => load({ user })).toThrow(message);
    expect(() => load({ project: user })).toThrow(message);
  });

  it("a bare word is reported as invalid in cli-config.json", () => {
    const place = { configDir: join(base, "config"), workspace: join(base, "work") };
    const { mode, warnings } = loadSandboxSettings({ ...place, cliConfig: { sandbox: "disabled" } });
    expect([mode, warnings]).toEqual(["auto", [expect.stringContaining('"sandbox" must be an object')]]);
  });

  it("misspelt sandbox settings are reported; unrelated names are left to later versions", () => {
    const { warnings } = load({ user: { additionalReadWritePaths: ["/"], networkPolicy: { denny: [] }, later: 1 } });
    expect(warnings.map((each) => each.replace(/^.*: "/, '"'))).toEqual([
      expect.stringContaining('did you mean "additionalReadwritePaths"?'),
      expect.stringContaining('did you mean "networkPolicy.deny"?'),
    ]);
  });
});

describe("sandbox settings of a project", () => {
  it("a project's sandbox.json may narrow every setting", () => {
    const project = {
      type: "workspace_readonly",
      additionalReadonlyPaths: ["gen"],
      readBoundary: "workspace",
      additionalReadPaths: ["/opt/sdk"],
      disableTmpWrite: true,
      enableSharedBuildCache: false,
      networkPolicy: { default: "deny", allow: ["registry.test"], deny: ["evil.test"] },
      limits: { memoryMb: 100, processes: 900 },
    };
    const user = {
      enableSharedBuildCache: true,
      networkPolicy: { default: "allow", deny: ["b.test"] },
      limits: { memoryMb: 512, processes: 64 },
    };
    expect(load({ user, project })).toMatchObject({
      type: "workspace_readonly",
      readonlyPaths: ["gen"],
      readBoundary: "workspace",
      readPaths: ["/opt/sdk"],
      tmpWrite: false,
      sharedBuildCache: false,
      network: { default: "deny", allow: ["registry.test"], deny: ["b.test", "evil.test"] },
      limits: { memoryMb: 100, processes: 64 },
      warnings: [],
    });
  });

  it.each([{ deny: ["evil.test"] }, { default: "deny", deny: ["evil.test"] }])(
    "a project's sandbox.json may deny hosts without naming any that are allowed: %j",
    (networkPolicy) => {
      for (const user of [{}, { networkPolicy: { default: "deny", allow: ["a.test"] } }]) {
        const { network, warnings } = load({ user, project: { networkPolicy } });
        expect(network).toEqual({ default: "deny", allow: user.networkPolicy?.allow ?? [], deny: ["evil.test"] });
        expect(warnings).toEqual([]);
      }
    },
  );

  it("a project's sandbox.json may widen no setting, and the user gets a notice", () => {
    const project = {
      type: "insecure_none",
      additionalReadwritePaths: ["~"],
      readBoundary: "system",
      additionalReadPaths: ["~/.ssh"],
      disableTmpWrite: false,
      enableSharedBuildCache: true,
      networkPolicy: { default: "allow", allow: ["evil.test"] },
      environment: ["AWS_SECRET_ACCESS_KEY"],
      limits: { memoryMb: 99_999 },
    };
    const user = { readBoundary: "workspace", disableTmpWrite: true, limits: { memoryMb: 512 } };
    const { warnings, ...settings } = load({ user, project });
    const { warnings: _none, ...own } = load({ user, project: {} });
    expect(settings).toEqual(own);
    expect(warnings).toHaveLength(6);
    expect(warnings.every((each) => each.includes("a project may only narrow"))).toBe(true);
  });

  it("in the home directory the file is the user's own", () => {
    const configDir = join(base, ".cursor");
    mkdirSync(configDir);
    writeFileSync(join(configDir, "sandbox.json"), '{"additionalReadwritePaths": ["/opt/out"]}');
    const { readwritePaths, warnings } = loadSandboxSettings({ configDir, workspace: base, cliConfig: {} });
    expect({ readwritePaths, warnings }).toEqual({ readwritePaths: ["/opt/out"], warnings: [] });
  });
});
