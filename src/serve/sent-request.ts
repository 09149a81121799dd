// Builds the request that is sent to a fleet: adds the sender's deny rules, and refuses to drop the sender's hooks unless told to.
import { usageError } from "../protocol/error-codes.ts";
import { canRefuse } from "../protocol/hook-events.ts";
import type { RunRequest } from "../protocol/run.ts";
import { homeDir } from "../store/config-dir.ts";
import { pluginHooks, readHookFile } from "../store/hook-files.ts";
import { hookFiles } from "../store/hook-paths.ts";
import { loadPlugins } from "../store/plugins/installed.ts";
import { denyRules } from "../store/settings.ts";
import type { CliName } from "./fleet.ts";
import { refuseLocalFiles, type SourceChoice } from "./send-files.ts";

type Sender = { configDir: string; env: NodeJS.ProcessEnv };

/** Adds this machine's deny rules to a request. Throws a UserError for options that cannot be sent to another machine. */
export function requestForFleet(
  request: RunRequest,
  choice: SourceChoice,
  { configDir, env }: Sender,
  cli: CliName = "courser",
): RunRequest {
  refuseLocalFiles(request, choice);
  if (cli !== "courser") return request;
  if (!request.withoutLocalHooks) refuseLocalHooks({ configDir, home: homeDir(env), workspace: request.workspace });
  const deny = denyRules(configDir, request.workspace).map(({ text }) => text);
  if (deny.length === 0) return request;
  const { permissions } = request;
  return { ...request, permissions: { ...permissions, deny: [...new Set([...(permissions?.deny ?? []), ...deny])] } };
}

/** Hooks of the project are sent with its files; those of this machine would be left behind. */
function refuseLocalHooks(place: { configDir: string; home: string; workspace: string }): void {
  const userHooks = hookFiles(place).flatMap((each) => (each.ofProject ? [] : (readHookFile(each)?.hooks ?? [])));
  const { plugins } = loadPlugins(place.configDir);
  const hooks = [...userHooks, ...plugins.flatMap((plugin) => pluginHooks(plugin, place.workspace).hooks)];
  const files = [...new Set(hooks.filter(({ event }) => canRefuse(event)).map(({ file }) => file))];
  if (files.length > 0)
    throw usageError(
      `Hooks of this machine can refuse what the run does, and do not exist on a worker: ${files.join(", ")}. To send the run without them: --without-local-hooks (withoutLocalHooks in a request). Hooks for the run itself: --hooks with the JSON.`,
    );
}
