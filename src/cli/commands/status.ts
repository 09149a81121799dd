// `status`: shows whether the chosen model has a key, and where the key comes from.
import { vendors } from "../../model/catalog.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { readKeys } from "../../store/auth.ts";
import { configDir } from "../../store/config-dir.ts";
import type { Invocation } from "../main.ts";
import { writeStderr } from "../stdout.ts";
import { answer, answerJson, wantsJson } from "./answer.ts";
import { chosenModel, keySource } from "./chosen-model.ts";

type LoginStatus =
  | { loggedIn: true; who: string; source: string | null; hasKey: boolean; model: string }
  | { loggedIn: false; model: string; message: string };

/** Prints whether the user is logged in, and which keys are set. Exits with 0 either way: scripts read the first line, or `isAuthenticated`. */
export async function status(invocation: Invocation): Promise<number> {
  const login = loginOf(invocation);
  const keys = keysOf(invocation);
  if (wantsJson(invocation)) return answerJson({ ...statusJson(login), keys });
  // The first line already names a single key; list them only if there are several.
  const others = keys.length > 1 ? keys.map(({ vendor, source }) => `  ${vendor.padEnd(12)} ${source}\n`).join("") : "";
  if (login.loggedIn) return answer(`✓ Logged in as ${login.who} (${howOf(login)})\n${others && `Keys:\n${others}`}`);
  const exitCode = await answer("Not logged in\n");
  writeStderr(`${login.message}\n`);
  return exitCode;
}

/** The line begins like the original's. There is no account, only a key, so its source follows. */
function howOf({ source, model }: Extract<LoginStatus, { loggedIn: true }>): string {
  if (source === null) return `${model}: no key needed`;
  return source === "login" ? "key saved by login" : `key from ${source}`;
}

/** Lists every key by its source: a variable's name, or `login`. Shows no part of a key. */
function keysOf(invocation: Invocation): { vendor: string; source: string }[] {
  const { env } = invocation;
  const saved = Object.keys(readKeys(configDir(env)));
  const vendorKeys = vendors.flatMap(({ name, keyVariables }) => {
    const variable = keyVariables.find((one) => env[one]?.trim());
    const source = variable ?? (saved.includes(name) ? "login" : undefined);
    return source === undefined ? [] : [{ vendor: name, source }];
  });
  const endpointNames = saved.filter((name) => !vendors.some((row) => row.name === name));
  const envKeys = env["CURSOR_API_KEY"]?.trim() ? [{ vendor: "any", source: "CURSOR_API_KEY" }] : [];
  return [...envKeys, ...vendorKeys, ...endpointNames.map((vendor) => ({ vendor, source: "login" }))];
}

function loginOf(invocation: Invocation): LoginStatus {
  const { model, named, choice } = chosenModel(invocation);
  if (model instanceof UserError) return { loggedIn: false, model: named ?? "auto", message: model.message };
  const source = keySource(model, choice);
  if (source !== undefined) return { loggedIn: true, who: model.vendor, source, hasKey: true, model: model.id };
  // The offline model is the fallback when no model was chosen, so show it only if the user named it.
  if (model.kind === "offline" && named === undefined) {
    const { name } = invocation;
    return {
      loggedIn: false,
      model: model.id,
      message: `No API key is set for any vendor. Type: ${name} login anthropic, or export ANTHROPIC_API_KEY=<key>. Without one the offline model answers.`,
    };
  }
  return { loggedIn: true, who: model.local ? "local" : model.vendor, source: null, hasKey: false, model: model.id };
}

function statusJson(login: LoginStatus): object {
  const { loggedIn, model } = login;
  return {
    status: loggedIn ? "authenticated" : "unauthenticated",
    isAuthenticated: loggedIn,
    hasAccessToken: loggedIn && login.hasKey,
    hasRefreshToken: false,
    ...(loggedIn ? { userInfo: { userId: login.who } } : { message: login.message }),
    vendor: loggedIn ? login.who : null,
    source: loggedIn ? login.source : null,
    model,
  };
}
