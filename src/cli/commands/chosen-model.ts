// Finds the model and key that a run would use now, for commands that only report them.

import { findVendor } from "../../model/catalog.ts";
import { type ModelChoice, type ResolvedModel, resolveModel } from "../../model/resolve.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { modelChoice } from "../../run/models.ts";
import { configDir } from "../../store/config-dir.ts";
import { loadSettings } from "../../store/settings.ts";
import { tryOr } from "../../text/try-or.ts";
import type { Invocation } from "../main.ts";
import { modelFlags, runHost } from "../run-request.ts";

export type ChosenModel = {
  configDir: string;
  choice: ModelChoice;
  /** The model that the user chose by flag, variable or configuration; undefined for `auto`. */
  named: string | undefined;
  /** The chosen model, or the error that there is no such model or no key for it. */
  model: ResolvedModel | UserError;
};

export function chosenModel(invocation: Invocation): ChosenModel {
  const { env } = invocation;
  const config = configDir(env);
  const folder = tryOr(() => process.cwd(), "/"); // a login does not depend on the folder, which may be deleted
  const settings = loadSettings({ configDir: config, workspace: folder, trusted: false });
  const choice = modelChoice({ ...runHost(invocation), ...modelFlags(invocation.line.flags) }, settings, config);
  const named = [choice.flag, env["COURSER_MODEL"], choice.configModel]
    .map((text) => text?.trim())
    .find((text) => text);
  return {
    configDir: config,
    choice,
    named: named && /^(auto|default)$/i.test(named) ? undefined : named,
    model: tryModel(choice),
  };
}

export function tryModel(choice: ModelChoice): ResolvedModel | UserError {
  try {
    return resolveModel(choice);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

/** Describes where the model's key comes from: a variable's name, `--api-key`, `login` or a token command. */
export function keySource(model: ResolvedModel, { env, endpoints }: ModelChoice): string | undefined {
  if (model.tokenCommand !== undefined) return "the token command";
  if (model.key === undefined) return undefined;
  if (model.apiKeySource === "flag") return "--api-key";
  if (model.apiKeySource === "login") return "login";
  const endpoint = endpoints?.[model.vendor];
  const variables = [
    endpoint?.keyEnv,
    ...(endpoint?.keys ?? []),
    ...(findVendor(model.vendor)?.keyVariables ?? []),
    "CURSOR_API_KEY",
  ];
  return (
    variables.find((variable) => variable !== undefined && env[variable]?.trim() === model.key) ??
    (model.kind === "bedrock" ? "~/.aws" : "environment")
  );
}
