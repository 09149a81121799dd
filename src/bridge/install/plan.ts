// Computes the edits that install or uninstall hooks in a host's file. Pure: takes the content, returns edits.
import { isObject, type JsonObject } from "../../json/object.ts";
import type { InstallHost } from "./hosts.ts";

/** The path of a value: `["hooks", "stop", 0]`. */
export type JsonPath = readonly (string | number)[];

export type ConfigEdit =
  /** Appends to the list, which is created if missing. */
  | { type: "append"; path: JsonPath; value: JsonObject }
  | { type: "set"; path: JsonPath; value: unknown }
  | { type: "remove"; path: JsonPath };

export type ConfiguredHook = {
  /** The host's name for the event. */
  event: string;
  command: string;
  matcher?: string;
  path: JsonPath;
  /** The path to remove: the whole group if this is its only hook. */
  groupPath: JsonPath;
};

/** Something in the file does not have the shape that the host requires. */
export class ConfigShapeError extends Error {
  constructor(place: string, wanted: string) {
    super(`"${place}" is not ${wanted}`);
    this.name = "ConfigShapeError";
  }
}

export type WantedHook = { event: string; matcher?: string };

/** Replaces the same command with another matcher; everything else stays. */
export function planInstall(
  host: InstallHost,
  content: JsonObject | undefined,
  { command, hooks }: { command: string; hooks: readonly WantedHook[] },
): ConfigEdit[] {
  const there = content ? configuredHooks(host, content) : [];
  const edits: ConfigEdit[] = [];
  for (const [key, value] of Object.entries(host.head))
    if (!content || !Object.hasOwn(content, key)) edits.push({ type: "set", path: [key], value });
  for (const { event, matcher } of hooks) {
    const same = there.filter((each) => each.event === event && each.command === command);
    const keptEntry = same.find((each) => (each.matcher ?? "") === (matcher ?? ""));
    edits.push(...removalEdits(same.filter((each) => each !== keptEntry)));
    if (!keptEntry) edits.push({ type: "append", path: ["hooks", event], value: hookEntry(host, command, matcher) });
  }
  return edits;
}

/** Removes the hooks that `isOurs` accepts, and lists that become empty. */
export function planUninstall(
  host: InstallHost,
  content: JsonObject,
  isOurs: (hook: ConfiguredHook) => boolean,
): { edits: ConfigEdit[]; removed: ConfiguredHook[] } {
  const there = configuredHooks(host, content);
  const removed = there.filter(isOurs);
  const edits = removalEdits(removed);
  for (const event of new Set(removed.map((each) => each.event))) {
    const list = (content["hooks"] as JsonObject)[event] as unknown[];
    const gone = removed.filter((each) => each.event === event);
    const whole = list.every((entry, index) =>
      host.grouped
        ? (entry as { hooks: unknown[] }).hooks.length === gone.filter((each) => each.groupPath[2] === index).length
        : gone.some((each) => each.path[2] === index),
    );
    if (!whole) continue;
    for (const edit of [...edits]) if (edit.path[1] === event) edits.splice(edits.indexOf(edit), 1);
    edits.push({ type: "remove", path: ["hooks", event] });
  }
  return { edits, removed };
}

/** Removes from last to first, so that the paths of the others stay valid. */
function removalEdits(hooks: readonly ConfiguredHook[]): ConfigEdit[] {
  return [...hooks].reverse().map(({ groupPath }) => ({ type: "remove", path: groupPath }));
}

function hookEntry({ grouped }: InstallHost, command: string, matcher: string | undefined): JsonObject {
  const match = matcher === undefined ? {} : { matcher };
  return grouped ? { ...match, hooks: [{ type: "command", command }] } : { command, ...match };
}

/** Lists every command in the file, including those of other programs. Throws a ConfigShapeError. */
export function configuredHooks({ grouped }: InstallHost, content: JsonObject): ConfiguredHook[] {
  if (content["hooks"] === undefined) return [];
  return Object.entries(objectAt("hooks", content["hooks"])).flatMap(([event, list]) =>
    listAt(`hooks.${event}`, list).flatMap((entry, index): ConfiguredHook[] => {
      const place = `hooks.${event}[${index}]`;
      const groupPath = ["hooks", event, index];
      const group = objectAt(place, entry);
      const matcher = typeof group["matcher"] === "string" ? { matcher: group["matcher"] } : {};
      if (!grouped) {
        const { command } = group;
        return typeof command === "string" ? [{ event, command, ...matcher, path: groupPath, groupPath }] : [];
      }
      const inner = listAt(`${place}.hooks`, group["hooks"]);
      return inner.flatMap((hook, at) => {
        const { command } = objectAt(`${place}.hooks[${at}]`, hook);
        const path = [...groupPath, "hooks", at];
        if (typeof command !== "string") return [];
        return [{ event, command, ...matcher, path, groupPath: inner.length === 1 ? groupPath : path }];
      });
    }),
  );
}

function objectAt(place: string, value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new ConfigShapeError(place, "an object");
}

function listAt(place: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new ConfigShapeError(place, "a list");
}
