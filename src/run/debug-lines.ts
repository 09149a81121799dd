// What --debug says about a run before it begins.
import type { Setup } from "./setup.ts";

export function debugSetup(
  { workspace, roots, configDir, settings, model, mode, host }: Setup,
  say: (line: string) => void,
) {
  const rules = settings.rules.map((rule) => `${rule.verdict} ${rule.text}`).join(", ");
  const at = model.baseUrl ? ` at ${model.baseUrl}` : "";
  say(`courser ${host.version}, node ${process.version}, ${process.platform}-${process.arch}`);
  say(`workspace ${[workspace, ...roots].join(", ")}; config ${configDir}; mode ${mode}`);
  say(`model ${model.id} (${model.displayName}) of ${model.vendor}${at}, key: ${model.apiKeySource}`);
  say(`rules ${rules === "" ? "none" : rules}`);
}
