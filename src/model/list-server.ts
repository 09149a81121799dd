// Lists the models of a server: for `models -e`, and to check whether a key is accepted.
import { isObject, tryParse } from "../json/object.ts";
import { createFetch } from "../net/fetch.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { WireKind } from "./catalog.ts";
import type { RunCommand } from "./token.ts";

export type ModelServer = {
  kind: WireKind;
  baseUrl: string;
  key?: string | undefined;
  /** A command that prints a bearer token for the server. */
  tokenCommand?: string | undefined;
  runCommand?: RunCommand;
  env: Readonly<Record<string, string | undefined>>;
};

/** `refused`: the server does not accept the key. `unreachable`: this could not be determined. */
export type ServerList = { models: string[] } | { refused: string } | { unreachable: string };

const longestMs = 8_000;

export async function listServerModels(server: ModelServer): Promise<ServerList> {
  const { kind, baseUrl, key, env, tokenCommand: command, runCommand: run } = server;
  if (kind === "bedrock" || kind === "vertex") return { unreachable: "it has no list of models to ask for" };
  const plain = createFetch({ env: { ...env }, responseMs: longestMs, idleMs: longestMs });
  const ask =
    command && run ? (await import("./token.ts")).withBearerToken(plain, { command, run, onToken() {} }) : plain;
  let response: Response;
  let text: string;
  try {
    response = await ask(`${baseUrl.replace(/\/+$/, "")}/models`, { headers: keyHeaders(kind, key) });
    text = await response.text();
  } catch (error) {
    return { unreachable: (error as Error).message };
  }
  if (response.status === 401 || response.status === 403) return { refused: `HTTP ${response.status}` };
  // Some vendors answer a wrong key with status 400.
  if (response.status === 400 && /api.?key/i.test(text)) return { refused: `HTTP ${response.status}` };
  if (!response.ok) return { unreachable: `HTTP ${response.status}` };
  return { models: idsIn(tryParse(text)) };
}

function keyHeaders(kind: WireKind, key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  if (kind === "anthropic") return { "x-api-key": key, "anthropic-version": "2023-06-01" };
  if (kind === "azure") return { "api-key": key };
  if (kind === "google") return { "x-goog-api-key": key };
  return { authorization: `Bearer ${key}` };
}

/** Reads `data` of OpenAI and Anthropic, `models` of Google and Ollama. */
function idsIn(list: unknown): string[] {
  const rows = isObject(list) ? (list["data"] ?? list["models"]) : list;
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: unknown) => {
    const id = isObject(row) ? (row["id"] ?? row["name"]) : row;
    return typeof id === "string" ? [id.replace(/^models\//, "")] : [];
  });
}

/** Returns what `models -e` shows; throws a UserError if there is no list. */
export async function modelsAt(server: ModelServer): Promise<string[]> {
  const list = await listServerModels(server);
  if ("models" in list) return list.models;
  if ("refused" in list)
    throw new UserError(
      "MODEL_AUTH_ERROR",
      `${server.baseUrl} refused the key (${list.refused}). Give its key with --api-key <key>.`,
    );
  throw new UserError(
    "MODEL_UNREACHABLE",
    `${server.baseUrl} did not list its models: ${list.unreachable}. Check the address, and that the server is running.`,
  );
}
