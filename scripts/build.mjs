// Builds dist/: the CLI as CommonJS chunks with a V8 code cache, the libraries as ES modules with types.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { bundleHookLauncher } from "./hook-launcher.mjs";
import { lightPackages } from "./light-packages.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const target = "node20";
/** What is built together shares chunks. Hook scripts start often and pay for each file, so the bridge stands alone. */
const libraries = [
  { protocol: "src/protocol/index.ts", policy: "src/policy/index.ts" },
  { hooks: "src/bridge/index.ts" },
];

rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, "cli"), { recursive: true });
mkdirSync(join(dist, "hook"), { recursive: true });
const version = versionString(await bundleCli());
await writeBoot();
await bundleLibraries();
await bundleHookLauncher({ root, dist, target, version });
// A package is published with its types; a checkout reads the source.
if (process.argv.includes("--types") || /^(pack|publish)$/.test(process.env.npm_command ?? "")) writeTypes();
await warmCodeCache();

/** ES modules split well but start slowly: bundle as ESM with splitting, then turn each chunk into CommonJS. */
async function bundleCli() {
  const bundled = await build({
    absWorkingDir: root,
    entryPoints: { main: "src/cli/main.ts" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target,
    outdir: join(dist, "cli"),
    chunkNames: "[name]-[hash]",
    minify: true,
    legalComments: "none",
    external: ["@vscode/ripgrep"],
    // Node 20 loads a whole HTTP client with its first `Headers`; the packages are given ours.
    inject: ["src/net/headers.ts"],
    plugins: [lightPackages],
    write: false,
    metafile: true,
    logLevel: "warning",
  });
  for (const file of bundled.outputFiles) {
    const commonJs = await transform(file.text, {
      format: "cjs",
      platform: "node",
      target,
      minify: true,
      legalComments: "none",
      supported: { "dynamic-import": false },
      define: { "import.meta.url": "__fileUrl" },
    });
    const code = commonJs.code.replace(/(require\("\.\/[^"]+)\.js"\)/g, '$1.cjs")');
    writeFileSync(file.path.replace(/\.js$/, ".cjs"), code);
  }
  writeFileSync(join(dist, "meta.json"), JSON.stringify(bundled.metafile));
  return bundled.outputFiles;
}

async function writeBoot() {
  const boot = await transform(readFileSync(join(root, "src/cli/boot.ts"), "utf8"), {
    loader: "ts",
    format: "cjs",
    platform: "node",
    target,
    minify: true,
    define: { __VERSION__: JSON.stringify(version) },
  });
  const file = join(dist, "courser.cjs");
  writeFileSync(file, `#!/usr/bin/env node\n${boot.code}`);
  chmodSync(file, 0o755);
}

/** `YYYY.MM.DD-hash`: the last commit where there is one, else the day and the hash of what was built. */
function versionString(files) {
  try {
    const git = (...args) =>
      execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    if (git("rev-parse", "--show-toplevel") === root)
      return git("log", "-1", "--format=%cd-%h", "--date=format:%Y.%m.%d", "--abbrev=7");
  } catch {}
  const hash = createHash("sha256");
  for (const file of files) hash.update(file.contents);
  return `${new Date().toISOString().slice(0, 10).replaceAll("-", ".")}-${hash.digest("hex").slice(0, 7)}`;
}

async function bundleLibraries() {
  for (const entryPoints of libraries) {
    await build({
      absWorkingDir: root,
      entryPoints,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target,
      outdir: join(dist, "lib"),
      chunkNames: "[name]-[hash]",
      legalComments: "none",
      logLevel: "warning",
    });
  }
}

function writeTypes() {
  const run = spawnSync(
    process.execPath,
    [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.types.json"],
    { cwd: root, stdio: "inherit" },
  );
  if (run.status !== 0) process.exit(run.status ?? 1);
}

/** Real runs of everything that a headless turn loads, so that the cache holds the functions that are used. */
async function warmCodeCache() {
  const home = mkdtempSync(join(tmpdir(), "courser-build-"));
  const server = await startTinyModel();
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    CURSOR_CONFIG_DIR: join(home, "config"),
    COURSER_CODE_CACHE: "write",
  };
  const warm = (...args) =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [join(dist, "courser.cjs"), ...args], { cwd: home, env, stdio: "ignore" });
      const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
      child.on("close", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  const run = ["-p", "--force", "--output-format", "stream-json", "--model"];
  try {
    writeFileSync(join(home, "a.txt"), "a\n");
    await warm("--help");
    await warm(
      ...run,
      "offline",
      "read a.txt then run echo hi; list all files; search for a; write 'b' to b.txt; what is 2+2?",
    );
    await warm(...run, "warm", "-e", server.url, "hi");
    // Resumed, and in the sandbox where there is one.
    await warm("-p", "--trust", "--continue", "--model", "offline", "run touch c.txt");
  } finally {
    server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Calls one tool, then says a word. */
async function startTinyModel() {
  let requests = 0;
  const line = (delta, finish = null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "warm", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const call = { index: 0, id: "1", type: "function", function: { name: "Shell", arguments: '{"command":"echo hi"}' } };
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const first = requests++ === 0;
      response.end(
        `${first ? line({ tool_calls: [call] }) : line({ content: "ok" })}${line({}, first ? "tool_calls" : "stop")}data: [DONE]\n\n`,
      );
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
