// The entry point. Answers --version at once; otherwise loads the program through V8's code cache.
// It is transpiled but not bundled, so it uses only Node's own `require`.
declare const __VERSION__: string;
declare const require: NodeJS.Require;
declare const __dirname: string;

const [first, ...rest] = process.argv.slice(2);
if ((first === "-v" || first === "--version") && rest.length === 0) sayVersion();
else start();

function sayVersion(): void {
  const { writeSync }: typeof import("node:fs") = require("node:fs");
  try {
    writeSync(1, `${__VERSION__}\n`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    process.exitCode = code === "EPIPE" ? 141 : 1;
    const name = code === "ENOSPC" ? "STORE_FULL" : "OUTPUT_FAILED";
    if (code !== "EPIPE") process.stderr.write(`Error: The output cannot be written: ${message} [${name}]\n`);
  }
}

/**
 * Holds signals that arrive before the program is loaded, so that handlers added in the meantime get them. If there are none by
 * then, the signal ends the process as usual.
 */
function holdSignals(): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
    const hold = () => {
      if (process.listenerCount(name) > 1) return;
      process.off(name, hold);
      process.kill(process.pid, name);
    };
    process.on(name, hold);
  }
}

function start(): void {
  holdSignals();
  const fs: typeof import("node:fs") = require("node:fs");
  const vm: typeof import("node:vm") = require("node:vm");
  const folder = `${__dirname}/cli/`;
  // V8 rejects cached data of another version or architecture, so both are part of the cache file's name.
  const tag = `${process.versions.v8}-${process.arch}`;
  type Chunk = (...values: unknown[]) => void;
  const files = new Map<string, Chunk & Record<string, Chunk>>();
  const loaded = new Map<string, { exports: unknown }>();
  const fresh: [file: string, script: import("node:vm").Script][] = [];
  const useCache = process.env["COURSER_CODE_CACHE"] !== "off";
  const addToCache = process.env["COURSER_CODE_CACHE"] === "write";

  /** Compiles a program file, which contains one or several chunks of the bundle. */
  const compile = (name: string): Chunk & Record<string, Chunk> => {
    const existing = files.get(name);
    if (existing) return existing;
    const filename = folder + name;
    // The build emits only ASCII, so latin1 is safe and fast.
    const source = fs.readFileSync(filename, "latin1");
    const cacheFile = `${filename}.${tag}.bin`;
    let cachedData: Buffer | undefined;
    if (useCache) {
      try {
        cachedData = fs.readFileSync(cacheFile);
      } catch {}
    }
    const script = new vm.Script(source, { filename, ...(cachedData && { cachedData }) });
    // Cached data that was refused was made under other V8 flags, and runs without those flags still need it.
    // The build makes several kinds of runs, and each adds the functions that it used.
    if (useCache && (!cachedData || addToCache)) fresh.push([cacheFile, script]);
    const compiled = script.runInThisContext();
    files.set(name, compiled);
    return compiled;
  };

  const load = (id: string): unknown => {
    const existing = loaded.get(id);
    if (existing) return existing.exports;
    const [file, chunk] = id.split("#") as [string, string?];
    const run = chunk === undefined ? compile(file) : compile(file)[chunk]!;
    const filename = folder + file;
    const module = { exports: {} };
    loaded.set(id, module);
    run(module.exports, requireChunk, module, filename, folder, `file://${filename}`);
    return module.exports;
  };
  const requireChunk = (id: string): unknown => (id.startsWith("./") ? load(id.slice(2)) : require(id));
  requireChunk.resolve = require.resolve;

  process.on("exit", () => {
    // At exit, the cached data also includes functions that were compiled lazily during the run.
    for (const [file, script] of fresh) {
      try {
        const temporary = `${file}.${process.pid}`;
        fs.writeFileSync(temporary, script.createCachedData());
        fs.renameSync(temporary, file);
      } catch {
        return; // in a read-only installation there is no cache, so the program starts a little more slowly
      }
    }
  });

  const program = load("start.cjs#main.cjs") as { main(version: string): Promise<void> };
  void program.main(__VERSION__);
}
