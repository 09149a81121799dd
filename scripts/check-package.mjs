// `npm run long -- check-package`: packs what would be published and looks at it as a stranger would: publint, attw, a typed program.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { isBuilt } from "./build-stamp.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bin = (path) => join(root, "node_modules", path);
const tsc = bin("typescript/bin/tsc");

/** What each entry gives a program: used in it, so that a type or a file that is missing is found. */
const program = `
import { execute, start, parseCursorEvent, listSessions, type CursorEvent, type Run, type StartOptions, type UnifiedMessage } from "courser-agent";
import { createDecoder, type AgentEvent } from "courser-agent/protocol";
import * as policy from "courser-agent/policy";
import * as hooks from "courser-agent/hooks";
import * as adapter from "courser-agent/adapter";
import { fleet, type FleetRequest, type FleetRun } from "courser-agent/fleet";
import { expectRun, scriptedModel, workspace, type CliRun, type CourserMatchers } from "courser-agent/testing";
const message: UnifiedMessage | null = parseCursorEvent('{"type":"user","message":{"role":"user","content":[]}}');
const events: AgentEvent[] = createDecoder()({});
// Options that may be undefined, as programs that compile with exactOptionalPropertyTypes have them.
const model: string | undefined = process.env["NO_SUCH_VARIABLE"];
export const options: StartOptions = { prompt: "", model, resume: model, cwd: model, budget: { turns: undefined } };
export const sessions: Parameters<typeof listSessions>[0] = { cwd: model, tool: undefined };
export const used: [typeof execute, typeof start, typeof listSessions, CursorEvent?, Run?] = [execute, start, listSessions];
console.log(message?.role, events.length, Object.keys(policy).length > 0, Object.keys(hooks).length > 0, Object.keys(adapter).length > 0);
const work = workspace({ "a.txt": "Hello" });
const script = scriptedModel([{ calls: [{ name: "Read", args: { path: "a.txt" } }] }, { expect: "Hello", text: "Read." }]);
const run: CliRun = await work.run("read", { model: script });
expectRun(run).toHaveCalledTool("Read", { path: "a.txt" });
expectRun(run).toHaveAnswered("Read.");
work.remove();
export const queued: FleetRequest = { prompt: "hi", mode: "force", model, pool: "gpu" };
export const ask = (): FleetRun => fleet("nats://127.0.0.1:4222").run(queued);
export type Matchers = CourserMatchers<void>;
const { sharedObjects } = process.report.getReport() as { sharedObjects: string[] };
console.log(sharedObjects.filter((path) => path.includes("sqlite")).length, "databases");
`;

/** A page of another program, with one import and one style sheet. */
const page = `
import { render } from "preact";
import { BashTool, Timeline, TimelineLog, toolCall, type AgentEvent } from "courser-agent/components";
import "courser-agent/components.css";
const events: AgentEvent[] = [{ type: "user", text: "hi" }];
const log = new TimelineLog().append(...events);
const run = { command: "ls", workingDirectory: "/", exitCode: 0, signal: "", stdout: "a", stderr: "", executionTime: 1 };
const args = { command: "ls", workingDirectory: "/", timeout: 0, simpleCommands: [], hasInputRedirect: false, hasOutputRedirect: false,
  parsingResult: { parsingFailed: false, executableCommands: [], hasRedirects: false, hasCommandSubstitution: false } };
export function App() {
  return <><Timeline log={log} /><BashTool call={toolCall("shell", { args, result: { success: run } })} /></>;
}
render(<App />, document.body);
`;

/** Throws with what is wrong. */
export async function checkPackage() {
  const folder = mkdtempSync(join(tmpdir(), "courser-package-"));
  const run = (args, cwd = root) =>
    execFileSync(process.execPath, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  try {
    if (!isBuilt(root)) run([tsc, "-p", "tsconfig.types.json"]);
    execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const tarball = join(folder, `${name}-${version}.tgz`);
    run([bin("publint/src/cli.js"), "run", tarball, "--strict"]);
    run([
      bin("@arethetypeswrong/cli/dist/index.js"),
      tarball,
      "--profile",
      "esm-only",
      "--no-emoji",
      "--format",
      "ascii",
      "--exclude-entrypoints",
      "components.css",
    ]);

    const installed = join(folder, "node_modules", name);
    mkdirSync(installed, { recursive: true });
    execFileSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
    for (const name of ["@types", "preact", "@photostructure", "@vscode"])
      symlinkSync(bin(name), join(folder, "node_modules", name));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    writeFileSync(join(folder, "program.ts"), program);
    // Without skipLibCheck: the package's own declarations must hold as well.
    const options = {
      target: "ES2022",
      module: "NodeNext",
      strict: true,
      exactOptionalPropertyTypes: true,
      types: ["node"],
      outDir: ".",
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["program.ts"] }));
    run([tsc, "-p", "."], folder);
    const pageSize = await bundlePage(folder, options);
    // Also from CommonJS, which Node can do since 20.19.
    run(["-e", `if (typeof require(${JSON.stringify(name)}).start !== "function") process.exit(1)`], folder);
    return `${run(["program.js"], folder)}page of ${pageSize}\n`;
  } catch (error) {
    throw new Error(`${error.message}\n${error.stdout ?? ""}${error.stderr ?? ""}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compiled and bundled as another program would; what a browser loads first is counted. */
async function bundlePage(folder, options) {
  writeFileSync(join(folder, "page.tsx"), page);
  writeFileSync(join(folder, "css.d.ts"), 'declare module "courser-agent/components.css";');
  const jsx = {
    jsx: "react-jsx",
    jsxImportSource: "preact",
    types: [],
    module: "ESNext",
    moduleResolution: "Bundler",
    noEmit: true,
  };
  const compilerOptions = { ...options, ...jsx };
  writeFileSync(
    join(folder, "tsconfig.page.json"),
    JSON.stringify({ compilerOptions, files: ["page.tsx", "css.d.ts"] }),
  );
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.page.json"], { cwd: folder, encoding: "utf8" });
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ["page.tsx"],
    ...{ bundle: true, splitting: true, format: "esm", minify: true, jsx: "automatic", jsxImportSource: "preact" },
    outdir: join(folder, "page"),
    write: false,
  });
  const first = outputFiles.filter(({ path }) => /page\.(js|css)$/.test(path));
  const bytes = first.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
  return `${Math.ceil(bytes / 1000)} kB`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await checkPackage());
