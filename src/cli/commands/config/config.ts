// `config`: lists, reads, changes and opens the user's settings.
import { join } from "node:path";
import { usageError } from "../../../protocol/error-codes.ts";
import { configDir, homeDir } from "../../../store/config-dir.ts";
import {
  findSetting,
  hiddenValue,
  parseSetting,
  type Setting,
  type SettingFile,
  type SettingValue,
  saveSetting,
  settingsFile,
  settingValue,
  settingValues,
  shownSetting,
} from "../../../store/setting-table.ts";
import { visible } from "../../../text/visible.ts";
import { cut } from "../../../text/width.ts";
import type { Invocation } from "../../main.ts";
import { withoutSecrets, writeStderr } from "../../stdout.ts";
import { tableLines } from "../../table.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";

const files: readonly SettingFile[] = ["cli-config.json", "courser.json"];

export async function listSettings(invocation: Invocation): Promise<number> {
  const folder = configDir(invocation.env);
  const all = settingValues(folder, invocation.env);
  if (wantsJson(invocation)) return answerJson(all.map(asJson));
  const cells = all.map(({ setting, value, source }) => [
    setting.name,
    cut(formatValue(setting, value), 28),
    source,
    setting.meaning,
  ]);
  const lines = tableLines([["NAME", "VALUE", "SOURCE", "MEANING"], ...cells]);
  const home = homeDir(invocation.env);
  const place = folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
  return answer(
    `${lines.join("\n")}

The files are in ${place}. To change one: ${invocation.name} config set <name> <value>. Each in full: ${invocation.name} help configuration
`,
  );
}

function asJson({ setting, value, source }: SettingValue): object {
  const { name, meaning, file, default: fallback = null, check, by } = setting;
  return {
    name,
    value: value === undefined ? null : hiddenValue(setting, value),
    source,
    default: fallback,
    meaning,
    file,
    takes: check.what,
    ...(check.words && { words: check.words }),
    ...(by !== undefined && { changedBy: by }),
  };
}

function formatValue(setting: Setting, value: unknown): string {
  return visible(withoutSecrets(shownSetting(setting, value)));
}

/** Prints the bare value of a setting, for scripts. If it has no value, prints nothing and returns exit code 1. */
export async function getSetting(invocation: Invocation, words: readonly string[]): Promise<number> {
  const setting = findSetting(onlyName("get", words, invocation));
  const found = settingValue(setting, configDir(invocation.env), invocation.env);
  if (wantsJson(invocation)) return answerJson(asJson(found));
  const { value } = found;
  if (value === undefined) {
    writeStderr(`${setting.name} is not set. ${setting.meaning}.\n`);
    return 1;
  }
  return answer(`${typeof value === "string" ? value : JSON.stringify(value)}\n`);
}

export async function setSetting(invocation: Invocation, words: readonly string[]): Promise<number> {
  const [name = "", ...rest] = words;
  const setting = findSetting(name);
  refuseOthers(setting, invocation);
  if (rest.length === 0)
    throw usageError(`'config set' needs a value. Type: ${invocation.name} config set ${name} <value>`);
  const value = parseSetting(setting, rest.join(" "));
  const folder = configDir(invocation.env);
  saveSetting(folder, setting, value);
  const exitCode = await answer(`✓ ${name} = ${formatValue(setting, value)} (${join(folder, setting.file)})\n`);
  if (setting.variable && invocation.env[setting.variable])
    writeStderr(`Note: ${setting.variable} is set and takes precedence.\n`);
  return exitCode;
}

export async function unsetSetting(invocation: Invocation, words: readonly string[]): Promise<number> {
  const setting = findSetting(onlyName("unset", words, invocation));
  refuseOthers(setting, invocation);
  const changed = saveSetting(configDir(invocation.env), setting, undefined);
  const { value } = settingValue(setting, configDir(invocation.env), invocation.env);
  const now = value === undefined ? "" : ` It is ${formatValue(setting, value)} now.`;
  return answer(
    changed ? `✓ ${setting.name} was removed.${now}\n` : `${setting.name} is not set, so nothing was changed.${now}\n`,
  );
}

export async function editSettings(invocation: Invocation, [word, ...more]: readonly string[]): Promise<number> {
  refuseAgents(invocation, "your settings");
  const file = files.find((each) => each === (word ?? files[0]) || each === `${word}.json`);
  if (file === undefined || more.length > 0)
    throw usageError(`'config edit' takes ${files.join(" or ")}. Type: ${invocation.name} config edit ${files[1]}`);
  const { isatty } = await import("node:tty");
  const path = join(configDir(invocation.env), file);
  if (!isatty(0) || !isatty(1))
    throw usageError(
      `'config edit' opens an editor, but there is no terminal. The file is ${path}. One value: ${invocation.name} config set <name> <value>`,
    );
  const { openInEditor } = await import("../../../terminal/external-editor.ts");
  const problem = await openInEditor(settingsFile(configDir(invocation.env), file), {
    env: invocation.env,
    cwd: process.cwd(),
  });
  if (problem === undefined) return 0;
  throw usageError(problem);
}

export async function settingsPaths({ env }: Invocation): Promise<number> {
  return answer(files.map((file) => `${join(configDir(env), file)}\n`).join(""));
}

/** Refuses settings that have commands of their own, such as rules and the sandbox, because those validate the value. */
function refuseOthers({ name, by }: Setting, invocation: Invocation): void {
  refuseAgents(invocation, "your settings");
  if (by !== undefined)
    throw usageError(`'${name}' is changed by commands of its own. Type: ${invocation.name} help ${by}`);
}

function onlyName(command: string, [name = "", ...more]: readonly string[], invocation: Invocation): string {
  if (more.length === 0) return name;
  throw usageError(`'config ${command}' takes one name. Type: ${invocation.name} config ${command} ${name}`);
}
