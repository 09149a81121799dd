// Lists the possible paths of hook files, highest level first. It runs at every start, so it imports nothing heavy.
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The levels of hook files, from highest to lowest precedence. */
export type HookLevel = "enterprise" | "project" | "user" | "claude local" | "claude project" | "claude user";

export type HookFile = {
  level: HookLevel;
  format: "cursor" | "claude" | "gemini";
  file: string;
  /** The folder in which the hook's commands run. */
  cwd: string;
  /** The file is in the project, so the project's authors control it. */
  ofProject: boolean;
};

export type HookPaths = {
  configDir: string;
  workspace: string;
  home: string;
  platform?: NodeJS.Platform;
  /** A path that replaces the system's enterprise file. */
  enterpriseFile?: string;
};

const enterpriseFiles: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "/Library/Application Support/Cursor/hooks.json",
  win32: "C:\\ProgramData\\Cursor\\hooks.json",
};

/** Returns all possible files, whether or not they exist. */
export function hookFiles({ configDir, workspace, home, platform, enterpriseFile }: HookPaths): HookFile[] {
  const enterprise = enterpriseFile ?? enterpriseFiles[platform ?? process.platform] ?? "/etc/cursor/hooks.json";
  const cursor = { format: "cursor" as const };
  const claude = { format: "claude" as const, cwd: workspace };
  const files: HookFile[] = [
    { ...cursor, level: "enterprise", file: enterprise, cwd: join(enterprise, ".."), ofProject: false },
    { ...cursor, level: "project", file: join(workspace, ".cursor", "hooks.json"), cwd: workspace, ofProject: true },
    { ...cursor, level: "user", file: join(configDir, "hooks.json"), cwd: configDir, ofProject: false },
    { ...claude, level: "claude local", file: join(workspace, ".claude", "settings.local.json"), ofProject: true },
    { ...claude, level: "claude project", file: join(workspace, ".claude", "settings.json"), ofProject: true },
    { ...claude, level: "claude user", file: join(home, ".claude", "settings.json"), ofProject: false },
  ];
  // If the workspace is the home folder, project files are the user's own files, and each counts once.
  const userFiles = new Set(files.filter((each) => !each.ofProject).map((each) => each.file));
  return files.filter((each) => !each.ofProject || !userFiles.has(each.file));
}

/** Returns whether there is any hook file. Called at every start, so it does not read them. */
export function hasHookFiles(paths: HookPaths): boolean {
  return hookFiles(paths).some(({ file }) => existsSync(file));
}
