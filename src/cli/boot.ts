// The first file that runs. Answers --version at once; else loads the program through V8's code cache.
// It is transformed alone, not bundled: everything it needs is Node's own `require`.
declare const __VERSION__: string;
declare const require: NodeJS.Require;
declare const __dirname: string;

const [first, ...rest] = process.argv.slice(2);
if ((first === "-v" || first === "--version") && rest.length === 0) {
  require("node:fs").writeSync(1, `${__VERSION__}\n`);
} else {
  start();
}

function start(): void {
  const fs: typeof import("node:fs") = require("node:fs");
  const vm: typeof import("node:vm") = require("node:vm");
  const folder = `${__dirname}/cli/`;
  // V8 refuses data of another version or architecture; naming them keeps several caches side by side.
  const tag = `${process.versions.v8}-${process.arch}`;
  const loaded = new Map<string, { exports: unknown }>();
  const fresh: [file: string, script: import("node:vm").Script][] = [];
  const useCache = process.env["COURSER_CODE_CACHE"] !== "off";
  const rewriteCache = process.env["COURSER_CODE_CACHE"] === "write";

  const load = (name: string): unknown => {
    const known = loaded.get(name);
    if (known) return known.exports;
    const filename = folder + name;
    const source = fs.readFileSync(filename, "utf8");
    const cacheFile = `${filename}.${tag}.bin`;
    let cachedData: Buffer | undefined;
    if (useCache && !rewriteCache) {
      try {
        cachedData = fs.readFileSync(cacheFile);
      } catch {}
    }
    const wrapped = `(function(exports,require,module,__filename,__dirname,__fileUrl){${source}\n})`;
    const script = new vm.Script(wrapped, { filename, ...(cachedData && { cachedData }) });
    // Data that is there but refused was made under other flags of V8: runs without those flags still want it.
    if (useCache && !cachedData) fresh.push([cacheFile, script]);
    const module = { exports: {} };
    loaded.set(name, module);
    const requireChunk = (id: string): unknown => (id.startsWith("./") ? load(id.slice(2)) : require(id));
    requireChunk.resolve = require.resolve;
    script.runInThisContext()(module.exports, requireChunk, module, filename, folder, `file://${filename}`);
    return module.exports;
  };

  process.on("exit", () => {
    // Taken at the end, the data also holds the functions that were compiled on the way.
    for (const [file, script] of fresh) {
      try {
        const temporary = `${file}.${process.pid}`;
        fs.writeFileSync(temporary, script.createCachedData());
        fs.renameSync(temporary, file);
      } catch {
        return; // an installation that cannot be written to just starts a little slower
      }
    }
  });

  const program = load("main.cjs") as { main(version: string): Promise<void> };
  void program.main(__VERSION__);
}
