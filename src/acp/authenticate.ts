// Authentication methods: checks that the chosen model has a key. Getting a key is between the user and the vendor.
import { resolveModel } from "../model/resolve.ts";
import { usageError } from "../protocol/error-codes.ts";
import type { RunHost } from "../run/host.ts";
import { modelChoice } from "../run/models.ts";
import { setUp } from "../run/setup.ts";
import { removeKeys } from "../store/auth.ts";
import { configDir } from "../store/config-dir.ts";
import { loadSettings } from "../store/settings.ts";
import { offeredModels } from "./models.ts";
import type { RunTemplate } from "./sessions.ts";

type Start = { host: RunHost; template: RunTemplate };

/** Checks that the model can be called. Otherwise throws a UserError that says what to type. */
export function authenticate(method: string, { host, template }: Start): object {
  if (method !== "cursor_login")
    throw usageError(`Unknown authentication method '${method}'. The method is cursor_login.`);
  const config = configDir(host.env);
  const settings = loadSettings({ configDir: config, workspace: "/", trusted: false });
  resolveModel(modelChoice({ ...host, ...template }, settings, config));
  return {};
}

/** Deletes the saved keys. Keys in environment variables stay. */
export function logout({ host }: Start): object {
  removeKeys(configDir(host.env));
  return {};
}

/** Lists the models in the shape that clients of Cursor's CLI expect. */
export async function availableModels({ host, template }: Start): Promise<object> {
  const setup = await setUp({ ...template, workspace: "/" }, host, { gate: false });
  return { models: offeredModels(setup).map(({ id, name }) => ({ value: id, name, configOptions: [] })) };
}
