// --fallback-model: the models that are asked when the first fails.
import { UserError } from "../protocol/error-codes.ts";
import { flagList } from "../cli/flags.ts";
import type { Setup } from "./setup.ts";

/** Those of the command line, which must be there to be asked, else those of the settings. */
export function fallbackModels({ invocation, settings, model }: Setup): readonly string[] | undefined {
  const given = flagList(invocation.line.flags, "fallback-model").flatMap((names) => names.split(","));
  const names = given.map((name) => name.trim()).filter((name) => name !== "");
  for (const name of names) checkFallback(model, name);
  return names.length > 0 ? names : settings.courser.fallbackModels;
}

function checkFallback(model: Setup["model"], name: string): void {
  try {
    model.other(name);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(error.code, `--fallback-model ${name}: ${error.message}`);
  }
}
