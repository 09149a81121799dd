// Hook files of every format: what is read, in which order, what is left out, and what is refused.
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadHooks, pluginHooks, readGivenHooks, readHookFile, withWaiting } from "../../src/store/hook-files.ts";
import { hasHookFiles, hookFiles } from "../../src/store/hook-paths.ts";
import { type Files, type Place, placed, rowOf, shortly, warned } from "./read-kit.ts";

it("hook files of every format are read as the table says", async () => {
  const rows: string[] = [];
  const said = (title: string, place: Place, work: () => unknown) => void rows.push(...rowOf(title, place, work));
  rows.push("# hooks");
  const seen = (files: Files, { trusted = true, folder = "work" } = {}) => {
    const place = { ...placed(files), enterpriseFile: "" };
    place.workspace = join(place.home, folder);
    place.enterpriseFile = join(place.home, "enterprise/hooks.json");
    const title = `${Object.entries(files)
      .map(([name, content]) => `${name} ${shortly(content)}`)
      .join("; ")}${trusted ? "" : ", not trusted"}`;
    said(title, place, () => {
      const loaded = loadHooks(place, { trusted });
      const shown = ({ behind, ...hook }: (typeof loaded.hooks)[number]) => ({
        ...hook,
        ...(behind && { behind: [behind.folder, behind.digest.length] }),
      });
      const all = withWaiting(loaded, place).map(({ command, level }) => `${command} of ${level}`);
      return [
        ...loaded.hooks.map(shown),
        ...loaded.waiting.map(({ file, hooks }) => `waiting: ${file} ${JSON.stringify(hooks.map(shown))}`),
        ...(loaded.waiting.length > 0 ? [`all: ${all.join(", ")}`] : []),
        ...warned(loaded.warnings),
        ...(hasHookFiles(place) ? [] : ["no file"]),
      ];
    });
  };
  const own = ".cursor/hooks.json";
  const one = (options: unknown) => ({ [own]: { version: 1, hooks: { stop: [options] } } });
  seen({});
  for (const options of [
    { command: "c" },
    { command: "c", timeout: 0.5, loop_limit: 0, failClosed: true, matcher: "x", env: ["A", "B"], model: "m" },
    { command: "c", timeout: 1e9, loop_limit: null, failClosed: false, matcher: "*" },
    { type: "prompt", prompt: "p", model: "m", matcher: "" },
    { type: "command", command: "c", matcher: null },
    { command: "" },
    { command: " " },
    { command: "a\0b" },
    { command: 7 },
    {},
    { type: "prompt", command: "c" },
    { type: "http", url: "u" },
    { command: "c", timeout: 0 },
    { command: "c", timeout: "5" },
    { command: "c", loop_limit: -1 },
    { command: "c", loop_limit: 1.5 },
    { command: "c", loop_limit: "1" },
    { command: "c", failClosed: "yes" },
    { command: "c", matcher: 7 },
    { command: "c", model: "" },
    { command: "c", env: "A" },
    { command: "c", env: ["A B"] },
    { command: "c", env: [7] },
    { command: "c", timout: 1, later: 1 },
    { command: "c", commnd: 1, tipe: 1, promt: 1, modl: 1, loop_limt: 1, failClose: 1, matchr: 1, envs: 1 },
    7,
    null,
  ])
    seen(one(options));
  for (const name of ["Stop", "stp", "PreToolUse", "before", "beforeSub", "stopped", "nothing"])
    seen({ [own]: { hooks: { [name]: [{ command: "c" }] } } });
  seen({ [own]: { hooks: [] } });
  seen({ [own]: { hooks: { stop: {} } } });
  seen({ [own]: { hook: {} } });
  seen({ [own]: '{\n  "hooks": {\n    "stop": [\n      { "command": "c",\n        "timeout": -1 }\n    ]\n  }\n}' });
  seen({ [own]: '{\n  "hooks": {\n    "stop": [\n      { "timeout": 1 }\n    ]\n  }\n}' });
  const claude = ".claude/settings.json";
  const group = (options: unknown, more = {}) => ({
    [claude]: { hooks: { PreToolUse: [{ ...more, hooks: [options] }] }, other: 1 },
  });
  for (const files of [
    group({ type: "command", command: "c" }, { matcher: "Bash" }),
    group({ type: "prompt", prompt: "p", timeout: 5 }, { matcher: "*" }),
    group({ type: "http", url: "u" }),
    group({ command: "c", loop_limit: 2 }),
    group(7),
    { [claude]: { disableAllHooks: true, hooks: { Stop: [{ hooks: [{ command: "c" }] }] } } },
    { [claude]: { disableAllHooks: false, hooks: { Stop: [{ hooks: [{ command: "c" }] }] } } },
    { [claude]: {} },
    { [claude]: { hooks: { Setup: [], Stp: [], Unheard: [] } } },
    { [claude]: { hooks: { Stop: [{}] } } },
    { [claude]: { hooks: { Stop: [7] } } },
    { [claude]: { hooks: 7 } },
  ])
    seen(files);
  const everywhere = {
    "enterprise/hooks.json": { hooks: { stop: [{ command: "enterprise" }] } },
    [own]: { hooks: { stop: [{ command: "user" }] } },
    "work/.cursor/hooks.json": { hooks: { stop: [{ command: "project" }] } },
    "work/.claude/settings.json": { hooks: { Stop: [{ hooks: [{ command: "claude" }] }] } },
    "work/.claude/settings.local.json": { hooks: {} },
    [claude]: { hooks: { Stop: [{ hooks: [{ command: "claude user" }] }] } },
  };
  seen(everywhere);
  seen(everywhere, { trusted: false });
  seen({ [own]: { hooks: { stop: [{ command: "mine" }] } } }, { trusted: false, folder: "." });
  const both = (cursor: object, event: string, options: object, more = {}) => ({
    [own]: { hooks: { preToolUse: [cursor] } },
    [claude]: { hooks: { [event]: [{ ...more, hooks: [options] }] } },
  });
  for (const files of [
    both({ command: "/x --host cursor" }, "PreToolUse", { command: "/x --host claude" }),
    both({ command: "/x --host cursor" }, "PostToolUse", { command: "/x --host claude" }),
    both({ command: "/x --host cursor" }, "PreToolUse", { command: "/y --host claude" }),
    both({ command: "/x --host cursor" }, "PreToolUse", { command: "/x" }),
    both(
      { command: "/x --host cursor", matcher: "Shell" },
      "PreToolUse",
      { command: "/x --host claude" },
      { matcher: "Bash" },
    ),
    both(
      { command: "/x --host cursor", matcher: "Read" },
      "PreToolUse",
      { command: "/x --host claude" },
      { matcher: "Bash" },
    ),
    both({ command: "/x --host cursor", failClosed: false }, "PreToolUse", { command: "/x --host claude" }),
    both({ command: "/x --host cursor" }, "PreToolUse", { command: "/x --host claude", failClosed: true }),
    both({ command: "/x --host cursor", failClosed: true }, "PreToolUse", {
      command: "/x --host claude",
      failClosed: true,
    }),
    both({ command: "../work/x --host cursor" }, "PreToolUse", { command: '"$CLAUDE_PROJECT_DIR"/x --host claude' }),
    both({ command: "'/x' --host cursor" }, "PreToolUse", { command: "'/x' --host claude" }),
  ])
    seen(files);

  rows.push("# hooks for one run and of plugins");
  for (const text of [
    "{",
    '{"hooks":{"stop":[{"command":"c"}]}}',
    '  {"hooks":{"stop":[{"prompt":"p","type":"prompt"}]},"hoks":1}',
    "~/hooks.json",
    "~/none.json",
  ]) {
    const place = placed({ "hooks.json": { hooks: { stop: [{ command: "of a file" }] } } });
    said(text, place, () => {
      const { hooks, warnings } = readGivenHooks(text.replace("~", place.home), place.workspace);
      return [...hooks.map(({ behind, ...hook }) => ({ ...hook, behind: behind?.folder })), ...warned(warnings)];
    });
  }
  for (const content of [
    { version: 1, hooks: {} },
    { hooks: { stop: [{ command: "c" }] } },
    { version: 1, hooks: { stop: [{ command: "c" }] } },
    { hooks: { Stop: [{ hooks: [{ command: "c" }] }] } },
    { hooks: 7 },
  ]) {
    const place = placed({});
    said(`a plugin with ${JSON.stringify(content)}`, place, () => {
      const plugin = {
        root: join(place.home, "plugin"),
        hooks: [{ file: join(place.home, "plugin/hooks.json"), content }],
      };
      const { hooks, warnings } = pluginHooks(plugin as never, place.workspace);
      return [...hooks.map(({ behind, ...hook }) => ({ ...hook, behind: behind?.folder })), ...warned(warnings)];
    });
  }
  rows.push("# hooks of Gemini");
  for (const hooks of [
    { BeforeTool: [{ matcher: "x", hooks: [{ command: "c", timeout: 1500 }] }] },
    { SessionEnd: [{ hooks: [{ command: "c" }] }], Unheard: [7] },
    7,
  ]) {
    const place = placed({ ".gemini/settings.json": { hooks } });
    const file = join(place.home, ".gemini/settings.json");
    said(JSON.stringify(hooks), place, () => {
      const { hooks: found, warnings } = readHookFile({
        ...{ level: "user", format: "gemini", file, cwd: place.home, ofProject: false },
      })!;
      return [...found, ...warned(warnings)];
    });
  }
  for (const platform of ["linux", "darwin", "win32"] as const)
    rows.push(`${platform}: ${hookFiles({ configDir: "/c", workspace: "/w", home: "/h", platform })[0]!.file}`);
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "read-hooks.txt"));
});
