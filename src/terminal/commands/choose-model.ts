// `/model`: lists the models, usable ones first, with the current one marked; Tab sets the effort.
import { autoModel, findModel, findVendor, models, offlineModel } from "../../model/catalog.ts";
import { endpointModels, type ResolvedModel, resolveModel } from "../../model/resolve.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { type ReasoningEffort, reasoningEfforts } from "../../protocol/run.ts";
import { modelChoice } from "../../run/models.ts";
import { readKeys } from "../../store/auth.ts";
import { configDir } from "../../store/config-dir.ts";
import { findSetting, saveSetting } from "../../store/setting-table.ts";
import { loadSettings } from "../../store/settings.ts";
import { counted } from "../../view/numbers.ts";
import type { Desk } from "../desk.ts";
import type { ListItem } from "../panels/list.ts";
import { reopen } from "./resume-chat.ts";

/** `isOwn` marks a model of the --endpoint server. `isMore` marks the entry that leads to models without a key. */
type Choice = { id: string; name: string; isOwn?: boolean; isMore?: boolean };

const efforts: readonly (ReasoningEffort | undefined)[] = [undefined, ...reasoningEfforts];

/** Switches the model. `words` is a model as for --model with an optional effort; any other text filters a list to choose from. */
export async function chooseModel(desk: Desk, words: string): Promise<void> {
  const [name = "", wish] = words.split(/\s+/);
  const { usable, keyless } = await modelItems(desk);
  let effort = efforts.find((each) => each !== undefined && each === wish);
  const row = findModel(name)?.row;
  const exact = [...usable, ...keyless].find(({ value }) => value.id === name)?.value ?? row;
  const choose = (items: readonly ListItem<Choice>[]) =>
    desk.choose({
      title: () => `Model${effort === undefined ? "" : ` (${effort} effort)`}`,
      items,
      selected: items.findIndex(({ note }) => note === "current"),
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
    });
  const more = { id: `… ${counted(keyless.length, "model")} without a key`, name: "/login saves one", isMore: true };
  const folded = keyless.length > 0 && words === "";
  let chosen: Choice | undefined =
    exact ?? (await choose(folded ? [...usable, itemOf(more, "")] : [...usable, ...keyless]));
  if (chosen?.isMore) chosen = await choose(keyless);
  if (chosen) await useModel(desk, chosen, effort);
}

async function useModel(desk: Desk, { id, name, isOwn }: Choice, effort?: ReasoningEffort): Promise<void> {
  const { endpoint, ...request } = desk.conversation.request;
  const how = effort === undefined ? "" : ` with ${effort} effort`;
  if (endpoint !== undefined && !isOwn) {
    // The endpoint does not serve this model, so continue the chat without the endpoint.
    if (await reopen(desk, { ...request, model: id, ...(effort && { effort }) }))
      desk.say(`${name}${how} answers from now on, and ${endpoint} no more.`);
    return;
  }
  await desk.conversation.setModel({ id, name }, effort);
  // Do not save a model of the endpoint, whose name is unknown without the --endpoint flag.
  if (!isOwn) saveSetting(configDir(desk.env), findSetting("model"), { modelId: id, displayName: name });
  desk.say(`${name}${how} answers from now on${isOwn ? "." : ", here and in new chats."}`);
}

/** Sets the effort of the current model; undefined restores the model's default. */
export async function setEffort(desk: Desk, effort: ReasoningEffort | undefined): Promise<void> {
  const { request, info } = desk.conversation;
  const currentId = (await modelItems(desk)).usable.find(({ note }) => note === "current")?.value.id;
  await desk.conversation.setModel({ id: request.model ?? currentId ?? autoModel.id, name: info.model }, effort);
}

/** The model that the run was opened with, or undefined if no model has this name any more. */
function sessionModel({ conversation, env }: Desk): ResolvedModel | undefined {
  const { request, host } = conversation;
  const config = configDir(env);
  const settings = loadSettings({ configDir: config, workspace: request.workspace, trusted: false });
  try {
    return resolveModel(modelChoice({ ...host, ...request }, settings, config));
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function itemOf(choice: Choice, note: string): ListItem<Choice> {
  return { value: choice, label: choice.id, detail: choice.name === choice.id ? "" : choice.name, note };
}

/** Splits the models into usable ones (of the endpoint, `auto`, those with a key) and those that need a key. */
async function modelItems(desk: Desk): Promise<Record<"usable" | "keyless", ListItem<Choice>[]>> {
  const { env, conversation } = desk;
  const config = configDir(env);
  const keys = readKeys(config);
  const { workspace } = conversation.request;
  const { providers } = loadSettings({ configDir: config, workspace, trusted: false }).courser;
  const isUsable = (vendor: string) => {
    const row = findVendor(vendor);
    return row?.local === true || vendor in keys || row?.keyVariables.some((name) => env[name]?.trim()) === true;
  };
  const currentModel = sessionModel(desk);
  const modelRows = models.map((row) => ({ row, usable: isUsable(row.vendor) }));
  const all = [
    ...(await serverItems(desk, currentModel)),
    itemOf(autoModel, "the best there is a key for"),
    ...modelRows.filter(({ usable }) => usable).map(({ row }) => itemOf(row, row.vendor)),
    ...endpointModels(providers).map((line) => itemOf(line, "your server")),
    itemOf(offlineModel, "built in, needs no key"),
  ];
  const { model } = conversation.info;
  const current =
    all.find(({ value }) => value.name === model) ?? all.find(({ value }) => value.id === currentModel?.id);
  const usable = all.map((item) => (item === current ? { ...item, note: "current" } : item));
  if (!current && currentModel)
    usable.unshift(itemOf({ id: currentModel.id, name: model || currentModel.displayName, isOwn: true }, "current"));
  return {
    usable,
    keyless: modelRows.filter((each) => !each.usable).map(({ row }) => itemOf(row, `${row.vendor}, no key`)),
  };
}

async function serverItems(
  { conversation: { request }, env, complain }: Desk,
  own: ResolvedModel | undefined,
): Promise<ListItem<Choice>[]> {
  if (request.endpoint === undefined || own?.baseUrl === undefined) return [];
  const { listServerModels } = await import("../../model/list-server.ts");
  const list = await listServerModels({ kind: "openai-compatible", baseUrl: own.baseUrl, key: own.key, env });
  if ("models" in list) return list.models.map((id) => itemOf({ id, name: id, isOwn: true }, "this server"));
  complain(`${own.baseUrl} does not list its models: ${"refused" in list ? list.refused : list.unreachable}.`);
  return [];
}

/** Returns the flags that pass this session's model and server to a command-line command. */
export function sessionFlags({ conversation: { request, info } }: Desk): string[] {
  const model = request.model ?? models.find(({ name }) => name === info.model)?.id;
  return [
    ...(model === undefined ? [] : ["--model", model]),
    ...(request.endpoint === undefined ? [] : ["--endpoint", request.endpoint]),
  ];
}
