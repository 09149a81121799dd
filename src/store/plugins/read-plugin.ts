// Reads a plugin: a folder with commands, skills, subagents, rules, hooks and MCP servers, in the
// layout of the original CLI or of Claude Code.
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { isObject, type JsonObject } from "../../json/object.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { readJson, realPathOrSame } from "../json-file.ts";

export type Plugin = {
  name: string;
  version?: string;
  description?: string;
  /** The real path of the plugin's folder. */
  root: string;
  /** How the plugin was added; `flag` is for one run. */
  scope: "flag" | "user";
  /** Paths of folders with commands. Some of these fields may also contain single files. */
  commands: readonly string[];
  skills: readonly string[];
  agents: readonly string[];
  rules: readonly string[];
  hooks: readonly PluginFile[];
  servers: readonly PluginFile[];
};

/** A configuration file of a plugin, or the part of its manifest that replaces one. */
export type PluginFile = { file: string; content: JsonObject };

const manifests = [".cursor-plugin/plugin.json", ".claude-plugin/plugin.json", "plugin.json"];

/** The default location of each part, unless the manifest overrides it. */
const folders = { commands: "commands", skills: "skills", agents: "agents", rules: "rules" } as const;
const files = { hooks: ["hooks/hooks.json"], mcpServers: ["mcp.json", ".mcp.json"] } as const;

/** Reads a plugin folder. Throws a UserError if it is not a plugin, or its manifest cannot be parsed. */
export function readPlugin(folder: string, scope: Plugin["scope"]): Plugin {
  const root = realPathOrSame(resolve(folder));
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(
      "FILE_UNREADABLE",
      `The plugin ${folder} is not a directory. Pass the directory that contains its plugin.json.`,
    );
  refuseLinksOut(root);
  const file = manifests.map((each) => join(root, each)).find((each) => existsSync(each));
  const manifest = (file === undefined ? undefined : readJson(file)) ?? {};
  const source = { root, file: file ?? root, manifest };
  if (!file && !hasParts(root)) {
    throw new UserError(
      "CONFIG_INVALID",
      `${root} is not a plugin: it has neither .cursor-plugin/plugin.json nor a directory such as commands, skills or agents.`,
    );
  }
  const { version, description } = manifest;
  return {
    name: pluginName(source),
    ...(typeof version === "string" && { version }),
    ...(typeof description === "string" && { description }),
    root,
    scope,
    commands: manifestPaths(source, "commands"),
    skills: manifestPaths(source, "skills"),
    agents: manifestPaths(source, "agents"),
    rules: manifestPaths(source, "rules"),
    hooks: contentsOf(source, "hooks"),
    servers: contentsOf(source, "mcpServers"),
  };
}

/** Refuses links that lead out of the folder: they would show one thing at approval, and could be another later. */
function refuseLinksOut(root: string): void {
  const open = [root];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop())
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && path !== join(root, ".git")) open.push(path);
      if (entry.isSymbolicLink() && !(existsSync(path) && realPathOrSame(path).startsWith(root + sep)))
        throw new UserError(
          "CONFIG_INVALID",
          `The plugin ${root} contains a link that leads out of it: ${path}. Put the file itself there.`,
        );
    }
}

/** The name of a plugin's server in rules, commands and server names. */
export function serverName(plugin: Pick<Plugin, "name">, server: string): string {
  return `plugin-${plugin.name}-${server}`;
}

/** Returns the environment variables that tell a plugin's hooks and servers its folder. */
export function pluginVariables({ root }: Pick<Plugin, "root">): Record<string, string> {
  return { CURSOR_PLUGIN_ROOT: root, CLAUDE_PLUGIN_ROOT: root };
}

/** Replaces `${CURSOR_PLUGIN_ROOT}` in every string of a value. */
export function withPluginRoot<Value>(value: Value, plugin: Pick<Plugin, "root">): Value {
  if (typeof value === "string")
    return value.replace(/\$\{(?:CURSOR|CLAUDE)_PLUGIN_ROOT\}/g, () => plugin.root) as Value;
  if (Array.isArray(value)) return value.map((each: unknown) => withPluginRoot(each, plugin)) as Value;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withPluginRoot(each, plugin)])) as Value;
}

type Source = { root: string; file: string; manifest: JsonObject };

function hasParts(root: string): boolean {
  return [...Object.values(folders), ...Object.values(files).flat()].some((name) => existsSync(join(root, name)));
}

function pluginName({ root, file, manifest }: Source): string {
  const name = manifest["name"] ?? basename(root);
  if (typeof name === "string" && /^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return name;
  throw new UserError(
    "CONFIG_INVALID",
    `${file}: "name" must have letters, digits, '.', '_' and '-' only, at most 64.`,
  );
}

/** Returns the paths for a field. A field in the manifest replaces the default folder. */
function manifestPaths(source: Source, field: keyof typeof folders): string[] {
  const fieldValue = source.manifest[field];
  if (fieldValue === undefined) return [join(source.root, folders[field])].filter((each) => existsSync(each));
  return manifestTexts(source, field, fieldValue).map((path) => insidePath(source, field, path));
}

function contentsOf(source: Source, field: keyof typeof files): PluginFile[] {
  const fieldValue = source.manifest[field];
  if (isObject(fieldValue)) {
    const content = field in fieldValue ? fieldValue : { [field]: fieldValue };
    return [{ file: source.file, content }];
  }
  const usual = files[field].map((name) => join(source.root, name)).filter((each) => existsSync(each));
  const paths =
    fieldValue === undefined
      ? usual.slice(0, 1)
      : manifestTexts(source, field, fieldValue).map((path) => insidePath(source, field, path));
  return paths.flatMap((file) => {
    const content = readJson(file);
    return content === undefined ? [] : [{ file, content }];
  });
}

function manifestTexts({ file }: Source, field: string, fieldValue: unknown): string[] {
  const list = Array.isArray(fieldValue) ? fieldValue : [fieldValue];
  if (list.every((each) => typeof each === "string")) return list;
  throw new UserError("CONFIG_INVALID", `${file}: "${field}" must be a path, or a list of paths.`);
}

function insidePath({ root, file }: Source, field: string, path: string): string {
  const full = resolve(root, path);
  const real = existsSync(full) ? realPathOrSame(full) : undefined;
  if (real === undefined)
    throw new UserError("CONFIG_INVALID", `${file}: "${field}" names ${path}, which does not exist.`);
  if (real === root || real.startsWith(root + sep)) return real;
  throw new UserError("CONFIG_INVALID", `${file}: "${field}" names ${path}, which is outside of the plugin.`);
}
