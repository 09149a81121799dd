// `/model`: the models there are, those that can be used at once first; Tab sets how hard it thinks.
import { autoModel, findVendor, models, offlineModel } from "../../model/catalog.ts";
import { endpointModels } from "../../model/resolve.ts";
import type { ReasoningEffort } from "../../protocol/run.ts";
import { readKeys } from "../../store/auth.ts";
import { configDir } from "../../store/config-dir.ts";
import { findSetting, saveSetting } from "../../store/setting-table.ts";
import { loadSettings } from "../../store/settings.ts";
import type { Desk } from "../desk.ts";
import type { ListItem } from "../panels/list.ts";

type Choice = { id: string; name: string; thinks?: boolean };

const efforts: readonly (ReasoningEffort | undefined)[] = [undefined, "low", "medium", "high"];

/** `words`: a model and an effort, or the beginning of a name. */
export async function chooseModel(desk: Desk, words: string): Promise<void> {
  const [name = "", wish] = words.split(/\s+/);
  const items = modelItems(desk);
  let effort = efforts.find((each) => each !== undefined && each === wish);
  const exact = items.find(({ value }) => value.id === name)?.value;
  const label = () => `Model${effort === undefined ? "" : ` (${effort} effort)`}`;
  const chosen =
    exact ??
    (await desk.choose({
      title: label,
      items,
      selected: Math.max(
        0,
        items.findIndex(({ note }) => note === "current"),
      ),
      filter: words,
      keys: {
        tab: {
          help: "effort",
          press() {
            effort = efforts[(efforts.indexOf(effort) + 1) % efforts.length];
            return undefined;
          },
        },
      },
    }));
  if (!chosen) return;
  await desk.conversation.setModel(chosen, effort);
  saveSetting(configDir(desk.env), findSetting("model"), { modelId: chosen.id, displayName: chosen.name });
  desk.say(
    `${chosen.name}${effort === undefined ? "" : ` with ${effort} effort`} answers from now on, here and in new chats.`,
  );
}

/** Of the model that answers now; without one, as it is by itself. */
export async function setEffort(desk: Desk, effort: ReasoningEffort | undefined): Promise<void> {
  const { request, facts } = desk.conversation;
  const shown = modelItems(desk).find(({ note }) => note === "current")?.value.id;
  await desk.conversation.setModel({ id: request.model ?? shown ?? autoModel.id, name: facts.model }, effort);
}

/** `auto` first, then what can be used, then what needs a key. */
function modelItems(desk: Desk): ListItem<Choice>[] {
  const { env, conversation } = desk;
  const config = configDir(env);
  const keys = readKeys(config);
  const { workspace } = conversation.request;
  const { providers } = loadSettings({ configDir: config, workspace, trusted: false }).courser;
  const isUsable = (vendor: string) => {
    const row = findVendor(vendor);
    return row?.local === true || vendor in keys || row?.keyVariables.some((name) => env[name]?.trim()) === true;
  };
  const current = conversation.facts.model;
  const item = (choice: Choice, note: string): ListItem<Choice> => ({
    value: choice,
    label: choice.id,
    detail: choice.name,
    note: choice.name === current ? "current" : note,
  });
  const known = models.map((row) => ({ row, usable: isUsable(row.vendor) }));
  return [
    item(autoModel, "the best there is a key for"),
    ...known.filter(({ usable }) => usable).map(({ row }) => item(row, row.vendor)),
    ...endpointModels(providers).map((line) => item(line, "your server")),
    item(offlineModel, "built in, needs no key"),
    ...known.filter(({ usable }) => !usable).map(({ row }) => item(row, `${row.vendor}, no key`)),
  ];
}
