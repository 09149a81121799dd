// The workspace that the cases of the policy groups speak of, built for real.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Situation } from "../../src/policy/decide.ts";
import { parseRule, type Rule } from "../../src/policy/rules.ts";
import { atExit } from "../support/at-exit.ts";
import { temporaryWithoutBlanks } from "../support/temporary.ts";

export type Fixture = { base: string; workspace: string; home: string };

export function makeFixture(): Fixture {
  const base = realpathSync(mkdtempSync(join(temporaryWithoutBlanks(), "courser-policy-")));
  const fixture = { base, workspace: join(base, "ws"), home: join(base, "home") };
  mkdirSync(fixture.home, { recursive: true });
  for (const folder of ["src", ".git", ".cursor"]) mkdirSync(join(fixture.workspace, folder), { recursive: true });
  const files = {
    "README.md": "hello\n",
    "src/app.ts": "",
    "victim.txt": "precious\n",
    ".env": "KEY=1\n",
    "list.txt": "1\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(fixture.workspace, name), text);
  writeFileSync(join(base, "outside.txt"), "");
  return fixture;
}

export function removeFixture({ base }: Fixture): void {
  rmSync(base, { recursive: true, force: true });
}

export function rulesOf(lists: { allow?: string[]; deny?: string[] }, scope: Rule["scope"] = "user"): Rule[] {
  return (["allow", "deny"] as const).flatMap((verdict) =>
    (lists[verdict] ?? []).map((text) => {
      const parsed = parseRule(text, { verdict, scope, source: "cli-config.json" });
      if ("problem" in parsed) throw new Error(parsed.problem);
      return parsed.rule;
    }),
  );
}

export function situationOf({ workspace, home }: Fixture, changes: Partial<Situation> = {}): Situation {
  return {
    mode: "default",
    interactive: true,
    workspace,
    roots: [],
    home,
    configDir: join(home, ".cursor"),
    rules: [],
    sandbox: "off",
    searchPath: process.env["PATH"] ?? "",
    ...changes,
  };
}

/** What `input.setup` of a case asks for, beside the fixture itself. */
export type Setup = {
  files?: Record<string, string>;
  exec?: string[];
  dirs?: string[];
  symlinks?: Record<string, string>;
  hardlinks?: Record<string, string>;
  fifos?: string[];
  remove?: string[];
  home_files?: Record<string, string>;
  outside_files?: Record<string, string>;
  workspace_via_symlink?: boolean;
  nested_repo?: { path: string; config?: Record<string, string>; hooks?: Record<string, string> };
};

let template: string | undefined;

/** The workspace as a real repository with one commit. Made once by git, then copied. */
export function makeRepository(): Fixture {
  template ??= makeTemplate();
  const base = realpathSync(mkdtempSync(join(temporaryWithoutBlanks(), "courser-policy-")));
  cpSync(template, base, { recursive: true });
  return { base, workspace: join(base, "ws"), home: join(base, "home") };
}

function makeTemplate(): string {
  const { base, workspace } = makeFixture();
  atExit(() => rmSync(base, { recursive: true, force: true }));
  rmSync(join(workspace, ".git"), { recursive: true });
  git(workspace, "init", "-q", "-b", "main");
  for (const setting of ["user.name=Test", "user.email=test@example.com"]) {
    git(workspace, "config", ...setting.split("="));
  }
  git(workspace, "add", "README.md", "src/app.ts");
  git(workspace, "commit", "-q", "-m", "first");
  // Copied and removed a thousand times: as few folders as a repository can have.
  git(workspace, "repack", "-adq");
  for (const name of ["hooks", "logs", "branches", "description"])
    rmSync(join(workspace, ".git", name), { recursive: true, force: true });
  mkdirSync(join(workspace, ".git/hooks"));
  writeFileSync(join(workspace, "list.txt"), Array.from({ length: 5000 }, (_, index) => `${index + 1}\n`).join(""));
  return base;
}

function git(cwd: string, ...args: string[]): void {
  const env = { PATH: process.env["PATH"] ?? "", HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" };
  execFileSync("git", args, { cwd, env, stdio: "ignore" });
}

/** The real path of the workspace, and the path by which the agent is sent there. */
export function setUpFixture({ base, workspace, home }: Fixture, setup: Setup = {}): { given: string } {
  const place = (folder: string, name: string) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    return path;
  };
  for (const name of setup.dirs ?? []) mkdirSync(join(workspace, name), { recursive: true });
  for (const name of setup.remove ?? []) rmSync(join(workspace, name), { recursive: true, force: true });
  for (const [name, text] of Object.entries(setup.files ?? {})) writeFileSync(place(workspace, name), text);
  for (const [name, text] of Object.entries(setup.home_files ?? {})) writeFileSync(place(home, name), text);
  for (const [name, text] of Object.entries(setup.outside_files ?? {})) writeFileSync(place(base, name), text);
  for (const name of setup.exec ?? []) chmodSync(join(workspace, name), 0o755);
  for (const [name, target] of Object.entries(setup.symlinks ?? {})) symlinkSync(target, place(workspace, name));
  for (const [name, target] of Object.entries(setup.hardlinks ?? {}))
    linkSync(target.startsWith("/") ? target : join(workspace, target), place(workspace, name));
  for (const name of setup.fifos ?? []) execFileSync("mkfifo", [place(workspace, name)]);
  if (setup.nested_repo) nestRepository(join(workspace, setup.nested_repo.path), setup.nested_repo);
  if (!setup.workspace_via_symlink) return { given: workspace };
  const link = join(base, "link");
  if (!existsSync(link)) symlinkSync(workspace, link);
  return { given: link };
}

function nestRepository(folder: string, { config = {}, hooks = {} }: NonNullable<Setup["nested_repo"]>): void {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "-q");
  for (const [name, value] of Object.entries(config)) git(folder, "config", name, value);
  for (const [name, text] of Object.entries(hooks)) {
    writeFileSync(join(folder, ".git/hooks", name), text);
    chmodSync(join(folder, ".git/hooks", name), 0o755);
  }
}
