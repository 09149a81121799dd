// Shortens and expands the first line of a recording: it is written without the fields that `init` has or that have their default.
import { fieldsOf, isObject } from "../json/object.ts";
import type { EventOf } from "../protocol/event.ts";
import type { PermissionMode } from "../protocol/run.ts";
import type { RecordingHeader } from "./recording.ts";

type Fields = Record<string, unknown>;

export function shortHeader(header: RecordingHeader, init: EventOf<"init">): object {
  return withoutDefaults(header, defaultFields(header as unknown as Fields, init));
}

export function wholeHeader(written: Fields, init: EventOf<"init"> | undefined): RecordingHeader {
  return withFields(written, defaultFields(written, init)) as RecordingHeader;
}

function defaultFields({ places, request }: Fields, init: EventOf<"init"> | undefined): Fields {
  const home = isObject(places) ? places["home"] : undefined;
  const asked = fieldsOf(request);
  return {
    ...(init && { chatId: init.sessionId, mode: init.permissionMode as PermissionMode }),
    trusted: asked["trust"] === true,
    // Use the values that print mode has.
    request: { approvedServerCalls: "allow", unlistedCommands: "sandbox", single: true },
    places: {
      ...(init && { workspace: init.cwd }),
      ...(typeof home === "string" && { config: `${home}/.cursor` }),
      temporary: "/tmp",
    },
    model: {
      contextTokens: 128_000, // the default for models that are not in the catalog
      ...(typeof asked["model"] === "string" && { id: asked["model"] }),
      ...(init?.model !== undefined && { displayName: init.model }),
    },
  };
}

function withoutDefaults(fields: object, usual: Fields): object {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
      const other = usual[name];
      if (isObject(value) && isObject(other)) return [[name, withoutDefaults(value, other)]];
      return value === other ? [] : [[name, value]];
    }),
  );
}

function withFields(savedFields: Fields, usual: Fields): Fields {
  const filled = Object.entries(usual).map(([name, value]): [string, unknown] => {
    const ownValue = savedFields[name];
    return [name, isObject(value) && isObject(ownValue) ? withFields(ownValue, value) : (ownValue ?? value)];
  });
  return { ...savedFields, ...Object.fromEntries(filled) };
}
