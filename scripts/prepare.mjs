// npm's `prepare`: the build, wherever npm asks for one (`npm ci`, `npm install` of a folder, of git, globally, `npm link`,
// `npm pack`, `npx`). npm installs the build tools for some of these and not for others; where they are missing they are
// installed for the build and removed after it, and the folder keeps what the program needs to run.
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBuilt } from "./build-stamp.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** npm made this folder out of a git repository, packs it and throws it away. */
const isCloneOfNpm = process.env._PACOTE_NO_PREPARE_ !== undefined;
const isGlobal = process.env.npm_config_global === "true";

// Before version 12, npm installs its own clone globally at this point, over the packages that it is unpacking there.
if (isCloneOfNpm && isGlobal) {
  const origin = spawnSync("git", ["remote", "get-url", "origin"], { cwd: root, encoding: "utf8" }).stdout?.trim();
  fail(
    "This version of npm cannot install from git globally",
    `git clone ${origin || "URL"} courser && cd courser && npm ci && npm install -g .`,
  );
}

if (!isBuilt(root)) {
  const hasTools = existsSync(join(root, "node_modules/esbuild")) && existsSync(join(root, "node_modules/typescript"));
  if (!hasTools) npm("ci", "--include=dev");
  const build = [join(root, "scripts/build.mjs"), "--types", ...(isCloneOfNpm ? ["--no-code-cache"] : [])];
  if (spawnSync(process.execPath, build, { cwd: root, stdio: "inherit" }).status !== 0) fail("The build failed");
  if (!hasTools && !isCloneOfNpm) npm("prune", "--omit=dev");
}
// A checkout that was built before, whose packages are gone.
if (!existsSync(join(root, "node_modules/@photostructure/sqlite"))) npm("ci", "--omit=dev");

/** What the outer command was told (`--global`, `--omit`, `--dry-run`) is in the environment, and is not for this one. */
function npm(...command) {
  const cli = process.env.npm_execpath;
  const [program, ...first] = cli?.endsWith("npm-cli.js") ? [process.execPath, cli] : ["npm"];
  const flags = ["--no-global", "--location=project", "--no-dry-run", "--no-package-lock-only"];
  const run = spawnSync(program, [...first, ...command, ...flags, "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, NODE_ENV: "" },
    shell: program === "npm" && process.platform === "win32",
  });
  if (run.status === 0) return;
  const why = /^npm (?:error|ERR!) (?!code |errno |syscall )(.+)$/m.exec(run.stderr ?? "")?.[1] ?? run.error?.message;
  fail(`What the build needs could not be installed${why ? ` (${why})` : ""}`);
}

function fail(what, next = `cd ${root} && npm ci`) {
  // `npm install -g .` and `npm link` leave their link behind when this fails; without a build, no command is behind it.
  if (!existsSync(join(root, "dist/courser.cjs"))) removeGlobalLink();
  console.error(`${what}. Type: ${next}`);
  process.exit(1);
}

function removeGlobalLink() {
  if (!isGlobal) return;
  for (const folder of ["lib/node_modules", "node_modules"]) {
    const link = join(process.env.npm_config_prefix ?? "", folder, "courser-agent");
    if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() && realpathSync(link) === root) rmSync(link);
  }
}
