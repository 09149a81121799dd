import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { authFile, readKeys, removeKeys, saveKey } from "../../src/store/auth.ts";
import { configDir } from "../../src/store/config-dir.ts";
import { projectDir, projectSlug } from "../../src/store/project.ts";
import { isTrusted, trust } from "../../src/store/trust.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "courser-places-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("the configuration directory", () => {
  it.each([
    [{ HOME: "/h" }, "/h/.cursor"],
    [{ HOME: "/h", XDG_CONFIG_HOME: "/x" }, "/x/cursor"],
    [{ HOME: "/h", XDG_CONFIG_HOME: "" }, "/h/.cursor"],
    [{ HOME: "/h", XDG_CONFIG_HOME: "/x", CURSOR_CONFIG_DIR: "/c" }, "/c"],
    [{ HOME: "/h", CURSOR_CONFIG_DIR: "" }, "/h/.cursor"],
  ])("the configuration directory is chosen by the environment %j", (env, expected) => {
    expect(configDir(env)).toBe(expected);
  });
});

describe("project names", () => {
  it("project folder names collapse all characters but letters and digits", () => {
    expect(projectSlug("/Users/me/my_app (2)/")).toBe("Users-me-my-app-2");
    expect(projectDir("/c", "/a/b")).toBe("/c/projects/a-b");
    expect(projectDir("/c", "/")).toBe("/c/projects/root");
  });
});

describe("trust", () => {
  it("trust is saved privately by a folder's real path, also for paths with the same slug", () => {
    const config = join(base, "config");
    for (const name of ["a/b", "a-b"]) mkdirSync(join(base, name), { recursive: true });
    symlinkSync(join(base, "a/b"), join(base, "link"));
    expect(projectSlug(join(base, "a/b"))).toBe(projectSlug(join(base, "a-b")));
    trust(config, join(base, "link"));
    expect(isTrusted(config, join(base, "a/b"))).toBe(true);
    expect(isTrusted(config, join(base, "link"))).toBe(true);
    expect(isTrusted(config, join(base, "a-b"))).toBe(false);
    const marker = join(projectDir(config, join(base, "a/b")), ".workspace-trusted");
    expect(statSync(marker).mode & 0o777).toBe(0o600);
    trust(config, join(base, "a-b"));
    expect(isTrusted(config, join(base, "a-b"))).toBe(true);
  });

  it.each(["", "{", "null", '{"workspacePath":"/elsewhere"}', "[]"])(
    "a trust file with %j gives no trust",
    (content) => {
      const workspace = join(base, "ws");
      mkdirSync(workspace);
      mkdirSync(projectDir(base, workspace), { recursive: true });
      writeFileSync(join(projectDir(base, workspace), ".workspace-trusted"), content);
      expect(isTrusted(base, workspace)).toBe(false);
    },
  );
});

describe("saved keys", () => {
  it("API keys are saved per vendor in a file for its owner only, and can be removed", () => {
    expect(readKeys(base)).toEqual({});
    expect(removeKeys(base)).toEqual([]);
    writeFileSync(authFile(base), '{"other":1}', { mode: 0o644 });
    expect(removeKeys(base, "openai")).toEqual([]);
    expect(readFileSync(authFile(base), "utf8")).toBe('{"other":1}');
    saveKey(base, "anthropic", "k1");
    saveKey(base, "openai", "k2");
    saveKey(base, "openai", "k3");
    expect({ ...readKeys(base) }).toEqual({ anthropic: "k1", openai: "k3" });
    expect(statSync(authFile(base)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(authFile(base), "utf8"))).toMatchObject({
      other: 1,
      version: 1,
      keys: { openai: { key: "k3", savedAt: expect.any(String) } },
    });
    expect(removeKeys(base, "openai")).toEqual(["openai"]);
    expect(removeKeys(base)).toEqual(["anthropic"]);
    expect({ ...readKeys(base) }).toEqual({});
  });

  it("a broken key file is refused", () => {
    writeFileSync(authFile(base), '{"keys":[]}');
    expect(() => readKeys(base)).toThrow(/"keys" must be an object/);
  });
});
