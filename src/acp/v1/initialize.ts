// The `initialize` exchange of version 1: the abilities of the client and of this agent.
import { fieldsOf, isObject, type JsonObject } from "../../json/object.ts";

export const protocolVersion = 1;

export const cursorMethods = ["ask_question", "create_plan", "update_todos", "task"] as const;

export type CursorMethod = (typeof cursorMethods)[number];

/** The features that the client reported in `initialize`. */
export type ClientAbilities = {
  readsFiles: boolean;
  writesFiles: boolean;
  /** Whether the client can show a form and return the user's input. */
  elicits: boolean;
  /** Whether the client shows notices separately from the conversation. */
  notices: boolean;
  compaction: boolean;
  /** The client can start this program in a terminal for a login. */
  terminalLogin: boolean;
  /** The `cursor/…` extensions that the client supports. */
  cursor: ReadonlySet<CursorMethod>;
};

export function abilitiesOf({ clientCapabilities }: JsonObject): ClientAbilities {
  const { fs, session, auth, elicitation, _meta } = fieldsOf(clientCapabilities);
  return {
    readsFiles: fieldsOf(fs)["readTextFile"] === true,
    writesFiles: fieldsOf(fs)["writeTextFile"] === true,
    elicits: isObject(fieldsOf(elicitation)["form"]),
    notices: isObject(fieldsOf(session)["notices"]),
    compaction: isObject(fieldsOf(session)["compaction"]),
    terminalLogin: fieldsOf(auth)["terminal"] === true,
    cursor: cursorMethodsIn(fieldsOf(_meta)),
  };
}

/**
 * Extensions are announced one by one (`"cursor/ask_question": true`) or together (`"cursor": true`). Clients written for
 * Cursor's CLI announce `parameterizedModelPicker` and know them too; one that does not replies "method not found" and is asked
 * in another way.
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
