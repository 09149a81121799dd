// Shortens and expands the first line of a recording: it is written without the fields that `init` has or that have their default.
import { isObject } from "../json/object.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { PermissionMode } from "../protocol/run.ts";
import type { RecordingHeader } from "./recording.ts";

type Init = Extract<AgentEvent, { type: "init" }>;
type Fields = Record<string, unknown>;

export function shortHeader(header: RecordingHeader, init: Init): object {
  return without(header, expected(header as unknown as Fields, init));
}

export function wholeHeader(written: Fields, init: Init | undefined): RecordingHeader {
  return withFields(written, expected(written, init)) as RecordingHeader;
}

/** The defaults of the header's fields. */
function expected({ places, request }: Fields, init: Init | undefined): Fields {
  const home = isObject(places) ? places["home"] : undefined;
  const asked = isObject(request) ? request : {};
  return {
    ...(init && { chatId: init.sessionId, mode: init.permissionMode as PermissionMode }),
    trusted: asked["trust"] === true,
    // The values of print mode.
    request: { approvedServerCalls: "allow", unlistedCommands: "sandbox", single: true },
    places: {
      ...(init && { workspace: init.cwd }),
      ...(typeof home === "string" && { config: `${home}/.cursor` }),
      temporary: "/tmp",
    },
    model: {
      contextTokens: 128_000, // the default for unknown models
      ...(typeof asked["model"] === "string" && { id: asked["model"] }),
      ...(init?.model !== undefined && { displayName: init.model }),
    },
  };
}

function without(given: object, usual: Fields): object {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
      const other = usual[name];
      if (isObject(value) && isObject(other)) return [[name, without(value, other)]];
      return value === other ? [] : [[name, value]];
    }),
  );
}

function withFields(given: Fields, usual: Fields): Fields {
  const filled = Object.entries(usual).map(([name, value]): [string, unknown] => {
    const own = given[name];
    return [name, isObject(value) && isObject(own) ? withFields(own, value) : (own ?? value)];
  });
  return { ...given, ...Object.fromEntries(filled) };
}
