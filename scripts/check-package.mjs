// `npm run check:package`: packs what would be published and looks at it as a stranger would: publint, attw, a typed program.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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
const message: UnifiedMessage | null = parseCursorEvent('{"type":"user","message":{"role":"user","content":[]}}');
const events: AgentEvent[] = createDecoder()({});
// Options that may be undefined, as programs that compile with exactOptionalPropertyTypes have them.
const model: string | undefined = process.env["NO_SUCH_VARIABLE"];
export const options: StartOptions = { prompt: "", model, resume: model, cwd: model, budget: { turns: undefined } };
export const sessions: Parameters<typeof listSessions>[0] = { cwd: model, tool: undefined };
export const used: [typeof execute, typeof start, typeof listSessions, CursorEvent?, Run?] = [execute, start, listSessions];
console.log(message?.role, events.length, Object.keys(policy).length > 0, Object.keys(hooks).length > 0, Object.keys(adapter).length > 0);
const { sharedObjects } = process.report.getReport() as { sharedObjects: string[] };
console.log(sharedObjects.filter((path) => path.includes("sqlite")).length, "databases");
`;

/** Throws with what is wrong. */
export function checkPackage() {
  const folder = mkdtempSync(join(tmpdir(), "courser-package-"));
  const run = (args, cwd = root) =>
    execFileSync(process.execPath, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  try {
    run([tsc, "-p", "tsconfig.types.json"]);
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
    ]);

    const installed = join(folder, "node_modules", name);
    mkdirSync(installed, { recursive: true });
    execFileSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
    symlinkSync(bin("@types"), join(folder, "node_modules/@types"));
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
    // Also from CommonJS, which Node can do since 20.19.
    run(["-e", `if (typeof require(${JSON.stringify(name)}).start !== "function") process.exit(1)`], folder);
    return run(["program.js"], folder);
  } catch (error) {
    throw new Error(`${error.message}\n${error.stdout ?? ""}${error.stderr ?? ""}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(checkPackage());
