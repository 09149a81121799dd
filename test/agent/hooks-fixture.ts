// Hooks for cases: scripts that do what the case says, the files that name them, and what the scripts leave behind.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "../../src/protocol/error-codes.ts";
import { loadHooks } from "../../src/store/hook-files.ts";
import type { HookPaths } from "../../src/store/hook-paths.ts";
import { approveHooks } from "../../src/store/hook-trust.ts";
import { trust } from "../../src/store/trust.ts";
import type { Fixture } from "../policy/fixture.ts";
import type { Case } from "../support/case.ts";

export type HookScript = {
  stdout?: string;
  exit?: number;
  stderr?: string;
  delay_ms?: number;
  stdout_gen?: { byte: string; count: number };
  signal?: string;
  missing?: boolean;
  /** Ignores SIGTERM. */
  stubborn?: boolean;
};

export type HookInput = {
  event?: string;
  hook?: HookScript;
  second?: HookScript;
  tool?: ({ tool: string } & Record<string, unknown>) | null;
  prompt?: string;
  hooks_json?: string;
  mutate_after_trust?: { path: string };
  closes_stdin?: boolean;
  /** Of Claude's format: the settings file that it stands in. */
  claude?: "project" | "local" | "user";
};

export type HookPlace = {
  folder: string;
  configDir: string;
  home: string;
  workspace: string;
  /** Instead of the system's own, which may be there. */
  enterpriseFile: string;
};

/** Scripts, hook files, trust; `trusted: false` leaves the workspace as a stranger's. */
export function setUpHooks({ base, workspace, home }: Fixture, { config, input }: Case): HookPlace {
  const place: HookPlace = {
    folder: join(base, "hooks"),
    configDir: join(home, ".cursor"),
    home,
    workspace,
    enterpriseFile: join(base, "enterprise.json"),
  };
  mkdirSync(place.folder);
  const given = input as HookInput;
  const entries = [given.hook, given.second].flatMap((script, index) =>
    script ? [{ command: writeScript(place.folder, `hook-${index + 1}`, script, given), ...config["hook_entry"] }] : [],
  );
  const file = hookFile(place, config["source"] === "project", given.claude);
  mkdirSync(dirname(file), { recursive: true });
  const text = given.hooks_json ?? JSON.stringify(contentOf(given, entries));
  if (given.hooks_json !== undefined || entries.length > 0) writeFileSync(file, text);
  if (config["trusted"] !== false) {
    trust(place.configDir, workspace);
    approve(place);
  }
  if (given.mutate_after_trust) {
    const changed = join(workspace, given.mutate_after_trust.path);
    writeFileSync(changed, readFileSync(changed, "utf8").replace("{", '{ "changed": 1,'));
  }
  return place;
}

/** A file that cannot be understood is not approved either; the run says what is wrong with it. */
function approve(place: HookPlace): void {
  try {
    approveProjectHooks(place);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
  }
}

function hookFile({ configDir, home, workspace }: HookPlace, isProject: boolean, claude: HookInput["claude"]): string {
  if (claude === "user") return join(home, ".claude/settings.json");
  if (claude) return join(workspace, claude === "local" ? ".claude/settings.local.json" : ".claude/settings.json");
  return isProject ? join(workspace, ".cursor/hooks.json") : join(configDir, "hooks.json");
}

function contentOf({ event = "beforeShellExecution", claude }: HookInput, entries: object[]): object {
  if (!claude) return { version: 1, hooks: { [event]: entries } };
  const groups = entries.map((entry) => {
    const { matcher, ...rest } = entry as Record<string, unknown>;
    return { ...(matcher !== undefined && { matcher }), hooks: [{ type: "command", ...rest }] };
  });
  return { hooks: { [event]: groups } };
}

function writeScript(folder: string, name: string, script: HookScript, { closes_stdin }: HookInput): string {
  const file = (end: string) => join(folder, `${name}.${end}`);
  if (script.missing) return file("missing");
  writeFileSync(file("out"), script.stdout ?? "");
  writeFileSync(file("err"), script.stderr ?? "");
  const seconds = (script.delay_ms ?? 0) / 1000;
  const lines = [
    "#!/bin/sh",
    `echo $$ >> '${file("pids")}'`,
    script.stubborn ? "trap '' TERM" : "",
    closes_stdin ? "exec 0<&-" : `cat > '${file("payload")}'`,
    seconds > 0 ? `sleep ${seconds} & echo $! >> '${file("pids")}'; wait $!` : "",
    script.stdout_gen
      ? `head -c ${script.stdout_gen.count} /dev/zero | tr '\\000' '${script.stdout_gen.byte}'`
      : `cat '${file("out")}'`,
    `cat '${file("err")}' >&2`,
    script.signal ? `kill -s ${script.signal.replace(/^SIG/, "")} $$` : "",
    `exit ${script.exit ?? 0}`,
  ];
  writeFileSync(file("sh"), `${lines.filter(Boolean).join("\n")}\n`, { mode: 0o755 });
  return file("sh");
}

export type HookTraces = { ran: boolean; orphans: number; payload?: Record<string, any> };

/** What the scripts of a case left: whether one ran, what it was told, and who of them is still alive. */
export function tracesOf({ folder }: HookPlace): HookTraces {
  const pids = ["hook-1", "hook-2"].flatMap((name) => linesIn(join(folder, `${name}.pids`))).map(Number);
  const payload = join(folder, "hook-1.payload");
  const text = existsSync(payload) ? readFileSync(payload, "utf8") : "";
  return {
    ran: pids.length > 0,
    orphans: pids.filter(isAlive).length,
    ...(text !== "" && { payload: JSON.parse(text) as Record<string, any> }),
  };
}

function linesIn(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

/** What only waits for its parent to notice is gone. */
function isAlive(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(text.slice(text.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** As after a look at them: what stands in the project's files runs from now on. */
export function approveProjectHooks(place: HookPaths): void {
  approveHooks(place, loadHooks(place, { trusted: true }).waiting);
}
