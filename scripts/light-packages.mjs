// Makes the vendors' packages light to load, without changing what they do.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Node's streams are slow and late to load; these packages get ours. */
const streams = `import { ReadableStream, TextDecoderStream, TransformStream } from ${JSON.stringify(
  fileURLToPath(new URL("../src/net/streams.ts", import.meta.url)),
)};\n`;

/** What stands in for a module. */
const stand = {
  zod3: "export const ZodFirstPartyTypeKind = {};",
  "mcp-shims": `export const CORS_IS_POSSIBLE = false;
    export { default as process } from "node:process";
    export class DefaultJsonSchemaValidator {
      getValidator() {
        return (data) => ({ valid: true, data, errorMessage: undefined });
      }
    }`,
};

/**
 * The packages take the whole of zod as one object, which keeps every unused part of it; as a namespace, unused parts
 * fall away. Zod 3 is there only for schemas that callers bring, and we bring none. The MCP packages bring a validator of JSON
 * Schema for what a server says of its own results, which binds nobody here.
 */
export const lightPackages = {
  name: "light-packages",
  setup(build) {
    build.onLoad(
      { filter: /(@ai-sdk|@modelcontextprotocol[\\/]client|eventsource-parser)[\\/].+\.m?js$/ },
      ({ path }) => ({
        contents:
          streams +
          readFileSync(path, "utf8").replace(
            /import \{ z(?: as (\w+))? \} from "zod\/v4";/g,
            (_, name) => `import * as ${name ?? "z"} from "zod/v4";`,
          ),
        loader: "js",
      }),
    );
    build.onResolve({ filter: /^zod\/v3$/ }, () => ({ path: "zod3", namespace: "light" }));
    build.onResolve({ filter: /^@modelcontextprotocol\/(client|server)\/_shims$/ }, () => ({
      path: "mcp-shims",
      namespace: "light",
    }));
    build.onLoad({ filter: /.*/, namespace: "light" }, ({ path }) => ({ contents: stand[path], loader: "js" }));
  },
};
