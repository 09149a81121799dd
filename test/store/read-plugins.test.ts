// Plugins: what is read from their folders, what is refused, and which of them are loaded.
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { hashFolder, installedFolder, loadPlugins, saveRecord } from "../../src/store/plugins/installed.ts";
import { readPlugin, withPluginRoot } from "../../src/store/plugins/read-plugin.ts";
import { type Files, type Place, placed, rowOf, warned } from "./read-kit.ts";

it("plugins are read as the table says", async () => {
  const rows: string[] = [];
  const said = (title: string, place: Place, work: () => unknown) => void rows.push(...rowOf(title, place, work));
  rows.push("# plugins");
  const seen = (files: Files, change: (root: string) => void = () => {}, title = "") => {
    const place = placed(
      Object.fromEntries(Object.entries(files).map(([name, content]) => [`plugin/${name}`, content])),
    );
    change(join(place.home, "plugin"));
    said(title || JSON.stringify(files), place, () => readPlugin(join(place.home, "plugin"), "flag"));
  };
  const parts = {
    "commands/a.md": "",
    "skills/s/SKILL.md": "",
    "agents/a.md": "",
    "rules/r.mdc": "",
    "hooks/hooks.json": { hooks: {} },
    "mcp.json": { mcpServers: {} },
    ".mcp.json": { other: 1 },
  };
  seen({ x: "" });
  seen(parts);
  for (const [name, content] of Object.entries(parts)) seen({ [name]: content });
  for (const manifest of [
    {},
    { name: "p", version: "1", description: "d" },
    { name: 7, version: 1, description: {} },
    { name: "a b" },
    { name: "" },
    { name: "x".repeat(64) },
    { name: "x".repeat(65) },
    { name: "-a" },
    { commands: "x" },
    { commands: ["x", "./x/y.md"], skills: [] },
    { commands: "none" },
    { commands: "../x" },
    { commands: 7 },
    { commands: ["x", 7] },
    { hooks: { stop: [] } },
    { hooks: { hooks: { stop: [] } } },
    { hooks: "x/h.json" },
    { hooks: ["x/h.json", "mcp.json"] },
    { mcpServers: { a: { command: "c" } } },
    { mcpServers: "none.json" },
    { hooks: "x" },
  ])
    seen(
      { "plugin.json": manifest, "x/y.md": "", "x/h.json": { h: 1 }, "mcp.json": { m: 1 } },
      undefined,
      JSON.stringify(manifest),
    );
  seen({
    ".cursor-plugin/plugin.json": { name: "one" },
    ".claude-plugin/plugin.json": { name: "two" },
    "plugin.json": { name: "three" },
  });
  seen({ ".claude-plugin/plugin.json": { name: "two" }, "plugin.json": { name: "three" } });
  seen(
    { "plugin.json": { name: "p" }, "a/f": "" },
    (root) => symlinkSync("a/f", join(root, "inside")),
    "a link inside",
  );
  seen(
    { "plugin.json": { name: "p" }, "a/f": "" },
    (root) => symlinkSync("/etc", join(root, "a/out")),
    "a link that leads out",
  );
  seen(
    { "plugin.json": { name: "p" }, "a/f": "" },
    (root) => symlinkSync("none", join(root, "a/broken")),
    "a broken link",
  );
  seen(
    { "plugin.json": { name: "p" } },
    (root) => symlinkSync(root, join(root, "itself")),
    "a link to the plugin itself",
  );
  seen(
    { "plugin.json": { name: "p" }, ".git/x": "" },
    (root) => symlinkSync("/etc", join(root, ".git/out")),
    "a link below .git",
  );
  seen(
    { "plugin.json": { name: "p" }, "a/.git/x": "" },
    (root) => symlinkSync("/etc", join(root, "a/.git/out")),
    "a link below another .git",
  );
  const file = placed({ file: "" });
  said("a file", file, () => readPlugin(join(file.home, "file"), "user"));
  const value = {
    a: ["${CURSOR_PLUGIN_ROOT}/x", "${CLAUDE_PLUGIN_ROOT}${CURSOR_PLUGIN_ROOT}", 7, null],
    b: { c: "${OTHER}" },
  };
  rows.push(`paths: ${JSON.stringify(withPluginRoot(value, { root: "/r$&" }))}`);

  rows.push("# installed plugins");
  const manifest = (name: string) => ({ name });
  const place = placed({
    ".cursor/plugins/local/b/plugin.json": manifest("local-b"),
    ".cursor/plugins/local/a/plugin.json": manifest("local-a"),
    ".cursor/plugins/local/none/x": "",
    ".cursor/plugins/local/file": "",
    ".cursor/plugins/installed/good/plugin.json": manifest("good"),
    ".cursor/plugins/installed/changed/plugin.json": manifest("changed"),
    ".cursor/plugins/installed/off/plugin.json": manifest("off"),
    ".cursor/plugins/installed/same/plugin.json": manifest("local-a"),
    ".cursor/plugins/plugins.json": { kept: 1, plugins: { odd: 7, older: { source: "x" } } },
    "given/plugin.json": manifest("local-b"),
  });
  const { configDir } = place;
  const hashes: string[] = [];
  const hash = (name: string) => hashFolder(installedFolder(configDir, name));
  for (const name of ["good", "changed", "off", "same", "gone"])
    saveRecord(configDir, name, {
      source: name,
      hash: name === "gone" ? "" : hash(name),
      addedAt: "2026",
      ...(name === "off" && { disabled: true }),
    });
  saveRecord(configDir, "same", undefined);
  saveRecord(configDir, "same", { source: "same", hash: hash("same"), addedAt: "2026" });
  const changed = join(installedFolder(configDir, "changed"), "plugin.json");
  hashes.push(hash("changed"));
  chmodSync(changed, 0o755);
  hashes.push(hash("changed"));
  writeFileSync(changed, "{ }");
  hashes.push(hash("changed"));
  symlinkSync("plugin.json", join(dirname(changed), "link"));
  hashes.push(hash("changed"));
  rmSync(join(dirname(changed), "link"));
  symlinkSync("./plugin.json", join(dirname(changed), "link"));
  hashes.push(hash("changed"));
  mkdirSync(join(dirname(changed), "empty/.git"), { recursive: true });
  hashes.push(hash("changed"));
  expect(new Set(hashes).size).toBe(6);
  mkdirSync(join(dirname(changed), ".git"));
  writeFileSync(join(dirname(changed), ".git/x"), "");
  expect(hash("changed")).toBe(hashes.at(-1));
  const list = (given: string[]) => {
    const { plugins, warnings } = loadPlugins(configDir, given);
    return [...plugins.map(({ name, scope, root }) => `${name} of ${scope}: ${root}`), ...warned(warnings)];
  };
  said("all", place, () => list([]));
  said("with one for this run", place, () => list([join(place.home, "given")]));
  said("the record", place, () =>
    Object.keys(
      (JSON.parse(readFileSync(join(configDir, "plugins/plugins.json"), "utf8")) as { plugins: object }).plugins,
    ).join(", "),
  );
  const empty = placed({});
  said("none", empty, () => loadPlugins(empty.configDir));
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "read-plugins.txt"));
});
