// What is approved with a command line: files that it names, and the scripts that a package manager runs for it.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { behindDigest, hashesBehind } from "../../src/store/files-behind.ts";
import { loadedBy, recipesFor } from "../../src/store/loaded-files.ts";
import { hashFolder } from "../../src/store/plugins/installed.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "courser-behind-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

test("the files that code loads and that task runners read are found as the table says", async () => {
  const texts = {
    "in.js": 'require("./a") require("b/c") import("./d.js") from "@e/f/g"; require("./h.json"); import x from `../i`',
    "in.py": "from a.b import c, d as e\nimport f, g.h as i\n  import j\n#import k",
    "in.sh": "#!/bin/sh\n. ./a.sh; source b.sh && exec ./c -x | python3 -u d.py\nnode --flag e.js; @./f; echo g.sh",
    "in.rb": "require_relative 'a'\nload 'b'",
    Makefile: "include a.mk\n-include b.mk\nall:\n\t@./build.sh && bun run c.ts; deno run d.ts",
    ".justfile": "x:\n  bash ./a.sh",
    "taskfile.dist.yml": "cmds:\n  - ./a.sh\n  - sh b.sh",
    Rakefile: "sh './a.sh'",
    "plain.txt": "./a.sh",
    "no-ending": "#!/usr/bin/env node\nrequire('./a')",
    "in.pl": 'system("perl x.pl"); # ${HOME}/y.sh "$(dirname "$0")"/z.sh',
    "in.ts": 'import x from "./a.js"; import y from "./b.mjs"; spawn("tsx", ["c.ts"])',
  };
  for (const [name, text] of Object.entries(texts)) file(name, text);
  file("node_modules/b/package.json", '{"main":"m.js"}');
  file("node_modules/@e/f/package.json", "[]");
  file("large.js", `require("./a");${" ".repeat(1024 * 1024)}`);
  const real = realpathSync(folder);
  const shown = (paths: readonly string[]) =>
    paths
      .map((path) => path.replace(`${real}/`, "").replace(`${dirname(real)}/`, "../"))
      .sort()
      .join(" ");
  const rows = [...Object.keys(texts), "large.js"].map((name) => {
    const path = join(real, name);
    return `${name}: ${shown(loadedBy(path, readFileSync(path), join(real, "cwd")))}`;
  });
  const recipes =
    `makefile GNUmakefile x.mk x.mk.txt justfile .justfile taskfile.yml Taskfile.dist.yaml taskfiles.yml rakefile.rb
    compose.yaml docker-compose.dev.yml compose.txt Dockerfile containerfile.dev Cargo.toml src/lib.rs go.mod cmd/a.go deno.json
    deno.jsonc bunfig.toml .yarnrc .yarnrc.yml .pnpmfile.cjs pyproject.toml Pipfile tox.ini noxfile.py Gemfile composer.json pom.xml
    build.gradle build.gradle.kts a.go.txt myCargo.toml`.split(/\s+/);
  mkdirSync(join(real, "runner"));
  for (const name of recipes) file(join("runner", name), "");
  const runners =
    `make gmake just task go-task rake docker podman docker-compose cargo go deno bun yarn pnpm uv poetry pdm hatch pipenv
    tox nox bundle composer mvn gradle npm toString`.split(/\s+/);
  for (const runner of runners)
    rows.push(`${runner}: ${shown(recipesFor(runner, join(real, "runner"))).replaceAll("runner/", "")}`);
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "loaded-files.txt"));
});

test.each([
  ["npm t", "test pretest"],
  ["npm tst", "test pretest"],
  ["npm test", "test pretest"],
  ["npm start", "start"],
  ["yarn build", "build prebuild postbuild"],
  ["pnpm run other", ""],
  ["bun start", "start"],
  ["node --run start", "start"],
  ["(npm run build; x)", "build prebuild postbuild"],
  ["mynpm start", ""],
  ["npmx start", ""],
  ["npm-start", ""],
])("the scripts behind `%s` are those of %j", (line, names) => {
  const scripts = ["test", "pretest", "start", "build", "prebuild", "postbuild"];
  const text = (changed?: string) =>
    JSON.stringify({
      scripts: Object.fromEntries(scripts.map((name) => [name, `echo ${name === changed ? "changed" : name}`])),
    });
  file("package.json", text());
  const keys = Object.keys(hashesBehind([line], { cwd: folder, roots: [folder] }));
  const found = keys.flatMap((key) => (key.includes("#") ? key.slice(key.indexOf("#") + 1) : []));
  expect(found.sort()).toEqual(names.split(" ").filter(Boolean).sort());
});

test("a plugin's hash changes with names, modes, links and contents, but not with its git history", () => {
  const at = (name: string, text: string) => file(join("plugin", name), text);
  at("a/b.txt", "one");
  at(".git/HEAD", "1");
  const hash = () => hashFolder(join(folder, "plugin"));
  const seen = [hash()];
  at(".git/HEAD", "2");
  expect(hash()).toBe(seen[0]);
  const changes = [
    () => at("a/b.txt", "two"),
    () => chmodSync(join(folder, "plugin/a/b.txt"), 0o755),
    () => at("a/.git", "of a folder below"),
    () => symlinkSync("b.txt", join(folder, "plugin/a/link")),
    () => mkdirSync(join(folder, "plugin/empty")),
    () => renameSync(join(folder, "plugin/a/b.txt"), join(folder, "plugin/b.txt")),
  ];
  for (const change of changes) {
    change();
    seen.push(hash());
  }
  expect(new Set(seen).size).toBe(changes.length + 1);
});

describe("files behind a command line", () => {
  test.each([
    ["a script", "./run.sh --fast", "run.sh"],
    ["a script behind a variable", '"$CLAUDE_PROJECT_DIR"/tools/run.sh', "tools/run.sh"],
    ["a script in a script", "bash -c 'set -e; . ./run.sh'", "run.sh"],
    ["a directory", "node ./server", "server/index.js"],
    ["a name without its ending", "node server", "server.js"],
    ["a module", "python3 -m tools.serve", "tools/serve.py"],
    ["a program of the project", "npx serve", "node_modules/.bin/serve"],
  ])("an approved hook needs approval again after a change of %s", (_name, line, name) => {
    file(name, "first");
    const before = behindDigest([line], folder);
    expect(before).not.toBe("");
    file(name, "second");
    expect(behindDigest([line], folder)).not.toBe(before);
  });

  test.each<[what: string, line: string, files: Record<string, string>, changed: string]>([
    ["JavaScript", "node tools/a.js", { "tools/a.js": 'require("./lib/b")', "tools/lib/b.js": "1" }, "tools/lib/b.js"],
    [
      "modules",
      "node a.mjs",
      { "a.mjs": 'import x from "./b.mjs"', "b.mjs": 'import "./c.mjs"', "c.mjs": "1" },
      "c.mjs",
    ],
    ["TypeScript", "npx tsx a.ts", { "a.ts": 'import { x } from "./b.js";', "b.ts": "1" }, "b.ts"],
    [
      "a package",
      "node a.js",
      { "a.js": 'require("p")', "node_modules/p/package.json": '{"main":"m.js"}', "node_modules/p/m.js": "1" },
      "node_modules/p/m.js",
    ],
    [
      "a package that is not there yet",
      "node a.js",
      { "a.js": 'const { x } = require("node_fetch")', "node_modules/node_fetch/package.json": "{}" },
      "node_modules/node_fetch/index.js",
    ],
    ["another program", "node a.js", { "a.js": 'spawn("node", ["run/b.js"])', "run/b.js": "1" }, "run/b.js"],
    ["a shell", "sh t/a.sh", { "t/a.sh": '. "$(cd "$(dirname "$0")" && pwd)/b.sh"', "t/b.sh": "1" }, "t/b.sh"],
    ["a path in a shell", "sh a.sh", { "a.sh": "set -e; ./b --fast", b: "1" }, "b"],
    ["Python", "python3 t/a.py", { "t/a.py": "import os, b as c", "t/b.py": "1" }, "t/b.py"],
    [
      "a package of Python",
      "python3 a.py",
      { "a.py": "from p import b", "p/__init__.py": "", "p/b.py": "1" },
      "p/b.py",
    ],
    ["a module that hides another", "python3 t/a.py", { "t/a.py": "import json" }, "t/json.py"],
    ["make", "make -s serve", { Makefile: "include more.mk\nserve:\n\tnode x.js", "more.mk": "", "x.js": "1" }, "x.js"],
    ["an included makefile", "make", { Makefile: "include more.mk", "more.mk": "1" }, "more.mk"],
    ["a runner of tasks", "just serve", { justfile: "serve:\n  true" }, "justfile"],
    ["containers", "docker compose run x", { "compose.yaml": "services: {}" }, "compose.yaml"],
    ["sources", "go run ./cmd/x", { "go.mod": "module x", "cmd/x/main.go": "package main" }, "cmd/x/main.go"],
  ])("an approved hook needs approval again after a change in a file it loads by %s", (_what, line, files, changed) => {
    for (const [name, text] of Object.entries(files)) file(name, text);
    const before = behindDigest([line], folder);
    expect(behindDigest([line], folder)).toBe(before);
    file(changed, "something else");
    expect(behindDigest([line], folder)).not.toBe(before);
  });

  test("data files that a hook's code names may change without a new approval", () => {
    const text = 'const data = require("./package.json"); readFile("src/app.js"); run("eslint", "src/app.js");';
    for (const [name, content] of Object.entries({ "a.js": text, "package.json": "{}", "src/app.js": "1" }))
      file(name, content);
    const before = behindDigest(["node a.js"], folder);
    file("src/app.js", "2");
    file("package.json", '{"a":1}');
    expect(behindDigest(["node a.js"], folder)).toBe(before);
  });

  test("approving a hook covers package.json scripts, with what they run and what runs before", () => {
    const scripts = { mcp: "npm run inner", inner: "node ./real.js", premcp: "true", unrelated: "echo" };
    const manifest = (changed: object) => file("package.json", JSON.stringify({ version: "1", scripts, ...changed }));
    manifest({});
    file("real.js", "first");
    const digest = () => behindDigest(["npm", "run", "mcp"], folder);
    const before = digest();
    const names = Object.keys(hashesBehind(["npm", "run", "mcp"], { cwd: folder, roots: [folder] }));
    expect(names.map((name) => name.slice(folder.length + 1)).sort()).toEqual([
      "package.json#inner",
      "package.json#mcp",
      "package.json#premcp",
      "real.js",
    ]);
    manifest({ version: "2", scripts: { ...scripts, unrelated: "other" } });
    expect(digest()).toBe(before);
    for (const name of ["mcp", "inner", "premcp"]) {
      manifest({ scripts: { ...scripts, [name]: "evil" } });
      expect(digest(), name).not.toBe(before);
    }
    manifest({});
    file(".npmrc", "script-shell=./evil.sh");
    expect(digest()).not.toBe(before);
  });

  test("approving a hook does not cover files that are only written or listed, unless something may run them", () => {
    for (const name of ["log.txt", "state", "hook.sh"]) file(name, "x");
    const behind = (line: string) =>
      Object.keys(hashesBehind([line], { cwd: folder, roots: [folder] })).map((name) => name.slice(folder.length + 1));
    expect(behind('cat >> "log.txt"; [ -e state ] || touch state')).toEqual([]);
    expect(behind("./hook.sh >> log.txt 2>&1")).toEqual(["hook.sh"]);
    for (const shell of [
      "sh",
      "bash",
      "dash",
      "zsh",
      "ksh",
      "fish",
      "xargs -n 1 source",
      "env perl",
      "python3",
      "ruby",
    ])
      expect(behind(`cat hook.sh | ${shell}`), shell).toEqual(["hook.sh"]);
    for (const run of ['eval "$(cat state)"', "exec $(cat state)", ". <(cat state)"])
      expect(behind(run), run).toEqual(["state"]);
    expect(behind("node state > log.txt")).toEqual(["state"]);
    for (const reader of [
      "tee",
      "test -e",
      "[[ -e",
      "echo",
      "printf",
      "grep x",
      "mkdir",
      "rm",
      "head",
      "wc",
      "jq .a",
      "date -r",
    ])
      expect(behind(`${reader} state`), reader).toEqual([]);
  });

  test("approving a hook does not cover files outside the project, or words that cannot be files", () => {
    const lines = ["/bin/echo ../x", "a".repeat(5000), "x\0y", "true"];
    expect(hashesBehind(lines, { cwd: folder, roots: [folder] })).toEqual({});
    expect(behindDigest(lines, folder)).toBe("");
  });
});
