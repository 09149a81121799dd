import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import { editJson } from "../../src/store/json-edit.ts";
import { parseJsonc, rangesIn } from "../../src/store/jsonc.ts";
import { addRule } from "../../src/store/rule-edit.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "courser-rules-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** The text with one more entry at the end of a list. */
function withRule(text: string, list: "allow" | "deny", rule: string): string {
  return editJson(text, [{ type: "append", path: ["permissions", list], value: rule }]);
}

describe("adding a rule to a file's text", () => {
  it.each([
    ["an empty object", "{}", '{"permissions": {"allow":["X"]}}'],
    ["other fields", '{"a":1}', '{"a":1, "permissions": {"allow":["X"]}}'],
    [
      "other fields on lines",
      '{\n  "a": 1\n}\n',
      '{\n  "a": 1,\n  "permissions": {\n    "allow": [\n      "X"\n    ]\n  }\n}\n',
    ],
    ["the other list", '{"permissions":{"deny":[]}}', '{"permissions":{"deny":[], "allow": ["X"]}}'],
    ["an empty list", '{"permissions":{"allow":[]}}', '{"permissions":{"allow":["X"]}}'],
    ["one entry", '{"permissions":{"allow":["a"]}}', '{"permissions":{"allow":["a", "X"]}}'],
    ["a comma at the end", '{"permissions":{"allow":["a",]}}', '{"permissions":{"allow":["a", "X",]}}'],
    [
      "a comment to the end of the line",
      '{"permissions":{"allow":["a" // why\n]}}',
      '{"permissions":{"allow":["a", // why\n"X"\n]}}',
    ],
    [
      "only a comment",
      '{\n  "permissions": {\n    "allow": [ // none\n    ]\n  }\n}',
      '{\n  "permissions": {\n    "allow": [ // none\n      "X"\n    ]\n  }\n}',
    ],
    [
      "lines with comments",
      '{\n  // mine\n  "permissions": {\n    "allow": [\n      "a", // one\n      "b" /* two */\n      // end\n    ],\n  },\n}\n',
      '{\n  // mine\n  "permissions": {\n    "allow": [\n      "a", // one\n      "b", /* two */\n      "X"\n      // end\n    ],\n  },\n}\n',
    ],
    [
      "tabs and CR LF",
      '{\r\n\t"permissions": {\r\n\t\t"allow": []\r\n\t}\r\n}',
      '{\r\n\t"permissions": {\r\n\t\t"allow": [\r\n\t\t\t"X"\r\n\t\t]\r\n\t}\r\n}',
    ],
    ["a byte order mark", '\ufeff{"permissions":{"allow":["a"]}}', '\ufeff{"permissions":{"allow":["a", "X"]}}'],
    [
      "texts that look like more",
      '{"permissions":{"allow":["]", "//"]}}',
      '{"permissions":{"allow":["]", "//", "X"]}}',
    ],
    ["a key called __proto__", '{"__proto__":{"x":1}}', '{"__proto__":{"x":1}, "permissions": {"allow":["X"]}}'],
  ])("a permission rule is added to a file with %s", (_, text, expected) => {
    expect(withRule(text, "allow", "X")).toBe(expected);
  });

  it("adding a permission rule to a file of any layout keeps its content", () => {
    let state = 11;
    const random = (below: number) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
    const blank = () => ["", " ", "\n  ", " // c\n", " /* , ] } */ ", "\r\n\t", "/* a\n b */"][random(7)]!;
    const list = (items: string[]) =>
      `[${blank()}${items.map((item) => `"${item}"${blank()}`).join(`,${blank()}`)}${items.length > 0 && random(2) ? "," : ""}${blank()}]`;
    for (let round = 0; round < 500; round++) {
      const allow = `"allow"${blank()}:${blank()}${list(["a", "Shell(b \\u0063)", "[]{}//"].slice(0, random(4)))}`;
      const inner = [allow, `"deny":${list(["d"].slice(random(2)))}`].slice(random(2), 1 + random(2));
      const comma = inner.length > 0 && random(2) ? "," : "";
      const permissions = `"permissions":${blank()}{${blank()}${inner.join(`,${blank()}`)}${blank()}${comma}${blank()}}`;
      const text = `{${blank()}${['"z": [1]', permissions, '"y": {}'].slice(random(2), 1 + random(3)).join(`,${blank()}`)}${blank()}}${blank()}`;
      const before = parseJsonc(text) as { permissions?: { allow?: string[] } };
      const after = parseJsonc(withRule(text, "allow", 'New("x")')) as typeof before;
      const expected = [...(before.permissions?.allow ?? []), 'New("x")'];
      expect({ text, allow: after.permissions!.allow }).toEqual({ text, allow: expected });
      expect(after).toEqual({ ...before, permissions: { ...before.permissions, allow: expected } });
    }
  });
});

describe("adding a rule to a file", () => {
  const add = (file: string, rule: string, scope: "user" | "project" = "user") =>
    addRule(file, { list: "allow", rule, scope });

  it("adding a permission rule creates a missing file: private for the user, readable in a project", () => {
    const own = join(base, "config/cli-config.json");
    expect(add(own, "Shell(ls)")).toBe(true);
    expect(JSON.parse(readFileSync(own, "utf8"))).toEqual({
      version: 1,
      permissions: { allow: ["Shell(ls)"], deny: [] },
    });
    expect(statSync(own).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(own)).mode & 0o777).toBe(0o700);
    const shared = join(base, "ws/.cursor/cli.json");
    expect(add(shared, "Shell(ls)", "project")).toBe(true);
    expect(JSON.parse(readFileSync(shared, "utf8"))).toEqual({ permissions: { allow: ["Shell(ls)"], deny: [] } });
    expect(statSync(shared).mode & 0o044).toBe(0o044 & ~process.umask());
  });

  it("a permission rule is added only once, and no lock file is left", () => {
    const file = join(base, "cli-config.json");
    writeFileSync(file, '{ "permissions": { "allow": ["Shell(ls)"] } } // mine\n');
    expect(add(file, "Shell(ls)")).toBe(false);
    expect(readFileSync(file, "utf8")).toBe('{ "permissions": { "allow": ["Shell(ls)"] } } // mine\n');
    expect(add(file, "Shell(cd)")).toBe(true);
    expect(readFileSync(file, "utf8")).toBe('{ "permissions": { "allow": ["Shell(ls)", "Shell(cd)"] } } // mine\n');
    expect(lstatSync(`${file}.lock`, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("adding a permission rule keeps the file's links and mode", () => {
    const real = join(base, "dotfiles.json");
    const file = join(base, "cli-config.json");
    writeFileSync(real, "{}", { mode: 0o640 });
    symlinkSync(real, file);
    add(file, "Shell(ls)");
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toContain("Shell(ls)");
    expect(statSync(real).mode & 0o777).toBe(0o640);
  });

  it.each([
    ["broken text", '{"permissions":'],
    ["no object", '{"permissions": []}'],
    ["no list", '{"permissions": {"allow": "Shell(ls)"}}'],
    ["a key twice", '{"permissions":{},"permissions":{}}'],
  ])("adding a permission rule leaves a file with %s unchanged", (_, text) => {
    const file = join(base, "cli-config.json");
    writeFileSync(file, text);
    expect(() => add(file, "Shell(x)")).toThrow(UserError);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("a permission rule that cannot be saved is reported with the reason", () => {
    writeFileSync(join(base, "x"), "");
    expect(() => add(join(base, "x/cli-config.json"), "Shell(x)")).toThrow(UserError);
    mkdirSync(join(base, "cli-config.json"));
    expect(() => add(join(base, "cli-config.json"), "Shell(x)")).toThrow(/not a regular file/);
  });
});

describe("positions in JSON", () => {
  it("the JSON editor finds every value of a JSON text by its path", () => {
    const text = '{ // c\n "a": [1, {"b": "x"}], "c": null }';
    const places = rangesIn(text);
    const at = (path: string) => text.slice(places.get(path)!.start, places.get(path)!.end);
    expect([...places.keys()]).toEqual(["", "a", "a[0]", "a[1]", "a[1].b", "c"]);
    expect([at("a"), at("a[1].b"), at("c")]).toEqual(['[1, {"b": "x"}]', '"x"', "null"]);
    expect(() => rangesIn("{")).toThrow();
  });
});
