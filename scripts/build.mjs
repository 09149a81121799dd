// Builds dist/: the CLI as CommonJS chunks with a V8 code cache, the libraries as ES modules with types.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { commitOf, stampOf, writeStamp } from "./build-stamp.mjs";
import { commonJs, withPlainExports } from "./common-js.mjs";
import { cssText } from "./css-text.mjs";
import { bundleHookLauncher } from "./hook-launcher.mjs";
import { lightPackages } from "./light-packages.mjs";
import { packChunks } from "./packs.mjs";
import { copyPdfReader, pdfReaderBeside, pdfReaderText } from "./pdf-reader.mjs";
import { prismApart } from "./prism-apart.mjs";
import { bundleStudioPage } from "./studio-page.mjs";
import { startTinyModel } from "./tiny-model.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const target = "node20";
/** Loaded by those alone who have installed them: what fleets on NATS need. */
const optionalPackages = ["@nats-io/*"];
/**
 * What is built together shares chunks, so that a class is one class in all of it. Hook scripts start often and pay for each
 * file, so the bridge stands alone.
 */
const libraries = [
  {
    protocol: "src/protocol/index.ts",
    policy: "src/policy/index.ts",
    index: "src/sdk/index.ts",
    adapter: "src/adapter/index.ts",
    testing: "src/testing/kit/index.ts",
    fleet: "src/serve/client/index.ts",
  },
  { hooks: "src/bridge/index.ts" },
];

const background = ["src/cli/background.ts"];
const host = ["src/cli/commands/worker/start.ts", "src/cli/commands/worker/run-here.ts", "src/serve/host-run.ts"];

/**
 * What every start loads; what print mode needs to say `init`, and what a turn needs, each in two files, one of which `-b`
 * needs too; what a model behind an address needs; what judging a command needs; what recording adds; both again where there
 * are MCP servers; what `-b` needs, and the process that carries out its run.
 */
const packs = {
  "start.cjs": "src/cli/main.ts",
  "shared.cjs": { modules: background, sharedWith: ["src/cli/print.ts"] },
  "print.cjs": "src/cli/print.ts",
  "shared-turn.cjs": { modules: background, sharedWith: ["src/run/assemble.ts", "src/run/mcp.ts"] },
  "turn.cjs": [
    "src/run/assemble.ts",
    "src/model/open.ts",
    "src/policy/hidden.ts",
    "src/policy/decide.ts",
    "src/store/sandbox-settings.ts",
    "src/agent/sandbox/words.ts",
    "src/agent/sandbox/plan.ts",
    "src/agent/sandbox/index.ts",
  ],
  // Before MCP's, which shares the schemas of the vendors' packages: most runs have a model, and few have servers.
  "model.cjs": ["src/model/server.ts", "src/model/text-channels.ts", "src/model/vendors/openai-compatible.ts"],
  "command.cjs": [
    "src/policy/judge-shell.ts",
    "src/policy/only-reads.ts",
    "src/policy/own-commands.ts",
    "src/policy/parse/shell.ts",
  ],
  "record.cjs": ["src/testing/recorded-run.ts", "src/testing/line-writer.ts"],
  "mcp-plan.cjs": "src/run/mcp-plan.ts",
  "mcp.cjs": "src/run/mcp.ts",
  // What commands share with background runs: without files of their own, each command would load all that those need.
  "answer.cjs": "src/cli/commands/answer.ts",
  "chats.cjs": { modules: [...background, ...host], sharedWith: ["src/cli/commands/ls.ts"] },
  "hosted.cjs": "src/cli/hosted-print.ts",
  "background.cjs": background,
  "host.cjs": host,
};

// A program of the build before, which is still at work, may be writing its code cache.
rmSync(dist, { recursive: true, force: true, maxRetries: 5 });
mkdirSync(join(dist, "cli"), { recursive: true });
mkdirSync(join(dist, "hook"), { recursive: true });
// Read first: what is edited while we build is not in it.
const types = process.argv.includes("--types");
const stamp = stampOf(root, { types });
const typesWritten = types ? writeTypes() : undefined;
const version = versionString(await bundleCli());
await writeBoot();
await bundleLibraries();
await bundleComponents();
await bundleRelay();
await bundleHookLauncher({ root, dist, target, version });
await bundleStudioPage({ root, dist });
if (!process.argv.includes("--no-code-cache")) await warmCodeCache();
await typesWritten;
writeStamp(root, stamp);

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
    legalComments: "none",
    external: ["@vscode/ripgrep", ...optionalPackages],
    // Node 20 loads a whole HTTP client with its first `Headers`; the packages are given ours.
    inject: ["src/net/headers.ts"],
    plugins: [lightPackages, cssText, pdfReaderBeside("pdfjs.js")],
    write: false,
    metafile: true,
    logLevel: "warning",
  });
  const chunks = new Map();
  for (const file of bundled.outputFiles) {
    const code = await commonJs(withPlainExports(file.text), { minify: true }, target);
    chunks.set(basename(file.path).replace(/\.js$/, ".cjs"), code.replace(/(require\("\.\/[^"]+)\.js"\)/g, '$1.cjs")'));
  }
  chunks.set("pdfjs.cjs", await commonJs(pdfReaderText(), { minifyWhitespace: true }, target));
  for (const [name, text] of packChunks(bundled.metafile, chunks, packs)) writeFileSync(join(dist, "cli", name), text);
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
  const commit = commitOf(root, "%cd-%h");
  if (commit !== undefined) return commit;
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
      external: optionalPackages,
      plugins: [pdfReaderBeside("pdfjs.mjs")],
      logLevel: "warning",
    });
  }
  copyPdfReader(join(dist, "lib/pdfjs.mjs"));
}

/** For browsers: the components and their style sheet. Who uses them brings preact. */
async function bundleComponents() {
  await build({
    absWorkingDir: root,
    entryPoints: { components: "src/studio/components/index.ts", style: "src/studio/components/components.css" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    outdir: join(dist, "lib/components"),
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    legalComments: "none",
    external: ["preact", "preact/*"],
    plugins: [prismApart],
    logLevel: "warning",
  });
}

/** Started by other programs, once for each call of a hook: one small file. */
async function bundleRelay() {
  await build({
    absWorkingDir: root,
    entryPoints: ["src/sdk/callbacks/relay.ts"],
    bundle: true,
    format: "cjs",
    platform: "node",
    target,
    outfile: join(dist, "sdk-relay.cjs"),
    minify: true,
    logLevel: "warning",
  });
}

/** What users of the package compile against; the checkout itself reads the source. */
function writeTypes() {
  const compiler = [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.types.json"];
  const child = spawn(process.execPath, compiler, { cwd: root, stdio: "inherit" });
  return new Promise((resolve) => {
    child.on("close", (status) => (status === 0 ? resolve() : process.exit(status ?? 1)));
  });
}

/** Real runs of what is done most, so that the cache holds the functions that are used. */
async function warmCodeCache() {
  const home = mkdtempSync(join(tmpdir(), "courser-build-"));
  const server = await startTinyModel();
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    CURSOR_CONFIG_DIR: join(home, "config"),
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: server.url,
  };
  const start = (args, more = {}) =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [join(dist, "courser.cjs"), ...args], {
        cwd: home,
        env: { ...env, ...more },
        stdio: "ignore",
      });
      const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
      child.on("close", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  /** What print mode does with a turn is added to what is there; other runs only fill files that none of them loaded. */
  const warmTurn = (...args) => start(args, { COURSER_CODE_CACHE: "write" });
  const warm = (...args) => start(args);
  /** An editor: a session, a prompt, and away. */
  const warmAcp = () =>
    new Promise((resolve) => {
      const args = [join(dist, "courser.cjs"), "--force", "--model", "offline", "acp"];
      const child = spawn(process.execPath, args, { cwd: home, env, stdio: ["pipe", "pipe", "ignore"] });
      const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
      let id = 0;
      const ask = (method, params) =>
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params })}\n`);
      createInterface({ input: child.stdout }).on("line", (line) => {
        const { result } = JSON.parse(line);
        if (result?.protocolVersion) ask("session/new", { cwd: home, mcpServers: [] });
        else if (result?.sessionId)
          ask("session/prompt", { sessionId: result.sessionId, prompt: [{ type: "text", text: "read a.txt" }] });
        else if (result !== undefined) child.stdin.end();
      });
      child.on("close", () => {
        clearTimeout(timer);
        resolve();
      });
      ask("initialize", { protocolVersion: 1 });
    });
  /** A background run. The build stands in for the service, so that none is started; the host writes its data when it ends. */
  const warmBackground = async () => {
    writeFileSync(join(home, "config/serve.json"), JSON.stringify({ pid: process.pid, port: 1, token: "none" }));
    await warm("-b", "--force", "--model", "offline", "read a.txt");
    const written = join(dist, `cli/host.cjs.${process.versions.v8}-${process.arch}.bin`);
    for (let tries = 0; tries < 200 && !existsSync(written); tries++) await sleep(50);
  };
  const run = ["-p", "--force", "--output-format", "stream-json", "--model"];
  try {
    writeFileSync(join(home, "a.txt"), "a\n");
    await warmTurn(...run, "warm", "-e", server.url, "hi");
    await warmTurn(
      ...run,
      "offline",
      "read a.txt then run echo hi then list all files then search for a then write 'b' to b.txt then what is 2+2?",
    );
    await warmBackground();
    const tiny = { command: process.execPath, args: [join(root, "scripts/tiny-mcp-server.mjs")] };
    writeFileSync(join(home, "call.json"), '[{ "calls": [{ "name": "tiny-say", "args": {} }] }, { "text": "ok" }]');
    await warm(...run, "offline", "--record", "run.jsonl", "read a.txt");
    await warm(...run, "replay:run.jsonl", "read a.txt");
    await warm(...run, "script:call.json", "--mcp-config", JSON.stringify({ mcpServers: { tiny } }), "hi");
    await warm(...run, "anthropic/warm", "hi");
    await warm(...run, "openai/warm", "hi");
    // Resumed, and in the sandbox where there is one.
    await warm("-p", "--trust", "--continue", "--model", "offline", "run touch c.txt");
    await warmAcp();
    await warm("--help");
    await warm("create-chat");
    await warm("ls");
    await warm("ls", "--search", "hi", "--format", "json");
  } finally {
    server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
