// `plugin list`: prints the installed plugins, those in plugins/local, and the contents of each.
import { existsSync } from "node:fs";
import { configDir } from "../../../store/config-dir.ts";
import { hashFolder, installedFolder, loadPlugins, pluginRecords } from "../../../store/plugins/installed.ts";
import { visible } from "../../../text/visible.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { contentsOf, describe } from "./contents.ts";

export async function listPlugins(invocation: Invocation): Promise<number> {
  const config = configDir(invocation.env);
  const { plugins, warnings } = loadPlugins(config);
  const records = pluginRecords(config);
  for (const warning of warnings) writeStderr(visible(`Warning: ${warning}\n`));
  const loaded = plugins.map((plugin) => ({
    name: plugin.name,
    state: "loaded",
    ...(plugin.version !== undefined && { version: plugin.version }),
    ...(plugin.description !== undefined && { description: plugin.description }),
    source: records[plugin.name]?.source ?? plugin.root,
    folder: plugin.root,
    ...contentsOf(plugin),
  }));
  const others = Object.entries(records)
    .filter(([name]) => !plugins.some((plugin) => plugin.name === name))
    .map(([name, { source, hash, disabled }]) => {
      const folder = installedFolder(config, name);
      const isChanged = existsSync(folder) && hashFolder(folder) !== hash;
      return { name, state: disabled ? "disabled" : isChanged ? "changed" : "missing", source, folder };
    });
  if (wantsJson(invocation)) return answerJson([...loaded, ...others]);
  if (loaded.length + others.length === 0)
    return answer(`No plugins are installed. To install one: ${invocation.name} plugin add <directory or git URL>\n`);
  const lines = [
    ...loaded.flatMap((each) => [
      `${each.name}${each.version === undefined ? "" : ` ${each.version}`}  ${each.source}`,
      ...(each.description === undefined ? [] : [`  ${each.description}`]),
      ...describe(each),
    ]),
    ...others.map(({ name, state, source }) => `${name}  ${state}  ${source}`),
  ];
  return answer(visible(`${lines.join("\n")}\n`));
}
