// The first exchange of version 1: what the client can do, and what we can.
import { isObject, type JsonObject } from "../../json/object.ts";

export const protocolVersion = 1;

export const cursorMethods = ["ask_question", "create_plan", "update_todos", "task"] as const;

export type CursorMethod = (typeof cursorMethods)[number];

/** What may be asked of the client. What it did not announce is never used. */
export type ClientAbilities = {
  readsFiles: boolean;
  writesFiles: boolean;
  /** Shows a form, and says what was filled in. */
  elicits: boolean;
  /** Shows notices beside the conversation. */
  notices: boolean;
  compaction: boolean;
  /** Starts us in a terminal to log in. */
  terminalLogin: boolean;
  /** Which extensions `cursor/…` it takes. */
  cursor: ReadonlySet<CursorMethod>;
};

export function abilitiesOf({ clientCapabilities }: JsonObject): ClientAbilities {
  const { fs, session, auth, elicitation, _meta } = objectOf(clientCapabilities);
  return {
    readsFiles: objectOf(fs)["readTextFile"] === true,
    writesFiles: objectOf(fs)["writeTextFile"] === true,
    elicits: isObject(objectOf(elicitation)["form"]),
    notices: isObject(objectOf(session)["notices"]),
    compaction: isObject(objectOf(session)["compaction"]),
    terminalLogin: objectOf(auth)["terminal"] === true,
    cursor: cursorMethodsIn(objectOf(_meta)),
  };
}

/**
 * One by one, `"cursor/ask_question": true`, or all, `"cursor": true`. Clients that were written for Cursor's CLI announce
 * `parameterizedModelPicker`, and know them too; one that does not says so when it is asked, and is asked in another way.
 */
function cursorMethodsIn(meta: JsonObject): ReadonlySet<CursorMethod> {
  const all = meta["cursor"] === true || meta["parameterizedModelPicker"] === true;
  return new Set(cursorMethods.filter((method) => all || meta[`cursor/${method}`] === true));
}

export function initializeResult({ terminalLogin }: ClientAbilities, version: string): object {
  return {
    protocolVersion,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
      auth: { logout: {} },
    },
    authMethods: [
      {
        id: "cursor_login",
        name: "Saved login",
        description: "A vendor's API key, saved by login or in the environment",
      },
      ...(terminalLogin
        ? [{ type: "terminal", id: "login", name: "Log in", description: "Save a vendor's API key", args: ["login"] }]
        : []),
    ],
    agentInfo: { name: "courser", title: "Courser", version },
  };
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
