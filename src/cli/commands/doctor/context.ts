// Collects what the checks of `doctor` look at. Nothing here throws: a broken file is a finding.
import { realDirectory } from "../../../run/real-directory.ts";
import { configDir, homeDir } from "../../../store/config-dir.ts";
import { loadSettings, type Settings } from "../../../store/settings.ts";
import { isTrusted } from "../../../store/trust.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";

export type DoctorContext = {
  invocation: Invocation;
  configDir: string;
  home: string;
  workspace: string;
  trusted: boolean;
  /** The settings, or the error that occurred while reading them. */
  settings: Settings | Error;
  /** Whether checks may contact servers and models. */
  online: boolean;
};

export function contextOf(invocation: Invocation): DoctorContext {
  const { env, line } = invocation;
  const config = configDir(env);
  const workspace = realDirectory(flagText(line.flags, "workspace") ?? ".", "--workspace");
  const trusted = isTrusted(config, workspace);
  let settings: Settings | Error;
  try {
    settings = loadSettings({ configDir: config, workspace, trusted });
  } catch (error) {
    settings = error as Error;
  }
  return {
    invocation,
    configDir: config,
    home: homeDir(env),
    workspace,
    trusted,
    settings,
    online: line.flags.has("online"),
  };
}
