// Validates the parameters of version 1 requests: sessions to open, prompts, MCP servers.
import { basename, isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, type JsonObject, setUntrustedKey } from "../../json/object.ts";
import { type UserError, usageError } from "../../protocol/error-codes.ts";
import { imageKind, largestImage } from "../../protocol/image.ts";
import type { Prompt } from "../../protocol/run.ts";
import { tryOr } from "../../text/try-or.ts";

export type OpenParams = {
  cwd: string;
  roots: string[];
  /** The MCP servers as JSON, in the format of --mcp-config. */
  mcpConfig?: string;
};

export function textParam(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== "string" || value === "")
    throw invalidParamsError(`"${name}" must be a string that is not empty`);
  return value;
}

/** Reads the parameters of session/new, load and resume. A missing server list is an empty one. */
export function openParams(params: JsonObject): OpenParams {
  const { additionalDirectories, mcpServers } = params;
  const servers = listOrEmpty(mcpServers, "mcpServers");
  return {
    cwd: requireAbsolutePath(params["cwd"], "cwd"),
    roots: listOrEmpty(additionalDirectories, "additionalDirectories").map((path) =>
      requireAbsolutePath(path, "additionalDirectories"),
    ),
    ...(servers.length > 0 && { mcpConfig: mcpConfigOf(servers) }),
  };
}

function mcpConfigOf(servers: readonly unknown[]): string {
  const named: JsonObject = {};
  for (const server of servers) {
    if (!isObject(server)) throw invalidParamsError('an entry of "mcpServers" must be an object');
    const name = textParam(server, "name");
    const { type } = server;
    if (type !== undefined && type !== "stdio" && type !== "http" && type !== "sse")
      throw invalidParamsError(
        `the MCP server ${name} has the type ${JSON.stringify(type)}: it must be stdio, http or sse`,
      );
    const definition =
      type === "http" || type === "sse"
        ? { type, url: textParam(server, "url"), headers: namedValuesToObject(server["headers"], `headers of ${name}`) }
        : {
            command: textParam(server, "command"),
            args: requireStrings(server["args"], `args of ${name}`),
            env: namedValuesToObject(server["env"], `env of ${name}`),
          };
    setUntrustedKey(named, name, definition);
  }
  return JSON.stringify({ mcpServers: named });
}

/** Converts a prompt. Links stay within the user's text; embedded resources follow as data, without commands. */
export function parsePrompt({ prompt }: JsonObject): Prompt {
  if (!Array.isArray(prompt)) throw invalidParamsError('"prompt" must be a list of content blocks');
  let text = "";
  const data: string[] = [];
  const images: { mime: string; base64: string }[] = [];
  for (const block of prompt) {
    if (!isObject(block)) throw invalidParamsError("a content block must be an object");
    switch (block.type) {
      case "text":
        if (typeof block.text !== "string") throw invalidParamsError('a text block needs a "text"');
        text += block.text;
        break;
      case "resource_link":
        text += linkText(uriToPath(textParam(block, "uri")), block["name"]);
        break;
      case "resource":
        embed(block, { data, images, say: (words) => (text += words) });
        break;
      case "image":
        images.push(imageOf(block["data"]));
        break;
      default:
        throw invalidParamsError(
          `a content block has the type ${JSON.stringify(block.type)}: it must be text, image, resource_link or resource`,
        );
    }
  }
  if (text.trim() === "" && data.length === 0 && images.length === 0) throw invalidParamsError("the prompt is empty");
  return {
    text,
    ...(data.length > 0 && { data: data.join("\n") }),
    ...(images.length > 0 && { images }),
  };
}

/** Formats a link in Markdown, since a path alone at the beginning would be parsed as a command. */
function linkText(place: string, name: unknown): string {
  return `[${typeof name === "string" && name !== "" ? name : basename(place)}](${place})`;
}

function embed(
  { resource }: JsonObject,
  into: { data: string[]; images: { mime: string; base64: string }[]; say(words: string): void },
): void {
  if (!isObject(resource)) throw invalidParamsError('a resource block needs a "resource"');
  const place = uriToPath(textParam(resource, "uri"));
  const { text, blob, mimeType } = resource;
  into.say(linkText(place, undefined));
  if (typeof text === "string") into.data.push(`<resource uri=${JSON.stringify(place)}>\n${text}\n</resource>`);
  else if (typeof blob !== "string") throw invalidParamsError('a resource needs a "text" or a "blob"');
  else if (typeof mimeType === "string" && mimeType.startsWith("image/")) into.images.push(imageOf(blob));
  else into.data.push(`<resource uri=${JSON.stringify(place)}>\n(bytes that are not text)\n</resource>`);
}

/** Converts the URI of a local file to a path. */
function uriToPath(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  return tryOr(() => fileURLToPath(uri), uri);
}

function imageOf(base64: unknown): { mime: string; base64: string } {
  if (typeof base64 !== "string") throw invalidParamsError('an image needs its "data"');
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length > largestImage) throw invalidParamsError(`an image is larger than ${largestImage / 1_048_576} MiB`);
  const mime = imageKind(bytes);
  if (!mime) throw invalidParamsError("an image is not a PNG, JPEG, GIF or WebP image");
  return { mime, base64 };
}

function requireAbsolutePath(value: unknown, name: string): string {
  if (typeof value !== "string" || !isAbsolute(value)) throw invalidParamsError(`"${name}" must be an absolute path`);
  return value;
}

/** Returns a list; a missing value and null become an empty list. */
function listOrEmpty(value: unknown, name: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidParamsError(`"${name}" must be a list`);
  return value;
}

function requireStrings(value: unknown, name: string): string[] {
  return listOrEmpty(value, name).map((each) => {
    if (typeof each !== "string") throw invalidParamsError(`${name} must be strings`);
    return each;
  });
}

function namedValuesToObject(value: unknown, name: string): JsonObject {
  const object: JsonObject = {};
  for (const each of listOrEmpty(value, name)) {
    if (!isObject(each) || typeof each["name"] !== "string" || typeof each["value"] !== "string")
      throw invalidParamsError(`${name} must be pairs of a name and a value`);
    setUntrustedKey(object, each["name"], each["value"]);
  }
  return object;
}

function invalidParamsError(why: string): UserError {
  return usageError(`${why.charAt(0).toUpperCase()}${why.slice(1)}.`);
}
