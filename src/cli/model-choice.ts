// What the command line, the environment and the settings say together about the model.
import type { ModelChoice } from "../model/resolve.ts";
import { readKeys } from "../store/auth.ts";
import type { Settings } from "../store/settings.ts";
import { flagList, flagText } from "./flags.ts";
import type { Invocation } from "./main.ts";

export function modelChoice(
  { env, line: { flags }, name }: Invocation,
  settings: Settings,
  configDir: string,
): ModelChoice {
  return {
    flag: flagText(flags, "model"),
    effortFlag: flagText(flags, "effort"),
    configModel: settings.model?.modelId,
    env,
    endpoints: settings.courser.providers,
    keys: readKeys(configDir),
    endpointFlag: flagText(flags, "endpoint") ?? env["CURSOR_API_ENDPOINT"],
    headerFlags: flagList(flags, "header"),
    apiKeyFlag: flagText(flags, "api-key"),
    program: name,
  };
}
