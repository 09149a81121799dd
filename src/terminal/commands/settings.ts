// Panels for settings, permission rules and API keys. Changes are validated and saved at once.
import { isObject, tryParse } from "../../json/object.ts";
import { vendors } from "../../model/catalog.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { redact } from "../../redact/redact.ts";
import { readKeys } from "../../store/auth.ts";
import { truth } from "../../store/checked-fields.ts";
import { configDir, homeDir } from "../../store/config-dir.ts";
import {
  parseSetting,
  type Setting,
  type SettingValue,
  saveSetting,
  settingsFile,
  settingValues,
  shownSetting,
} from "../../store/setting-table.ts";
import { shortPath } from "../../text/short-path.ts";
import { cut } from "../../text/width.ts";
import { themeOf } from "../colours.ts";
import type { CommandEnd, Desk, Toggles } from "../desk.ts";
import { editFile } from "../external-editor.ts";
import { linePanel } from "../panels/line.ts";
import type { SlashCommand } from "./command.ts";
import { reopen } from "./resume-chat.ts";

export const configCommand: SlashCommand = {
  name: "config",
  aliases: ["settings"],
  operands: "[edit]",
  help: "Your settings: values, sources, meanings; edit opens the file",
  needsIdle: true,
  run: (desk, rest) => (rest === "edit" ? openConfig(desk) : showSettings(desk, rest)),
};

export const permissionsCommand: SlashCommand = {
  name: "permissions",
  aliases: ["approvals"],
  operands: "[list]",
  help: "Permission rules: search, add, remove; list prints everything",
  needsIdle: true,
  run: showPermissions,
};

export const loginCommand: SlashCommand = {
  name: "login",
  operands: "[vendor]",
  help: "Save a vendor's API key",
  needsIdle: true,
  run: login,
};

async function openConfig(desk: Desk): Promise<void> {
  const file = settingsFile(configDir(desk.env), "cli-config.json");
  await editFile(desk, file);
  desk.say(`Settings are read at the next start: ${file}`);
}

type Wish = { at: number; isReset?: boolean };

/** Columns for a value in the list; a longer one is shown whole below it. */
const valueWidth = 14;

/** Shows the settings until the user leaves; each change is reflected in the list. */
async function showSettings(desk: Desk, filter: string): Promise<void> {
  for (let selected = 0; ; ) {
    const values = settingValues(configDir(desk.env), desk.env);
    const shown = values.map(({ setting, value }) => redact(shownSetting(setting, value)));
    const wish: Wish | undefined = await desk.choose<Wish>({
      title: "Settings",
      items: values.map(({ setting, source }, at) => ({
        value: { at },
        label: setting.name,
        detail: cut(shown[at]!, valueWidth),
        aside: setting.meaning,
        words: `${setting.name} ${setting.meaning}`,
        more: `${setting.meaning}${shown[at]!.length > valueWidth ? `: ${shown[at]}` : ""}`,
        note: source,
      })),
      selected,
      filter: selected === 0 ? filter : "",
      enter: "changes",
      keys: { "ctrl+x": { help: "back to the default", press: ({ value }) => ({ ...value, isReset: true }) } },
    });
    if (wish === undefined) return;
    selected = wish.at;
    await change(desk, values[wish.at]!, wish.isReset === true);
  }
}

async function change(desk: Desk, { setting, value, source }: SettingValue, isReset: boolean): Promise<void> {
  const { name, by } = setting;
  if (by?.startsWith("permissions")) return showPermissions(desk, "");
  if (by !== undefined) return desk.say(`${name} has a command of its own: /${by.split(" ")[0]}`);
  const wanted = isReset ? { value: undefined } : await wantedValue(desk, setting, value);
  if (wanted === undefined) return;
  const isChanged = saveSetting(configDir(desk.env), setting, wanted.value);
  if (!isChanged) return;
  const after = settingValues(configDir(desk.env), desk.env).find((each) => each.setting.name === name);
  const isApplied = applyNow(desk, setting, after?.value);
  const overridden = setting.variable === source ? ` ${source} is set, and takes precedence.` : "";
  const when = isApplied ? "" : " It holds from the next chat on.";
  desk.say(`${name}: ${redact(shownSetting(setting, after?.value))} (${after?.source}).${when}${overridden}`);
}

/** Asks until the value is valid for the setting. Returns undefined if the user cancels. */
async function wantedValue(desk: Desk, setting: Setting, value: unknown): Promise<{ value: unknown } | undefined> {
  const { name, check } = setting;
  if (check === truth) return { value: value !== true };
  if (check.words) {
    const chosen = await desk.choose({
      title: name,
      items: check.words.map((word) => ({ value: word, label: word, ...(word === value && { note: "now" }) })),
      selected: check.words.indexOf(String(value)),
    });
    return chosen === undefined ? undefined : { value: chosen };
  }
  let text = value === undefined ? "" : typeof value === "string" ? value : asTyped(value);
  for (let problem: string | undefined; ; ) {
    const typed = await desk.open(
      linePanel(desk.palette, {
        title: `${name}:`,
        text,
        hint: check.what,
        note: problem ?? `${check.what}; empty: not set`,
      }),
    );
    if (typed === undefined) return undefined;
    if (typed.trim() === "") return { value: undefined };
    try {
      return { value: parseSetting(setting, typed.trim()) };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problem = error.message;
      text = typed;
    }
  }
}

function asTyped(value: unknown): string {
  const isPlainList = Array.isArray(value) && value.every((item) => typeof item === "string" && !item.includes(","));
  return isPlainList ? value.join(", ") : JSON.stringify(value);
}

const toggleSettings: Readonly<Record<string, keyof Toggles>> = {
  "editor.vimMode": "vim",
  "display.showThinkingBlocks": "thinking",
  "display.showLineNumbers": "lineNumbers",
  "display.showStatusIndicators": "statusIndicators",
};

/** Applies settings of the screen at once. Returns whether it did. */
function applyNow(desk: Desk, { name }: Setting, value: unknown): boolean {
  const toggle = toggleSettings[name];
  if (toggle) desk.setToggle(toggle, value === true);
  else if (name === "display.theme") desk.palette.setTheme(themeOf(value));
  else if (name === "statusLine") desk.status.use(value === undefined ? undefined : { command: value });
  else return false;
  return true;
}

type ListedRule = {
  verdict: "allow" | "deny";
  text: string;
  scope: "user" | "project";
  source: string;
  counts: boolean;
};
const builtIn = "built in";
type RuleWish = { type: "add" } | { type: "look" | "remove"; rule: ListedRule };

async function showPermissions(desk: Desk, rest: string): Promise<void> {
  if (rest === "list") return desk.show((await desk.command(["permissions", "list"])).text);
  const { workspace } = desk.conversation.request;
  const shortFilePath = (file: string) =>
    file.startsWith(`${workspace}/`) ? file.slice(workspace.length + 1) : shortPath(file, homeDir(desk.env));
  let isChanged = false;
  for (let selected = 0; ; ) {
    const { code, text } = await desk.command(["permissions", "list", "--format", "json"]);
    const listed = tryParse(text);
    if (code !== 0 || !isObject(listed)) return desk.complain(text.trim());
    const all = listed["rules"] as ListedRule[];
    const rules = [
      ...all.filter(({ source }) => source !== builtIn),
      ...all.filter(({ source }) => source === builtIn),
    ];
    const wish = await desk.choose<RuleWish>({
      title: "Permission rules",
      items: [
        { value: { type: "add" }, label: "+ add a rule", detail: "allow or deny commands, files, hosts, tools" },
        ...rules.map((rule) => ({
          value: { type: "look", rule } as const,
          label: rule.text,
          detail: rule.counts ? rule.verdict : `${rule.verdict}, ignored: this workspace is not trusted`,
          note: shortFilePath(rule.source),
          more: rule.text,
        })),
      ],
      selected,
      filter: selected === 0 ? rest : "",
      keys: {
        "ctrl+x": {
          help: "removes",
          press: ({ value }) => (value.type === "look" ? { ...value, type: "remove" } : undefined),
        },
      },
    });
    if (wish === undefined) break;
    selected = wish.type === "add" ? 0 : rules.indexOf(wish.rule) + 1;
    const end = wish.type === "add" ? await addRule(desk) : await removeRule(desk, wish.rule, wish.type === "remove");
    if (end?.code === 0) isChanged = true;
    if (end) end.code === 0 ? desk.say(end.text.trim()) : desk.complain(end.text.trim());
  }
  // Reopen the run, since it reads rules only when it is opened.
  if (isChanged) await reopen(desk, desk.conversation.request);
}

async function removeRule(desk: Desk, rule: ListedRule, isSure: boolean): Promise<CommandEnd | undefined> {
  if (rule.source === builtIn) return { code: 1, text: `${rule.text} is built in: nothing removes it.` };
  const sure =
    isSure ||
    (await desk.choose({
      title: rule.text,
      items: [
        { value: false, label: "keep", detail: `${rule.verdict}, ${rule.source}` },
        { value: true, label: "remove", detail: `from ${rule.source}` },
      ],
    }));
  if (!sure) return undefined;
  return desk.command(["permissions", "remove", ...(rule.scope === "project" ? ["--project"] : []), rule.text]);
}

async function addRule(desk: Desk): Promise<CommandEnd | undefined> {
  const hint = "Shell(npm test), Read(~/notes/**), WebFetch(docs.test), Mcp(server:tool)";
  const rule = await desk.open(linePanel(desk.palette, { title: "Rule:", hint }));
  if (rule === undefined || rule.trim() === "") return undefined;
  const how = await desk.choose({
    title: rule.trim(),
    items: [
      { value: ["allow", "--project"], label: "allow in this project", detail: ".cursor/cli.json" },
      { value: ["allow"], label: "allow everywhere", detail: "cli-config.json" },
      { value: ["deny", "--project"], label: "deny in this project", detail: ".cursor/cli.json" },
      { value: ["deny"], label: "deny everywhere", detail: "cli-config.json" },
    ],
  });
  return how && desk.command(["permissions", ...how, rule.trim()]);
}

/** Reads the key without echo and passes it on stdin, so that it does not appear in a process list. */
async function login(desk: Desk, word: string): Promise<void> {
  const saved = readKeys(configDir(desk.env));
  const vendor =
    word !== ""
      ? word
      : await desk.choose({
          title: "Whose key?",
          items: vendors
            .filter(({ local }) => !local)
            .map(({ name, label, keyVariables }) => {
              const variable = keyVariables.find((each) => desk.env[each]?.trim());
              return { value: name, label: name, detail: label, note: variable ?? (name in saved ? "saved" : "") };
            }),
        });
  if (vendor === undefined) return;
  const label = vendors.find(({ name }) => name === vendor)?.label ?? vendor;
  const key = await desk.open(linePanel(desk.palette, { title: `${label} API key:`, hint: "hidden", isHidden: true }));
  if (key === undefined) return;
  const { code, text } = await desk.command(["login", vendor], key);
  if (code !== 0) return desk.complain(text.trim());
  desk.say(`${text.trim()} /model selects the model.`);
}
