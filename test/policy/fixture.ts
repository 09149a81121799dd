// The workspace that the cases of the policy groups speak of, built for real.
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { decide, type Situation } from "../../src/policy/decide.ts";
import type { Decision, Need } from "../../src/policy/need.ts";
import { parseRule, type Rule } from "../../src/policy/rules.ts";

export type PolicyCase = {
  id: string;
  config: { mode?: string; allow?: string[]; deny?: string[]; source?: string; trusted?: boolean };
  input: Record<string, any>;
  expect: { verdict: string; acceptable: string[] };
};

export type Fixture = { base: string; workspace: string; home: string };

export function makeFixture(): Fixture {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-policy-")));
  const fixture = { base, workspace: join(base, "ws"), home: join(base, "home") };
  mkdirSync(fixture.home, { recursive: true });
  for (const folder of ["src", ".git", ".cursor"]) mkdirSync(join(fixture.workspace, folder), { recursive: true });
  const files = { "README.md": "hello\n", "src/app.ts": "", "victim.txt": "", ".env": "KEY=1\n", "list.txt": "1\n" };
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
    shellAllowed: "rules",
    ...changes,
  };
}

export async function runPolicyCase(given: PolicyCase): Promise<Decision> {
  const fixture = makeFixture();
  try {
    const replace = (text: string) => text.replaceAll("{WS}", fixture.workspace).replaceAll("{HOME}", fixture.home);
    const { config, input } = JSON.parse(JSON.stringify(given), (_, value) =>
      typeof value === "string" ? replace(value) : value,
    ) as PolicyCase;
    const workspace = setUp(fixture, input["setup"] ?? {});
    const scope = config.source === "project" ? "project" : "user";
    const untrusted = scope === "project" && config.trusted === false;
    const rules = rulesOf({ ...config, ...(untrusted && { allow: [] }) }, scope);
    const mode = config.mode === "force" ? "force" : "default";
    return await decide(
      [needOf(input)],
      situationOf({ ...fixture, workspace }, { mode, interactive: config.mode !== "print", rules }),
    );
  } finally {
    removeFixture(fixture);
  }
}

function setUp({ base, workspace }: Fixture, setup: Record<string, any>): string {
  const place = (name: string) => {
    const path = join(workspace, name);
    mkdirSync(dirname(path), { recursive: true });
    return path;
  };
  for (const name of setup["dirs"] ?? []) mkdirSync(join(workspace, name), { recursive: true });
  for (const [name, text] of Object.entries(setup["files"] ?? {})) writeFileSync(place(name), text as string);
  for (const [name, target] of Object.entries(setup["symlinks"] ?? {})) symlinkSync(target as string, place(name));
  for (const [name, target] of Object.entries(setup["hardlinks"] ?? {}))
    linkSync(join(workspace, target as string), place(name));
  if (setup["nested_repo"]) mkdirSync(join(workspace, setup["nested_repo"].path, ".git"), { recursive: true });
  if (!setup["workspace_via_symlink"]) return workspace;
  symlinkSync(workspace, join(base, "link"));
  return realpathSync(join(base, "link"));
}

function needOf(input: Record<string, any>): Need {
  const kinds: Record<string, Need["kind"]> = { shell: "Shell", edit: "Write", delete: "Delete" };
  if (input["tool"] === "shell")
    return {
      kind: "Shell",
      target: input["command"],
      ...(input["workingDirectory"] && { cwd: input["workingDirectory"] }),
    };
  const pattern =
    input["tool"] === "glob" && /(^|\/)\.\.(\/|$)/.test(input["globPattern"])
      ? input["globPattern"].replace(/\/\*.*$/, "")
      : undefined;
  return { kind: kinds[input["tool"]] ?? "Read", target: pattern ?? input["path"] ?? input["targetDirectory"] ?? "." };
}
