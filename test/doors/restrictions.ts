// What restricts a run, what a run is made to try, and how one sees by the files that lie there afterwards that it was kept from it.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunRequest } from "../../src/protocol/run.ts";
import type { RestrictingField } from "../../src/protocol/run-request.ts";
import { trust } from "../../src/store/trust.ts";
import type { Workspace } from "../support/run-cli.ts";

/** Where one run works, and what it is told. */
export type Place = {
  path: string;
  home: string;
  config: string;
  env: Record<string, string>;
  /** A scripted model that tries everything. */
  model: string;
  /** One that only answers. */
  quiet: string;
  /** Holds a word that is said nowhere else. */
  prompt: string;
  outside: string;
  plugin: string;
};

/** `folder`: where the run worked, if not in its place. */
export type Seen = { place: Place; folder: string; failed: boolean; said: string };

let count = 0;

/** A trusted folder of its own, in the home of this workspace. */
export function placeIn({ home, config, env }: Workspace): Place {
  const name = `${process.pid}x${++count}`;
  const path = join(home, "places", name);
  mkdirSync(path, { recursive: true });
  trust(config, path);
  const outside = join(home, `outside-${name}.txt`);
  const file = (script: unknown, kind: string) => {
    const at = join(home, `${kind}-${name}.json`);
    writeFileSync(at, JSON.stringify(script));
    return `script:${at}`;
  };
  const plugin = join(home, `plugin-${name}`);
  mkdirSync(plugin);
  writeFileSync(
    join(plugin, "plugin.json"),
    JSON.stringify({ name: "fence", version: "1.0.0", hooks: "./hooks.json" }),
  );
  writeFileSync(join(plugin, "hooks.json"), JSON.stringify(hooksAgainst("plugged.txt")));
  prepare(path);
  return {
    path,
    home,
    config,
    env,
    model: file(attempts(outside), "script"),
    quiet: file([{ text: "Hello." }], "quiet"),
    prompt: `try everything, marker${name}marker`,
    outside,
    plugin,
  };
}

/** As a folder looks before a run. */
export function prepare(path: string): void {
  writeFileSync(join(path, "kept.txt"), "here\n");
  writeFileSync(join(path, "edited.txt"), "before\n");
}

const write = (path: string) => ({ name: "Write", args: { path, contents: "done\n" } });
const shell = (command: string) => ({ name: "Shell", args: { command } });

/** The calls of one reply, then those of another. */
export function attempts(outside: string): object[] {
  const calls = [
    write("allowed.txt"),
    write("denied.txt"),
    write("hooked.txt"),
    write("plugged.txt"),
    { name: "Delete", args: { path: "kept.txt" } },
    { name: "Edit", args: { path: "edited.txt", old_string: "before", new_string: "after" } },
    shell("touch shelled.txt"),
    shell(`touch ${outside}`),
  ];
  return [{ calls }, { calls: [shell("touch late.txt")] }, { text: "The end." }];
}

function hooksAgainst(word: string): object {
  const denied = JSON.stringify({ permission: "deny", user_message: "no", agent_message: "no" });
  const command = `if grep -q ${word}; then echo '${denied}'; else echo '{}'; fi`;
  return { version: 1, hooks: { preToolUse: [{ command }] } };
}

type Restriction = {
  /** The runs that it shares in the short form. */
  group: "calls" | "turns" | "servers" | "stored" | "unlisted";
  request(place: Place): Partial<RunRequest>;
  /** What happened that must not. */
  broken(seen: Seen): string | false;
  /** Without: no flag says it. */
  flags?(place: Place): string[];
};

const has = ({ folder }: Seen, name: string) => existsSync(join(folder, name));

/** A field that is new, and restricts, does not compile before it is here. */
export const restrictions: Readonly<Record<RestrictingField, Restriction>> = {
  permissions: {
    group: "calls",
    request: () => ({ permissions: { deny: ["Write(denied.txt)"] } }),
    flags: () => ["--deny", "Write(denied.txt)"],
    broken: (seen) => has(seen, "denied.txt") && "denied.txt was written",
  },
  hooks: {
    group: "calls",
    request: () => ({ hooks: [JSON.stringify(hooksAgainst("hooked.txt"))] }),
    flags: () => ["--hooks", JSON.stringify(hooksAgainst("hooked.txt"))],
    broken: (seen) => has(seen, "hooked.txt") && "hooked.txt was written",
  },
  pluginDirs: {
    group: "calls",
    request: ({ plugin }) => ({ pluginDirs: [plugin] }),
    flags: ({ plugin }) => ["--plugin-dir", plugin],
    broken: (seen) => has(seen, "plugged.txt") && "plugged.txt was written",
  },
  disallowedTools: {
    group: "calls",
    request: () => ({ disallowedTools: ["Delete"] }),
    flags: () => ["--disallowed-tools", "Delete"],
    broken: (seen) => !has(seen, "kept.txt") && "kept.txt was deleted",
  },
  allowedTools: {
    group: "calls",
    request: () => ({ allowedTools: ["Read", "Write", "Delete", "Shell", "Task"] }),
    flags: () => ["--allowed-tools", "Read,Write,Delete,Shell,Task"],
    broken: ({ folder }) => readFileSync(join(folder, "edited.txt"), "utf8") !== "before\n" && "edited.txt was edited",
  },
  sandbox: {
    group: "calls",
    request: () => ({ sandbox: "enabled" }),
    flags: () => ["--sandbox", "enabled"],
    broken: ({ place }) => existsSync(place.outside) && "a file outside was written",
  },
  failOn: {
    group: "calls",
    // With something to be denied.
    request: () => ({ failOn: ["denied"], permissions: { deny: ["Write(denied.txt)"] } }),
    flags: () => ["--fail-on", "denied", "--deny", "Write(denied.txt)"],
    broken: ({ failed, said }) => !failed && `calls were refused, and the run ended well: ${said}`,
  },
  mode: {
    group: "turns",
    request: () => ({ mode: "ask" }),
    flags: () => ["--mode", "ask"],
    broken: (seen) => (has(seen, "allowed.txt") || has(seen, "shelled.txt")) && "a file was written in ask mode",
  },
  limits: {
    group: "turns",
    request: () => ({ limits: { maxTurns: 1 } }),
    flags: () => ["--max-turns", "1"],
    broken: (seen) => (has(seen, "late.txt") || !seen.failed) && `there was a second reply: ${seen.said}`,
  },
  requiredServers: {
    group: "servers",
    request: () => ({ requiredServers: ["nowhere"] }),
    flags: () => ["--require-mcp", "nowhere"],
    broken: (seen) =>
      (has(seen, "allowed.txt") && "the model was asked without the server") ||
      (!seen.failed && `the run ended well: ${seen.said}`),
  },
  ephemeral: {
    group: "stored",
    request: () => ({ ephemeral: true }),
    flags: () => ["--no-persist"],
    broken: ({ place }) => {
      const file = fileWith(place.config, place.prompt);
      return file !== undefined && `${file} holds the prompt`;
    },
  },
  unlistedCommands: {
    group: "unlisted",
    request: () => ({ unlistedCommands: "ask" }),
    broken: (seen) => has(seen, "shelled.txt") && "a command ran that nobody was asked about",
  },
};

export const fieldNames = Object.keys(restrictions) as RestrictingField[];

/** What must be there after a run of `calls`: else it is not the restriction that kept the run from everything. */
export function missingIn(seen: Seen): string | undefined {
  const missing = ["allowed.txt", "shelled.txt", "late.txt"].filter((name) => !has(seen, name));
  return missing.length > 0 ? `not even ${missing.join(", ")}: ${seen.said}` : undefined;
}

/** What of the unrestricted run did not happen, by which a restriction would seem to hold. */
export function undoneIn(seen: Seen): string[] {
  return fieldNames
    .filter((name) => restrictions[name].group === "calls" && name !== "failOn")
    .filter((name) => restrictions[name].broken(seen) === false);
}

function fileWith(folder: string, words: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() && readFileSync(path).includes(words));
}
