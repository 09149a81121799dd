// What a stranger types first: the README's first command and every way to install, in a clone with nothing beside it and an empty home.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { atExit } from "./support/at-exit.ts";
import { readBlocks } from "./support/doc-examples.ts";
import { repository } from "./support/run-cli.ts";

/**
 * `npm run long -- try-nodes` gives each way to install a clone of its own; otherwise they share one, the first has it bare, and the
 * longest, from a repository, which builds everything again, is left out.
 */
const isLong = process.env["INSTALL_EACH_BARE"] === "1";
const limitMs = 400_000;

const readme = readFileSync(join(repository, "README.md"), "utf8");
const [first, shown] = readBlocks("README.md", readme.slice(readme.indexOf("## The first minute")));
const prompt = /"(.+)"/.exec(first!.text)![1]!;

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-install-")));
const prefix = join(base, "prefix");
const remove = () => rmSync(base, { recursive: true, force: true });
const forget = atExit(remove);
afterAll(() => {
  remove();
  forget();
}, limitMs);

type Ran = { exit: number | null; output: string };

/** The shell of somebody who has just logged in: an empty home, and of what is around us npm's settings and cache alone. */
function run(command: string, cwd: string, extra: Record<string, string> = {}): Promise<Ran> {
  const child = spawn("bash", ["--noprofile", "--norc", "-c", command], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environment, ...extra },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((resolve) => child.on("close", (exit) => resolve({ exit, output })));
}

const environment = freshEnvironment();

/** How the registry is reached stands in npm's settings, or in variables; with npm's cache, little is downloaded. */
function freshEnvironment(): Record<string, string> {
  const list = ["config", "list", "--json"];
  const known = JSON.parse(execFileSync("npm", list, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  const settings: Record<string, string> = {
    ...{ prefix, prefer_offline: "true", audit: "false", fund: "false", update_notifier: "false" },
    ...{ cache: known.cache, globalconfig: known.globalconfig },
    ...(existsSync(known.userconfig) && { userconfig: known.userconfig }),
  };
  const path = process.env["PATH"]!.split(delimiter).filter((folder) => !folder.includes("node_modules/.bin"));
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i.test(name),
  );
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [`npm_config_${name}`, value])),
    ...{ PATH: path.join(delimiter), HOME: join(base, "home"), LANG: "C.UTF-8" },
  };
}

/** The files as they are now, whether they are committed or not. */
function clone(name: string): string {
  const folder = join(base, name);
  if (existsSync(folder)) return folder;
  const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" });
  const listed = git(repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard");
  for (const file of new Set(listed.split("\0").filter((each) => each !== "" && existsSync(join(repository, each))))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(repository, file), join(folder, file), { verbatimSymlinks: true });
  }
  git(folder, "init", "--quiet");
  git(folder, "add", "--all");
  git(folder, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "all");
  return folder;
}

/** A folder that was not there before. */
function fresh(name: string): string {
  const folder = join(base, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** What the settings of this machine make npm complain of is not about us. */
function warnings({ output }: Ran): string[] {
  return output.split("\n").filter((line) => /npm warn/i.test(line) && !/Unknown \w+ config/.test(line));
}

beforeEach(() => {
  for (const name of ["home", "prefix"]) fresh(name);
});

it(
  "the README's first command installs, does the job and says what it did",
  async () => {
    expect(first!.text).toMatch(/^npm ci && npx courser .*$/);
    const folder = clone("first");
    const ran = await run(first!.text, folder);
    expect(ran, ran.output).toMatchObject({ exit: 0, output: expect.stringContaining(shown!.text) });
    expect(warnings(ran)).toEqual([]);
    expect(readFileSync(join(folder, "hello.txt"), "utf8").trim()).toBe("Hello World");
  },
  limitMs,
);

describe("installing from a bare clone", () => {
  const globally = () => join(prefix, "bin/courser");
  const inProject = () => join(base, "project/node_modules/.bin/courser");
  const ways: [string, (folder: string) => { command: string; cwd: string; program: string }][] = [
    ["npm install -g .", (cwd) => ({ command: "npm install -g .", cwd, program: globally() })],
    ["npm link", (cwd) => ({ command: "npm link", cwd, program: globally() })],
    [
      "npm install FOLDER",
      (folder) => ({ command: `npm install "${folder}"`, cwd: fresh("project"), program: inProject() }),
    ],
    [
      "npm install -g TARBALL",
      (cwd) => ({ command: "npm pack && npm install -g ./courser-agent-*.tgz", cwd, program: globally() }),
    ],
    [
      "npm install git+file://FOLDER",
      (folder) => ({ command: `npm install "git+file://${folder}"`, cwd: fresh("project"), program: inProject() }),
    ],
  ];

  it(
    "without a registry, one line says what to type, and no link is left",
    async () => {
      const folder = clone(isLong || existsSync(join(base, "shared/dist")) ? "offline" : "shared");
      const ran = await run("npm install -g .", folder, {
        npm_config_offline: "true",
        npm_config_cache: fresh("cache"),
      });
      expect(ran.exit).not.toBe(0);
      expect(ran.output).toMatch(/What the build needs could not be installed \(.+\)\. Type: cd \/.+ && npm ci$/m);
      expect(ran.output).not.toMatch(/^(npm error)?\s+at /m);
      expect(existsSync(join(prefix, "bin/courser"))).toBe(false);
      expect(existsSync(join(prefix, "lib/node_modules")) ? readdirSync(join(prefix, "lib/node_modules")) : []).toEqual(
        [],
      );
    },
    limitMs,
  );

  it.each(ways.filter(([name]) => isLong || !name.includes("git+file")))(
    "Courser is installed from a bare clone: %s",
    async (name, way) => {
      const { command, cwd, program } = way(clone(isLong ? name.replace(/\W+/g, "-") : "shared"));
      const installed = await run(command, cwd);
      expect(installed, installed.output).toMatchObject({ exit: 0 });
      const done = await run(`"${program}" -p --force "${prompt}"`, fresh("work"));
      expect(done).toEqual({ exit: 0, output: `${shown!.text}\n` });
      const folder = dirname(dirname(realpathSync(program)));
      expect(existsSync(join(folder, "dist/types/sdk/index.d.ts"))).toBe(true);
      expect(packagesIn(folder).filter((each) => /esbuild|typescript|vitest|biome/.test(each))).toEqual([]);
    },
    limitMs,
  );
});

function packagesIn(folder: string): string[] {
  const modules = join(folder, "node_modules");
  if (!existsSync(modules)) return [];
  return readdirSync(modules).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((each) => `${name}/${each}`) : [name],
  );
}
