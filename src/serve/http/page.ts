// Serves the page's own files from memory, each read and compressed once; no other file can be requested.
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { namesIn } from "../../store/folder-names.ts";
import { securityHeaders } from "./guard.ts";

type PageFile = { type: string; plain: Buffer; gzip: Buffer };

export type Page = {
  /** Returns the file for a path. An unknown address gets the page too, which reports that it is unknown. */
  fileAt(path: string): string | undefined;
  /** Returns false if the request is not for a file of the page. */
  send(request: IncomingMessage, response: ServerResponse): boolean;
};

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Paths of the single-page app: the service answers all of them with the same document, which then shows what the path names. */
const places =
  /^\/(?:new|inbox|settings|compare(?:\/[a-z]+\/[\w-]+){1,2}|(?:sessions\/[a-z]+|runs)\/[\w-]+(?:\/(?:changes|replay|events|files))?)?$/;

/** Mistyped addresses: neither a path of the API nor a file name. */
const unknownPlaces = /^\/(?!(?:api|v1)(?:\/|$)|metrics$)[^.]*$/;

/** The build puts a content hash into these names, so the files never change. */
const hashedName = /-[A-Z0-9]{8}\.(?:js|css)$/;

export function readPage(folder: string): Page {
  const names = new Set(namesIn(folder).filter((name) => extname(name) in types));
  const loaded = new Map<string, PageFile>();
  const fileAt = (path: string) => {
    if (places.test(path) || unknownPlaces.test(path)) return names.has("index.html") ? "index.html" : undefined;
    const name = path.slice(1);
    return names.has(name) && name !== "index.html" ? name : undefined;
  };
  return {
    fileAt,
    send({ url = "", method, headers }, response) {
      const path = url.split("?")[0]!;
      const name = method === "GET" || method === "HEAD" ? fileAt(path) : undefined;
      if (name === undefined) return false;
      const file = loaded.get(name) ?? load(folder, name);
      loaded.set(name, file);
      const isPressed = /\bgzip\b/.test(String(headers["accept-encoding"] ?? ""));
      const body = isPressed ? file.gzip : file.plain;
      response.writeHead(name === "index.html" && !places.test(path) ? 404 : 200, {
        ...securityHeaders,
        ...(hashedName.test(name) && { "Cache-Control": "public, max-age=31536000, immutable" }),
        "Content-Type": file.type,
        "Content-Length": body.length,
        Vary: "Accept-Encoding",
        ...(isPressed && { "Content-Encoding": "gzip" }),
      });
      response.end(method === "HEAD" ? undefined : body);
      return true;
    },
  };
}

function load(folder: string, name: string): PageFile {
  const plain = readFileSync(join(folder, name));
  return { type: types[extname(name)]!, plain, gzip: gzipSync(plain, { level: 9 }) };
}
