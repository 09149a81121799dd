// Who pays for the model: a key must be there; getting one is a matter between the user and the vendor.
import { resolveModel } from "../model/resolve.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { RunHost } from "../run/host.ts";
import { modelChoice } from "../run/models.ts";
import { setUp } from "../run/setup.ts";
import { removeKeys } from "../store/auth.ts";
import { configDir } from "../store/config-dir.ts";
import { loadSettings } from "../store/settings.ts";
import { offeredModels } from "./models.ts";
import type { RunTemplate } from "./sessions.ts";

type Start = { host: RunHost; template: RunTemplate };

/** Checks that the model can be asked. Throws UserError with what to type where it cannot. */
export function authenticate(method: string, { host, template }: Start): object {
  if (method !== "cursor_login")
    throw new UserError("USAGE", `Unknown authentication method '${method}'. The method is cursor_login.`);
  const config = configDir(host.env);
  const settings = loadSettings({ configDir: config, workspace: "/", trusted: false });
  resolveModel(modelChoice({ ...host, ...template }, settings, config));
  return {};
}

/** Saved keys are forgotten; those of the environment are not ours to take away. */
export function logout({ host }: Start): object {
  removeKeys(configDir(host.env));
  return {};
}

/** As clients of Cursor's CLI ask for them. */
export async function availableModels({ host, template }: Start): Promise<object> {
  const setup = await setUp({ ...template, workspace: "/" }, host, { gate: false });
  return { models: offeredModels(setup).map(({ id, name }) => ({ value: id, name, configOptions: [] })) };
}
