// Resolves the script and the files it imports, strips their types and runs them. As CommonJS, which starts faster than ES
// modules; the script itself may use top-level await.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { createStripper } from "./stripped.ts";

type Load = (id: string) => unknown;
type Body = (
  exports: object,
  load: Load,
  module: { exports: object },
  file: string,
  folder: string,
  meta: object,
) => unknown;

declare const require: NodeJS.Require;

/** Module names that resolve to the built-in bridge, even if the project has installed a package of that name. */
const bridges = new Set(["courser-agent/hooks", "@pivanov/agent-hooks-bridge"]);
const ownExtensions = new Set([".ts", ".mts", ".cts", ".mjs"]);
const triedEndings = ["", ".ts", ".js", "/index.ts", "/index.js"];

export async function runScript(file: string, version: string): Promise<void> {
  const strip = createStripper(process.env, version);
  const loaded = new Map<string, { exports: object }>();
  // Resolve imports relative to the real file, even if it was started through a link.
  await run(realPathOrSame(file), "async ");

  function run(path: string, kind: "async " | ""): unknown {
    const module = { exports: {} };
    // Register the module before running it, since two files may import each other.
    loaded.set(path, module);
    const body = compile(path, strip(path, readSource(path)), kind);
    return body(module.exports, loadFrom(path), module, path, dirname(path), metaOf(path, kind !== ""));
  }

  function loadFrom(importer: string): Load {
    let native: NodeJS.Require | undefined;
    const load = (id: string): unknown => {
      if (bridges.has(id)) return require("./hook/bridge.cjs");
      if (id.startsWith("node:")) return require(id);
      native ??= createRequire(importer);
      if (!/^(\.{0,2}\/|file:)/.test(id)) return loadPackage(id, native, importer);
      const path = resolveModule(id, importer);
      if (!isLoadedHere(path)) return native(path);
      if (!loaded.has(path)) run(path, "");
      return loaded.get(path)!.exports;
    };
    load.resolve = (id: string) => (native ??= createRequire(importer)).resolve(id);
    return load;
  }
}

function compile(file: string, code: string, kind: "async " | ""): Body {
  const wrapped = (text: string) =>
    new Script(`(${kind}function(exports,require,module,__filename,__dirname,__importMeta){${text}\n})`, {
      filename: file,
    }).runInThisContext() as Body;
  try {
    return wrapped(code);
  } catch (error) {
    // Code without `import.meta` that does not compile has another error. (`import.meta` is a syntax error in
    // CommonJS.)
    if (!code.includes("import.meta")) throw error;
    return wrapped(code.replace(/\bimport\.meta\b/g, "__importMeta"));
  }
}

function metaOf(file: string, main: boolean): object {
  return {
    main,
    filename: file,
    dirname: dirname(file),
    get url() {
      return pathToFileURL(file).href;
    },
    resolve: (id: string) => pathToFileURL(createRequire(file).resolve(id)).href,
  };
}

function loadPackage(id: string, native: NodeJS.Require, importer: string): unknown {
  try {
    return native(id);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "MODULE_NOT_FOUND" || !message.includes(`'${id}'`)) throw error;
    // Entries of this package resolve without being installed in the project.
    if (id.startsWith("courser-agent/")) return require(id);
    throw new Error(`The package "${id}" that ${importer} imports is not installed. Type: npm install ${id}`);
  }
}

/** Resolves as TypeScript does: without an extension, or `.js` for a `.ts` file. */
function resolveModule(id: string, importer: string): string {
  const path = id.startsWith("file:") ? fileURLToPath(id) : resolve(dirname(importer), id);
  const asTypeScript = path.replace(/\.([cm]?)js$/, ".$1ts");
  const found = [...triedEndings.map((ending) => path + ending), asTypeScript].find(isFile);
  if (found !== undefined) return found;
  throw new Error(`The file ${id} that ${importer} imports does not exist.`);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Returns whether we load the file ourselves: Node 20 prints a warning when `require` loads ES modules. */
function isLoadedHere(path: string): boolean {
  const extension = extname(path);
  return ownExtensions.has(extension) || (extension === ".js" && /^\s*(import|export)\b/m.test(readSource(path)));
}

function realPathOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // reading the file will report the error
  }
}

function readSource(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`It cannot be read: ${(error as Error).message}`);
  }
}
