// Other agent CLIs from npm, installed and run apart from everything of ours.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** The program of a package, put into the folder unless it is there. `node`: the one that it needs, if not this. */
export async function installed(name: string, programName: string, folder: string, node?: string): Promise<string> {
  const program = join(folder, "node_modules/.bin", programName);
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    console.error(`installing ${name} …`);
    // Its set-up brings the program itself.
    const install = ["install", "--no-save", "--prefix", folder, name];
    const { exit, output } = await started("npm", install, { cwd: folder, env: plainEnv() });
    if (exit !== 0) throw new Error(`${name} could not be installed: ${output.slice(-2000)}`);
    const setUp = join(folder, "node_modules", name, "install.cjs");
    if (existsSync(setUp)) await started(process.execPath, [setUp], { cwd: folder, env: plainEnv() });
  }
  const env = plainEnv();
  if (node !== undefined) env["PATH"] = `${dirname(node)}${delimiter}${env["PATH"]}`;
  const { output } = await started(program, ["--version"], { cwd: folder, env });
  console.log(`${programName} ${output.trim().split("\n")[0]}`);
  return program;
}

/** Node 22 from npm, for CLIs that need it: the folder of its program. */
export async function newerNode(folder: string): Promise<string> {
  const node = join(folder, "node_modules/node/bin/node");
  const install = ["install", "--no-save", "--prefix", folder, "node@22"];
  if (!existsSync(node)) await started("npm", install, { cwd: tmpdir(), env: plainEnv() });
  return node;
}

/** What such a program needs of the surroundings, and nothing that would tell them. */
export function plainEnv(): Record<string, string> {
  const kept = [
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "npm_config_cache",
    "npm_config_registry",
    "HTTPS_PROXY",
    "NODE_EXTRA_CA_CERTS",
  ];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]!]])),
  );
}

export function started(
  program: string,
  args: readonly string[],
  place: { cwd: string; env: Record<string, string> },
  timeoutMs = 600_000,
): Promise<{ exit: number | null; output: string; stdout: string; stderr: string }> {
  const child = spawn(program, args, { ...place, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let stdout = "";
  let stderr = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  return new Promise((settle, reject) => {
    child.on("error", reject);
    child.on("close", (exit) => {
      clearTimeout(timer);
      settle({ exit, output, stdout, stderr });
    });
  });
}
