// Runs a case of the group `config`: files are made for real, and what is seen is compared with `expect`, key by key.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { decide } from "../../src/policy/decide.ts";
import { UserError } from "../../src/protocol/error-codes.ts";
import { configDir } from "../../src/store/config-dir.ts";
import { type JsonObject, readJson, saveJson } from "../../src/store/json-file.ts";
import { loadSettings, type Settings } from "../../src/store/settings.ts";
import { trust } from "../../src/store/trust.ts";
import { runSaveScenario } from "./save-scenario.ts";

export type ConfigCase = {
  id: string;
  config: { trusted?: boolean; mode?: string; env?: Record<string, string>; flags?: string[]; argv?: string[] };
  input: {
    file?: string;
    content?: string;
    content_b64?: string;
    content_gen?: { prefix: string; repeat: string; count: number; suffix: string };
    mode?: string;
    files?: Record<string, string>;
    command?: string;
    scenario?: string;
    argv?: string[];
  };
  expect: Record<string, unknown>;
};

export type CaseResult = {
  pass: boolean;
  safe: boolean;
  exact: boolean;
  skipped?: string;
  verdict: string;
  expected: string;
  detail: string;
};

/** What was seen. One of `settings` and `error` is there, unless the case is about something else. */
type Seen = {
  settings?: Settings;
  error?: { code: string; message: string };
  verdict?: string;
  elapsedMs: number;
  kept: boolean;
  environmentKept: boolean;
  prototypeKept: boolean;
  scenario?: { alwaysValid: boolean; nothingLost: boolean };
  run?: { permissionMode?: string; prompt?: string; exit: number };
  place: Place;
};

type Place = { base: string; workspace: string; home: string; files: Map<string, Buffer> };

const cli = resolve(import.meta.dirname, "../../dist/courser.cjs");

export async function runConfigCase(
  given: ConfigCase,
  options: { driver: "library" | "cli" } = { driver: "library" },
): Promise<CaseResult> {
  const argv = given.input.argv ?? given.config.argv;
  if ((argv || options.driver === "cli") && !existsSync(cli))
    return { ...blank(given), skipped: "dist/courser.cjs is not built" };
  const place = prepare(given);
  try {
    const seen =
      argv || (options.driver === "cli" && !given.input.scenario)
        ? runCli(given, argv ?? ["-p", "hi"], place)
        : await runLibrary(given, place);
    const failures: string[] = [];
    const unsafe: string[] = [];
    for (const [key, wanted] of Object.entries(given.expect)) {
      const problem = check(key, wanted, seen, given);
      if (problem === undefined) continue;
      failures.push(`${key}: ${problem}`);
      if (["never", "acceptable", "error_code", "effective_allow", "env_loaded", "global_unpolluted"].includes(key))
        unsafe.push(key);
    }
    const verdict = seen.verdict ?? seen.error?.code ?? seen.run?.permissionMode ?? "loaded";
    return {
      ...blank(given),
      pass: failures.length === 0,
      safe: unsafe.length === 0,
      exact: failures.length === 0,
      verdict,
      detail: failures.join("; "),
    };
  } finally {
    for (const file of place.files.keys()) if (existsSync(file)) chmodSync(file, 0o600);
    rmSync(place.base, { recursive: true, force: true });
  }
}

function blank({ expect }: ConfigCase): CaseResult {
  const expected = String(
    expect["verdict"] ?? expect["error_code"] ?? expect["permissionMode"] ?? JSON.stringify(expect),
  );
  return { pass: false, safe: false, exact: false, verdict: "", expected, detail: "" };
}

function prepare({ input }: ConfigCase): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-config-")));
  const place: Place = { base, workspace: join(base, "ws"), home: join(base, "home"), files: new Map() };
  mkdirSync(place.workspace);
  mkdirSync(place.home);
  writeFileSync(join(place.workspace, "victim.txt"), "");
  const contents: [string, Buffer][] = Object.entries(input.files ?? {}).map(([name, text]) => [
    name,
    Buffer.from(text),
  ]);
  if (input.file !== undefined) contents.push([input.file, contentOf(input)]);
  for (const [name, bytes] of contents) {
    const path = pathOf(name, place);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    if (input.mode !== undefined) chmodSync(path, Number.parseInt(input.mode, 8));
    place.files.set(path, bytes);
  }
  return place;
}

function contentOf(input: ConfigCase["input"]): Buffer {
  if (input.content_b64 !== undefined) return Buffer.from(input.content_b64, "base64");
  const generated = input.content_gen;
  return Buffer.from(
    generated ? generated.prefix + generated.repeat.repeat(generated.count) + generated.suffix : (input.content ?? ""),
  );
}

function pathOf(name: string, { workspace, home }: Place): string {
  if (name.startsWith("~/")) return join(home, name.slice(2));
  return resolve(workspace, name.replace("{WS}", workspace).replace("{HOME}", home));
}

async function runLibrary(given: ConfigCase, place: Place): Promise<Seen> {
  const scenario = given.input.scenario ? await runSaveScenario(given.input.scenario, place.base) : undefined;
  const env = { HOME: place.home, ...given.config.env };
  const before = JSON.stringify(process.env);
  const prototype = Object.getOwnPropertyNames(Object.prototype).join();
  const started = performance.now();
  const loaded = attempt(() =>
    loadSettings({ configDir: configDir(env), workspace: place.workspace, trusted: given.config.trusted ?? true, env }),
  );
  const elapsedMs = performance.now() - started;
  return {
    ...loaded,
    ...(given.input.command !== undefined && { verdict: await verdictOf(given, loaded.settings, place) }),
    elapsedMs,
    kept: isKept(place),
    environmentKept: JSON.stringify(process.env) === before,
    prototypeKept: Object.getOwnPropertyNames(Object.prototype).join() === prototype && !("permissions" in {}),
    ...(scenario && { scenario }),
    place,
  };
}

function attempt(load: () => Settings): Pick<Seen, "settings" | "error"> {
  try {
    return { settings: load() };
  } catch (error) {
    // Anything but a UserError is a bug, and fails the case.
    if (!(error instanceof UserError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

async function verdictOf(
  given: ConfigCase,
  settings: Settings | undefined,
  { workspace, home }: Place,
): Promise<string> {
  if (!settings) return "deny";
  const force = given.config.mode === "force";
  const answer = await decide([{ kind: "Shell", target: given.input.command! }], {
    mode: force ? "force" : "default",
    interactive: given.config.mode !== "print",
    workspace,
    roots: [],
    home,
    configDir: join(home, ".cursor"),
    rules: settings.rules,
    shellAllowed: "rules",
  });
  return answer.verdict;
}

function runCli(given: ConfigCase, argv: readonly string[], place: Place): Seen {
  const env: Record<string, string> = { PATH: process.env["PATH"] ?? "", HOME: place.home, ...given.config.env };
  if (given.config.trusted ?? true) trust(configDir(env), place.workspace);
  const started = performance.now();
  let stdout = "";
  let stderr = "";
  let exit = 0;
  try {
    const flags = ["--output-format", "stream-json", ...(given.config.flags ?? [])];
    stdout = execFileSync(process.execPath, [cli, ...flags, ...argv], {
      cwd: place.workspace,
      env,
      encoding: "utf8",
      timeout: 30_000,
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (failure) {
    ({ stdout, stderr, status: exit } = failure as { stdout: string; stderr: string; status: number });
  }
  const lines = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, any>);
  const result = lines.find((line) => line["type"] === "result");
  const permissionMode = lines.find((line) => line["subtype"] === "init")?.["permissionMode"] as string | undefined;
  const prompt = lines.find((line) => line["type"] === "user")?.["message"]?.content?.[0]?.text as string | undefined;
  return {
    ...(result?.["is_error"] && {
      error: { code: String(result["error_code"]), message: `${result["result"]}\n${stderr}` },
    }),
    elapsedMs: performance.now() - started,
    kept: isKept(place),
    environmentKept: true,
    prototypeKept: true,
    run: { ...(permissionMode && { permissionMode }), ...(prompt && { prompt }), exit },
    place,
  };
}

function isKept({ files }: Place): boolean {
  for (const [file, bytes] of files) {
    if (!existsSync(file) || !lstatSync(file).isFile()) return false;
    const mode = lstatSync(file).mode & 0o777;
    chmodSync(file, 0o600);
    const same = readFileSync(file).equals(bytes);
    chmodSync(file, mode);
    if (!same) return false;
  }
  return true;
}

/** Undefined when the expectation holds. */
function check(key: string, wanted: unknown, seen: Seen, given: ConfigCase): string | undefined {
  const { settings, error } = seen;
  const texts = (verdict: string) =>
    settings?.rules.filter((rule) => rule.verdict === verdict).map((rule) => rule.text);
  const unless = (holds: boolean, otherwise: string) => (holds ? undefined : otherwise);
  switch (key) {
    case "error_code":
      return unless(error?.code === wanted, `got ${error?.code ?? "no error"}`);
    case "exit_nonzero":
      return unless((seen.run ? seen.run.exit !== 0 : error !== undefined) === wanted, "the run would go on");
    case "original_kept":
      return unless(seen.kept === wanted, "the file was changed");
    case "message_has":
      return unless(
        String(wanted)
          .split(/\W+(?:and\W+)?/)
          .every((word) => error?.message.includes(word)),
        `message: ${error?.message}`,
      );
    case "max_ms":
      return unless(seen.elapsedMs <= Number(wanted), `took ${seen.elapsedMs} ms`);
    case "run":
      return unless(wanted !== "normal" || error === undefined, `stopped with ${error?.code}`);
    case "effective_allow":
    case "effective_deny":
      // An error allows nothing at all, where the case takes an error.
      if (error) return unless(String(given.expect["one_of"] ?? "").includes(error.code), `stopped with ${error.code}`);
      return unless(isDeepStrictEqual(texts(key.slice(10)), wanted), `got ${JSON.stringify(texts(key.slice(10)))}`);
    case "one_of":
    case "either":
    case "acceptable_instead":
      return unless(
        (wanted as string[]).some((sentence) => isSo(sentence, seen)),
        `got ${error?.code ?? "settings"}`,
      );
    case "never":
      return unless(error !== undefined || deniesKept(seen), "a deny rule of the file is not in force");
    case "warns":
      return unless((settings?.warnings.length ?? 0) > 0 === wanted, `warnings: ${settings?.warnings.join(" ")}`);
    case "ignored_fields":
      return unless(
        (wanted as string[]).every((field) => isIgnored(field, settings)),
        `warnings: ${settings?.warnings.join(" ")}`,
      );
    case "field_preserved_on_save":
      return unless(savesOthers(seen.place) === wanted, "fields were lost");
    case "global_unpolluted":
      return unless(seen.prototypeKept === wanted, "Object.prototype was changed");
    case "env_loaded":
      return unless(
        seen.environmentKept === !wanted && !JSON.stringify(settings ?? {}).includes("evil"),
        "the environment was changed",
      );
    case "verdict":
    case "permissionMode":
      return unless(
        (key === "verdict" ? seen.verdict : seen.run?.permissionMode) === wanted,
        `got ${seen.verdict ?? seen.run?.permissionMode}`,
      );
    case "acceptable":
      return unless((wanted as string[]).includes(seen.verdict ?? ""), `got ${seen.verdict}`);
    case "prompt":
      return unless(seen.run?.prompt === wanted, `got ${seen.run?.prompt}`);
    case "file_always_valid_json":
      return unless(seen.scenario?.alwaysValid === wanted, "a broken file was seen");
    case "no_entry_lost":
      return unless(seen.scenario?.nothingLost === wanted, "an entry was lost");
    default:
      return "this expectation is unknown to the driver";
  }
}

/** A sentence of the case: an error code, or a way of going on. */
function isSo(sentence: string, seen: Seen): boolean {
  const code = /\b[A-Z]+(?:_[A-Z]+)+\b/.exec(sentence)?.[0];
  if (code) return seen.error?.code === code;
  if (!seen.settings) return false;
  if (/warning|reported/i.test(sentence) && seen.settings.warnings.length === 0) return false;
  if (/deny/i.test(sentence) && !deniesKept(seen)) return false;
  return true;
}

/** Every rule that any deny list of the files names, however often and wherever it stands. */
function deniesKept({ settings, place }: Seen): boolean {
  const inForce = new Set(settings?.rules.filter((rule) => rule.verdict === "deny").map((rule) => rule.text));
  for (const bytes of place.files.values()) {
    for (const [, list] of bytes.toString("utf8").matchAll(/"deny"\s*:\s*(\[[^\]]*\]?|"[^"]*")/g)) {
      for (const [, text] of list!.matchAll(/"([^"]+)"/g)) if (!inForce.has(text!)) return false;
    }
  }
  return true;
}

function isIgnored(field: string, settings: Settings | undefined): boolean {
  const unused = field !== "model" || settings?.model === undefined;
  return unused && settings?.warnings.some((warning) => warning.includes(field)) === true;
}

/** An approval is saved; everything else must stand as before. */
function savesOthers({ files }: Place): boolean {
  for (const file of files.keys()) {
    const before = readJson(file)!;
    saveJson(file, (current) => {
      const permissions = (current["permissions"] ?? {}) as JsonObject;
      return {
        ...current,
        permissions: { ...permissions, allow: [...((permissions["allow"] ?? []) as string[]), "Shell(pwd)"] },
      };
    });
    const { permissions, ...after } = readJson(file)!;
    const { permissions: _, ...others } = before;
    if (!isDeepStrictEqual(after, others) || !JSON.stringify(permissions).includes("Shell(pwd)")) return false;
  }
  return true;
}
