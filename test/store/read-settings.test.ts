// Settings, rules and permissions as people write them: what is read, warned of and refused, and how one setting is changed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  findSetting,
  parseSetting,
  saveSetting,
  settingsFile,
  settings as settingTable,
  settingValue,
  settingValues,
  shownSetting,
} from "../../src/store/setting-table.ts";
import { loadSettings } from "../../src/store/settings.ts";
import { type Files, type Place, placed, rowOf, shortly, warned } from "./read-kit.ts";

it("cli-config.json, permissions.json and courser.json are read as the table says", async () => {
  const rows: string[] = [];
  const said = (title: string, place: Place, work: () => unknown) => void rows.push(...rowOf(title, place, work));
  const usual = JSON.stringify;
  const seen = (files: Files, { trusted = true, folder = "work" } = {}) => {
    const place = placed(files);
    const title = `${Object.entries(files)
      .map(([name, content]) => `${name} ${shortly(content)}`)
      .join("; ")}${trusted ? "" : ", not trusted"}`;
    said(title, place, () => {
      const {
        rules,
        warnings,
        raw: _raw,
        courser,
        ...rest
      } = loadSettings({ ...place, workspace: join(place.home, folder), trusted });
      const { providers, ...others } = courser;
      const defaults = { approvalMode: "allowlist", autoRun: { allow: [], block: [] }, vimMode: false };
      return [
        ...Object.entries(rest)
          .filter(([name, value]) => usual(value) !== usual((defaults as Record<string, unknown>)[name]))
          .map(([name, value]) => `${name} ${usual(value)}`),
        ...rules.map(({ verdict, text, scope, source }) => `${verdict} ${text} of ${scope}: ${source}`),
        ...(Object.keys(others).length > 0 ? [others] : []),
        ...Object.entries(providers).map(([name, provider]) => `${name}: ${usual(provider)}`),
        ...warned(warnings),
      ];
    });
  };
  rows.push("# settings and rules");
  const config = ".cursor/cli-config.json";
  for (const content of [
    { model: null },
    { model: "m" },
    { model: "" },
    { model: 7 },
    { model: {} },
    { model: { modelId: "" } },
    { model: { modelId: "m" } },
    { model: { modelId: "m", displayName: "" } },
    { model: { modelId: "m", displayName: "M" } },
    { approvalMode: "auto-review", editor: { vimMode: true } },
    { approvalMode: "always", editor: { vimMode: 1 } },
    { editor: true },
    { aproval: 1, permision: {}, later: 1, allow: [], deny: [] },
    { permissions: 7 },
    { permissions: [] },
    { permissions: null },
    { permissions: "text" },
    { permissions: { allow: "Shell(ls)", unconfined: 7 } },
    { permissions: { deny: "Shell(ls)" } },
    { permissions: { deny: null } },
    {
      permissions: {
        allow: ["Shell(ls)", 7, null, ["x"], {}, "nonsense("],
        deny: ["Shell(rm)"],
        unconfined: ["Shell(docker)"],
      },
    },
    { permissions: { alow: [], denied: [], other: 1 } },
  ])
    seen({ [config]: content });
  seen({ [config]: '{\n  "permissions": {\n    "deny": [\n      "Shell(rm)",\n      7\n    ]\n  }\n}' });
  seen({ [config]: '\ufeff{\n  "permissions": {\n    "deny": [\n      "nonsense("\n    ]\n  }\n}' });
  const project = "work/.cursor/cli.json";
  for (const trusted of [true, false]) {
    seen({ [project]: { permissions: { allow: ["Shell(ls)"], deny: ["Shell(rm)"] } } }, { trusted });
    seen(
      {
        [project]: { permissions: { allow: ["Shell(ls)", "Shell(cd)"] } },
        "work/.cursor/permissions.json": { terminalAllowlist: ["git"] },
      },
      { trusted },
    );
    seen(
      {
        "work/.cursor/permissions.json": {
          autoRun: { allow_instructions: ["Tests", " "], block_instructions: ["Deploys"] },
        },
      },
      { trusted },
    );
  }
  seen({ [project]: { permission: {}, model: "m", version: 1, $schema: "s", editor: {} } });
  seen({ [project]: { permissions: { unconfined: ["Shell(docker)"], allow: ["Shell(ls)"] } } });
  seen({ "work/.cursor/cli-config.json": { model: "m", other: 1 }, "work/.cursor/courser.json": "no JSON" });
  seen({ "work/.cursor/cli-config.json": {} });
  const shared = ".cursor/permissions.json";
  for (const content of [
    {
      terminalAllowlist: ["git", "npm test"],
      mcpAllowlist: ["docs:*", "a:b"],
      permissions: { deny: ["Shell(rm)"], unconfined: [] },
    },
    { terminalAllowlist: "git", mcpAllowlist: [7], alow: 1, allow: [], deny: [], terminalAlowlist: 1 },
    { autoRun: 7 },
    { autoRun: [] },
    { autoRun: { allow_instruction: [], allow_instructions: "x", block_instructions: [7] } },
    { autoRun: { allow_instructions: ["Tests", ""], block_instructions: [" ", "Deploys"] } },
  ])
    seen({ [shared]: content });
  seen(
    {
      [config]: { permissions: { allow: ["Shell(ls)"] } },
      ".cursor/cli.json": { permissions: { allow: ["Shell(cd)"] } },
    },
    { folder: "." },
  );
  rows.push("# courser.json");
  for (const content of [
    {
      $schema: "s",
      retries: 0,
      timeoutMs: 1,
      maxTurns: 3,
      fallbackModels: ["a", "b"],
      mergeOutput: true,
      search: { engine: "brave", url: "https://s.test", keyEnv: "KEY" },
    },
    { retries: -1 },
    { retries: 1.5 },
    { retries: 2 ** 53 },
    { timeoutMs: 0 },
    { mergeOutput: "yes" },
    { fallbackModels: [""] },
    { search: 7 },
    { search: { engine: "brave", extra: 1, urls: 1 } },
    { search: { url: "file:///x" } },
    { search: { url: "nothing" } },
    { embeddings: { keyEnv: "not a name" } },
    { embeddings: { keyEnv: "1A" } },
    {
      providers: {
        local: {
          type: "openai-compatible",
          baseUrl: "http://a.test",
          headers: { a: "b" },
          models: ["m"],
          keys: ["A"],
          tokenCommand: "t",
          textChannels: true,
        },
      },
    },
    { providers: { local: { headers: { a: 7 } } } },
    { providers: { local: { headers: { a: "\0" } } } },
    { providers: { local: { textChannels: "x" } } },
    { providers: { __proto__: {}, constructor: { type: "x" } } },
    {
      models: {
        m: { contextTokens: 10, outputTokens: 5, price: { input: 0, output: 2.5 }, effort: "high", headers: {} },
      },
    },
    { models: { m: { price: { input: 1 } } } },
    { models: { m: { price: { output: 1 } } } },
    { models: { m: { price: { input: -1, output: 1 } } } },
    { models: { m: { price: { input: "1", output: 1 } } } },
    { models: { m: { effort: "most" } } },
    { models: { m: { contextTokens: 0 } } },
    { models: { m: 7 } },
    { models: [] },
    { maxTurn: 1, unheardOf: 1, authProfiles: {} },
    {
      ...{ fallbackModels: [], retries: 1, timeoutMs: 2, idleMs: 3, maxTurns: 4, loopLimit: 5, contextTokens: 6 },
      ...{ backgroundWaitMs: 0, pruneAfterDays: 1, mergeOutput: true, diagnostics: false, mcpStartMs: 1, mcpCallMs: 1 },
      ...{ providers: {}, models: {}, embeddings: { url: "http://e.test", model: "m", keyEnv: "K" } },
      search: { engine: "brave", url: "http://s.test", keyEnv: "K" },
    },
    ...["retries", "backgroundWaitMs"].map((name) => ({ [name]: -1 })),
    ...[
      "timeoutMs",
      "idleMs",
      "maxTurns",
      "loopLimit",
      "contextTokens",
      "pruneAfterDays",
      "mcpStartMs",
      "mcpCallMs",
    ].map((name) => ({ [name]: 0 })),
  ])
    seen({ ".cursor/courser.json": content });
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "read-settings.txt"));
});

it("settings are found, parsed, shown and saved as the table says", async () => {
  const rows: string[] = [];
  const said = (title: string, place: Place, work: () => unknown) => void rows.push(...rowOf(title, place, work));
  const plain = placed({});
  rows.push("# one setting");
  for (const name of [
    "model",
    "vimMode",
    "MODEL",
    "aprovalMode",
    "zzz",
    "providers.x",
    "providers.x.baseUrl",
    "providers.a.b.type",
    "providers.x.other",
    "providers..type",
  ])
    said(name, plain, () => findSetting(name));
  for (const [name, typed] of [
    ["model", "m"],
    ["model", ""],
    ["approvalMode", "auto-review"],
    ["approvalMode", "x"],
    ["permissions.allow", "Shell(ls), Shell(cd)"],
    ["permissions.allow", '["Shell(ls)"]'],
    ["permissions.allow", "[]"],
    ["permissions.allow", "a,,b"],
    ["editor.vimMode", "true"],
    ["editor.vimMode", "yes"],
    ["retries", "0"],
    ["retries", "-1"],
    ["timeoutMs", "1e3"],
    ["search.url", "https://s.test"],
    ["search.keyEnv", "KEY"],
    ["embeddings.url", "s.test"],
    ["providers.x.headers", '{"a":"b"}'],
    ["providers.x.headers", "a"],
    ["statusLine", "date"],
  ] as const)
    said(`${name} = ${typed}`, plain, () => {
      const setting = findSetting(name);
      const value = parseSetting(setting, typed);
      const place = placed({});
      const isSaved = saveSetting(place.configDir, setting, value);
      const file = join(place.configDir, setting.file);
      const text = readFileSync(file, "utf8");
      const { value: read, source } = settingValue(setting, place.configDir, {});
      const isSavedAgain = saveSetting(place.configDir, setting, undefined);
      return [
        `${shownSetting(setting, value)}; ${isSaved}; ${shownSetting(setting, read)} of ${source}: ${text}`,
        `${isSavedAgain}, then ${readFileSync(file, "utf8")}; ${saveSetting(place.configDir, setting, undefined)}`,
      ];
    });
  for (const value of [undefined, [], "text", ["a", "b"], 7, { a: 1 }])
    said(`shown: ${JSON.stringify(value)}`, plain, () => shownSetting(findSetting("model"), value));
  rows.push("# all settings");
  for (const [files, env] of [
    [{}, {}],
    [{}, { COURSER_MODEL: "by-variable" }],
    [
      {
        ".cursor/cli-config.json": {
          model: { modelId: "m" },
          statusLine: { command: "date" },
          editor: { vimMode: true },
          permissions: 7,
        },
      },
      { COURSER_MODEL: "" },
    ],
    [
      {
        ".cursor/courser.json": {
          retries: 7,
          providers: { local: { type: "t", headers: { secret: "x" }, odd: 1 }, odd: 7 },
          search: { engine: "e" },
        },
      },
      {},
    ],
    [{ ".cursor/courser.json": { providers: [] }, ".cursor/cli-config.json": { model: "m", statusLine: "date" } }, {}],
  ] as [Files, NodeJS.ProcessEnv][]) {
    const place = placed(files);
    const isUsual = Object.keys(files).length === 0 && Object.keys(env).length === 0;
    said(`${JSON.stringify(files)} ${JSON.stringify(env)}`, place, () =>
      settingValues(place.configDir, env)
        .filter(({ source }) => isUsual || (source !== "default" && source !== "not set"))
        .map(
          ({ setting, value, source }) =>
            `${setting.name} ${shownSetting(setting, value)} of ${source}${isUsual ? `: ${setting.check.what}, ${setting.meaning}${setting.by ? `, by ${setting.by}` : ""}, in ${setting.file}` : ""}`,
        ),
    );
  }
  rows.push("# what a file is when it is made, and what cannot be saved");
  for (const name of ["cli-config.json", "courser.json"] as const) {
    const place = placed({});
    said(name, place, () => [
      settingsFile(place.configDir, name),
      readFileSync(settingsFile(place.configDir, name), "utf8"),
    ]);
  }
  const broken = placed({ ".cursor/cli-config.json": { editor: 7, model: { modelId: "old", more: 1 } } });
  said("editor.vimMode in an odd file", broken, () =>
    saveSetting(broken.configDir, findSetting("editor.vimMode"), true),
  );
  said("model over another", broken, () => {
    saveSetting(broken.configDir, findSetting("model"), { modelId: "new", displayName: "New" });
    return readFileSync(join(broken.configDir, "cli-config.json"), "utf8");
  });
  expect(settingTable.length).toBeGreaterThan(20);
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "one-setting.txt"));
});
