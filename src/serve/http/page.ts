// The page's own files, from memory: read once, pressed once, and nothing else on the disk can be asked for.
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { securityHeaders } from "./guard.ts";

type PageFile = { type: string; plain: Buffer; gzip: Buffer };

export type Page = {
  /** The file for a path. An address that the page does not know is the page as well, which says so. */
  fileAt(path: string): string | undefined;
  /** False: it is no file of the page. */
  send(request: IncomingMessage, response: ServerResponse): boolean;
};

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Places inside the page: each is the same document, which looks at its address. */
const places = /^\/(?:new|inbox|(?:sessions\/[a-z]+|runs)\/[\w-]+(?:\/(?:changes|replay|events|files))?)?$/;

/** What somebody may have typed: no path of the API, and no name of a file. */
const unknownPlaces = /^\/(?!api(?:\/|$)|v1(?:\/|$))[^.]*$/;

/** The build puts a hash of what is in a file into its name: such a file never changes. */
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

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
