// Configures services besides the model: web access and code search.
import type { CodeSearchAccess, WebAccess } from "../agent/tools/tool.ts";
import { UserError } from "../protocol/error-codes.ts";
import { createPageCache } from "../web/page-cache.ts";
import { searchEngine, searchEngineNames } from "../web/search-engines.ts";
import type { Setup } from "./setup.ts";

/** `state` supplies the mode that applies when something is fetched. */
export function webAccess({ settings, rules, host: { env } }: Setup, state: Pick<Setup, "mode">): WebAccess {
  const { search = {} } = settings.courser;
  if (search.engine !== undefined && !searchEngineNames.includes(search.engine)) {
    throw new UserError(
      "CONFIG_INVALID",
      `courser.json: "search.engine" must be one of ${searchEngineNames.join(", ")}. Fix it, or remove it.`,
    );
  }
  return {
    get mode() {
      return state.mode;
    },
    rules,
    env,
    pages: createPageCache(),
    engine: searchEngine(search, env),
  };
}

/** Returns the keys of these services, which are hidden from the agent's commands. */
export function serviceKeys({ settings: { courser }, host: { env } }: Setup, { engine }: WebAccess): string[] {
  const providers = Object.values(courser.providers).flatMap(({ keyEnv, keys = [] }) => [keyEnv, ...keys]);
  const named = [...providers, courser.search?.keyEnv, courser.embeddings?.keyEnv];
  const values = named.map((name) => (name === undefined ? undefined : env[name]));
  return [engine?.key, ...values].filter((key): key is string => Boolean(key));
}

/** Returns what code search needs. `isKept` means that this run may store data on disk. */
export function codeSearchAccess(
  { settings: { courser }, configDir, host: { env } }: Setup,
  { isKept }: { isKept: boolean },
): CodeSearchAccess {
  const { url, model, keyEnv } = courser.embeddings ?? {};
  if ((url === undefined) !== (model === undefined)) {
    throw new UserError("CONFIG_INVALID", 'courser.json: "embeddings" needs both "url" and "model". Add the other.');
  }
  const key = keyEnv === undefined ? undefined : env[keyEnv];
  return {
    ...(isKept && { configDir }),
    ...(url !== undefined && model !== undefined && { embeddings: { url, model, key } }),
  };
}
