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
import type { JsonObject } from "../../src/json/object.ts";
import { decide } from "../../src/policy/decide.ts";
import { codeNamedIn, type ErrorCode, exitCodeOf, UserError } from "../../src/protocol/error-codes.ts";
import { configDir } from "../../src/store/config-dir.ts";
import { readJson, saveJson } from "../../src/store/json-file.ts";
import { loadSettings, type Settings } from "../../src/store/settings.ts";
import { trust } from "../../src/store/trust.ts";
import type { CaseResult } from "../support/case.ts";
import { codeIn, type Fault, faultsWithWays, listOf, shownFaults } from "../support/ways.ts";
import { runSaveScenario } from "./save-scenario.ts";

export type ConfigCase = {
  id: string;
  config: { trusted?: boolean; mode?: string; env?: Record<string, string>; flags?: string[]; argv?: string[] };
  input: {
    file?: string;
    content?: string;
    content_b64?: string;
    content_gen?: {
      prefix?: string;
      repeat?: string;
      byte?: string;
      repeat_line?: string;
      count: number;
      suffix?: string;
    };
    mode?: string;
    files?: Record<string, string>;
    command?: string;
    scenario?: string;
    argv?: string[];
  };
  expect: Record<string, unknown>;
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
  peakRssMb: number;
  run?: { permissionMode?: string; prompt?: string; exit: number; output: string };
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
    const seen = argv
      ? runCli(given, argv, place)
      : options.driver === "cli" && !given.input.scenario
        ? await runBoth(given, place)
        : await runLibrary(given, place);
    const faults = faultsWithWays(given.expect, {
      faults: (expect) => faultsOf(expect, seen, given),
      isSo: (sentence) => isSo(sentence, seen),
    });
    const verdict = seen.verdict ?? seen.error?.code ?? seen.run?.permissionMode ?? "loaded";
    return {
      ...blank(given),
      pass: faults.length === 0,
      safe: !faults.some(({ key }) => safetyKeys.has(key)),
      exact: faults.length === 0,
      verdict,
      detail: shownFaults(faults),
    };
  } finally {
    for (const file of place.files.keys()) if (existsSync(file)) chmodSync(file, 0o600);
    rmSync(place.base, { recursive: true, force: true });
  }
}

/** What must hold for an answer to be safe; the rest makes it exact. */
const safetyKeys = new Set([
  "never",
  "acceptable",
  "error_code",
  "exit_nonzero",
  "effective_allow",
  "effective_deny",
  "env_loaded",
  "global_unpolluted",
  "permissionMode",
  "effect_absent",
  "never_connects_to",
  "one_of",
]);

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
  if (!input.content_gen) return Buffer.from(input.content ?? "");
  const { prefix = "", repeat, byte, repeat_line, count, suffix = "" } = input.content_gen;
  const unit = repeat ?? byte ?? (repeat_line === undefined ? "" : `${repeat_line.replace(/\n$/, "")}\n`);
  return Buffer.from(prefix + unit.repeat(count) + suffix);
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
  const startRss = process.memoryUsage.rss();
  const started = process.cpuUsage();
  const loaded = attempt(() =>
    loadSettings({ configDir: configDir(env), workspace: place.workspace, trusted: given.config.trusted ?? true }),
  );
  const verdict = given.input.command === undefined ? undefined : await verdictOf(given, loaded.settings, place);
  // Processor time, so that what else the machine does has no part in it.
  const { user, system } = process.cpuUsage(started);
  const elapsedMs = (user + system) / 1000;
  return {
    ...loaded,
    ...(verdict !== undefined && { verdict }),
    elapsedMs,
    // What a bare Node takes is added: limits are for a whole process.
    peakRssMb: (process.memoryUsage.rss() - startRss) / 2 ** 20 + 50,
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
    sandbox: "off",
    searchPath: process.env["PATH"] ?? "",
  });
  return answer.verdict;
}

/** What the program does, beside what the library says of the same files; where they differ, the case fails. */
async function runBoth(given: ConfigCase, place: Place): Promise<Seen> {
  const library = await runLibrary(given, place);
  const script = join(place.base, "script.json");
  const { command } = given.input;
  const replies = [
    ...(command === undefined ? [] : [{ calls: [{ name: "Shell", args: { command } }] }]),
    { text: "ok" },
  ];
  writeFileSync(script, JSON.stringify(replies));
  const force = given.config.mode === "force" ? ["--force"] : [];
  const program = runCli(given, ["-p", ...force, "--model", `script:${script}`, "go"], place);
  // Without trust nothing runs at all, and the files were read before that was found out.
  if (program.error?.code === "UNTRUSTED" && given.config.trusted === false) return library;
  if (program.error?.code !== library.error?.code)
    throw new Error(`the program: ${program.error?.code ?? "runs"}; the library: ${library.error?.code ?? "loads"}`);
  const { environmentKept, prototypeKept, peakRssMb, settings } = library;
  // Print mode runs commands with --force alone; what an allow rule says shows where somebody could be asked.
  const verdict = program.verdict === "ask" ? library.verdict : program.verdict;
  if (verdict === "deny" && program.verdict === "ask") throw new Error("the program asks where the library denies");
  return {
    ...program,
    ...(verdict !== undefined && { verdict }),
    environmentKept,
    prototypeKept,
    peakRssMb,
    ...(settings && { settings }),
  };
}

function runCli(given: ConfigCase, argv: readonly string[], place: Place): Seen {
  const env: Record<string, string> = { PATH: process.env["PATH"] ?? "", HOME: place.home, ...given.config.env };
  const { command } = given.input;
  if (given.config.trusted ?? true) trust(configDir(env), place.workspace);
  const started = performance.now();
  let stdout = "";
  let stderr = "";
  let exit = 0;
  try {
    stdout = execFileSync(process.execPath, [cli, ...inStreamJson([...(given.config.flags ?? []), ...argv])], {
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
  const completed = lines.find((line) => line["type"] === "tool_call" && line["subtype"] === "completed");
  const permissionMode = lines.find((line) => line["subtype"] === "init")?.["permissionMode"] as string | undefined;
  const prompt = lines.find((line) => line["type"] === "user")?.["message"]?.content?.[0]?.text as string | undefined;
  // The trust gate tells stderr alone.
  const code = result ? result["error_code"] : codeNamedIn(stderr);
  return {
    ...(code && { error: { code: String(code), message: `${result?.["result"] ?? ""}\n${stderr}` } }),
    elapsedMs: performance.now() - started,
    kept: isKept(place),
    environmentKept: true,
    prototypeKept: true,
    peakRssMb: 0,
    ...(command !== undefined && { verdict: verdictOfCall(completed) }),
    run: { ...(permissionMode && { permissionMode }), ...(prompt && { prompt }), exit, output: stdout + stderr },
    place,
  };
}

/** The case's own format counts for the case; what is looked at needs the one that tells everything. The last one holds. */
function inStreamJson(argv: readonly string[]): string[] {
  const format = ["--output-format", "stream-json"];
  const dashes = argv.indexOf("--");
  const end = dashes === -1 ? argv.length : dashes;
  if (!argv.slice(0, end).some((word) => word.startsWith("--output-format"))) return [...format, ...argv];
  return [...argv.slice(0, end), ...format, ...argv.slice(end)];
}

/** In print mode nobody can be asked: a rejection that --force would lift is an ask. */
function verdictOfCall(completed: Record<string, any> | undefined): string {
  const result = completed?.["tool_call"]?.shellToolCall?.result ?? {};
  if (!("rejected" in result)) return "allow";
  return /\bden(y|ies|ied)\b/i.test(JSON.stringify(result.rejected)) ? "deny" : "ask";
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

function faultsOf(expect: Record<string, unknown>, seen: Seen, given: ConfigCase): Fault[] {
  return Object.entries(expect).flatMap(([key, wanted]) => {
    const text = check(key, wanted, seen, given);
    return text === undefined ? [] : [{ key, text }];
  });
}

/** Undefined when the expectation holds. */
function check(key: string, wanted: unknown, seen: Seen, given: ConfigCase): string | undefined {
  const { settings, error } = seen;
  const texts = (verdict: string) =>
    settings?.rules.filter((rule) => rule.verdict === verdict).map((rule) => rule.text);
  const unless = (holds: boolean, otherwise: string) => (holds ? undefined : otherwise);
  switch (key) {
    case "error_code":
    case "error":
    case "code":
      return unless(error?.code === wanted, `got ${error?.code ?? "no error"}`);
    case "exit":
    case "exit_code":
      return unless(exitOf(seen) === wanted, `got ${exitOf(seen)}`);
    case "exit_nonzero":
      return unless((seen.run ? seen.run.exit !== 0 : error !== undefined) === wanted, "the run would go on");
    case "original_kept":
      return unless(seen.kept === wanted, "the file was changed");
    case "message_has":
    case "message_contains":
    case "message_names":
      return unless(
        listOf(wanted).every((one) => messageHas(String(one), seen)),
        `message: ${messageOf(seen)}`,
      );
    case "max_ms":
      return unless(seen.elapsedMs <= Number(wanted), `took ${seen.elapsedMs} ms`);
    case "max_rss_mb":
      return unless(seen.peakRssMb <= Number(wanted), `took ${seen.peakRssMb.toFixed(0)} MB`);
    case "no_crash":
      return unless(!/INTERNAL|Unexpected failure/.test(messageOf(seen)), messageOf(seen));
    case "effect_absent":
      return unless(!hasEffect(String(wanted), seen.place), `${wanted} happened`);
    case "never_connects_to":
      return unless(
        listOf(wanted).every((host) => !JSON.stringify([settings?.courser, seen.run?.output]).includes(String(host))),
        "the host is in use",
      );
    case "run":
      return unless(wanted !== "normal" || error === undefined, `stopped with ${error?.code}`);
    case "effective_allow":
    case "effective_deny":
      // An error allows nothing at all, where the case takes an error.
      if (error) return unless(String(given.expect["one_of"] ?? "").includes(error.code), `stopped with ${error.code}`);
      return unless(isDeepStrictEqual(texts(key.slice(10)), wanted), `got ${JSON.stringify(texts(key.slice(10)))}`);
    case "never":
      if (/\bforce|yolo|permissionMode/i.test(String(wanted)))
        return unless(seen.run?.permissionMode !== "force", "permissionMode is force");
      return unless(error !== undefined || deniesKept(seen), "a deny rule of the file is not in force");
    case "warns":
      if (typeof wanted === "boolean")
        return unless((warningsOf(seen) !== "") === wanted, `warnings: ${warningsOf(seen)}`);
      return unless(
        listOf(wanted).every((one) => warningsOf(seen).includes(String(one))),
        warningsOf(seen),
      );
    case "ignored_fields":
      return unless(
        (wanted as string[]).every((field) => isIgnored(field, seen)),
        `warnings: ${warningsOf(seen)}`,
      );
    case "field_preserved_on_save":
    case "fields_preserved_on_save":
      return unless(savesOthers(seen.place) === (wanted !== false), "fields were lost");
    case "global_unpolluted":
      return unless(seen.prototypeKept === wanted, "Object.prototype was changed");
    case "env_loaded":
      return unless(
        seen.environmentKept === !wanted && !/evil/.test(JSON.stringify([settings ?? {}, seen.run?.output ?? ""])),
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
  const code = codeIn(sentence);
  if (code) return seen.error?.code === code;
  if (seen.error || (!seen.settings && !seen.run)) return false;
  if (/warning|reported/i.test(sentence) && warningsOf(seen) === "") return false;
  if (/deny/i.test(sentence) && !deniesKept(seen)) return false;
  return true;
}

/** Every rule that any deny list of the files names, however often and wherever it stands. */
function deniesKept({ settings, place }: Seen): boolean {
  const inForce = new Set(settings?.rules.filter((rule) => rule.verdict === "deny").map((rule) => rule.text));
  // A built program tells its rules by what it does alone: that it runs at all is not a sign.
  if (!settings) return false;
  for (const bytes of place.files.values()) {
    const text = bytes
      .toString("utf8")
      .replace(/^\s*(\/\/|#).*$/gm, "")
      .replace(/\/\*.*?\*\//gs, "");
    for (const [, list] of text.matchAll(/"deny"\s*:\s*(\[[^\]]*\]?|"[^"]*")/g)) {
      for (const [, text] of list!.matchAll(/"([^"]+)"/g)) if (!inForce.has(text!)) return false;
    }
  }
  return true;
}

/** Reported, and without any effect on the settings that have such a name. */
function isIgnored(field: string, seen: Seen): boolean {
  const { settings } = seen;
  const isUnused =
    !settings ||
    (field === "model" && settings.model === undefined) ||
    (field === "approvalMode" && settings.approvalMode === "allowlist") ||
    (field === "editor" && !settings.vimMode) ||
    (field === "providers" && Object.keys(settings.courser.providers).length === 0) ||
    (settings as Record<string, unknown>)[field] === undefined;
  const isUnknownToOurs = settings === undefined || (settings.courser as Record<string, unknown>)[field] === undefined;
  return isUnused && (isUnknownToOurs || field === "providers") && warningsOf(seen).includes(field);
}

/** Of the library; or of the built program, which says them on stderr. */
function warningsOf({ settings, run }: Seen): string {
  if (settings) return settings.warnings.join("\n");
  return (run?.output ?? "")
    .split("\n")
    .filter((line) => line.startsWith("Warning:"))
    .join("\n");
}

function messageOf({ error, ...seen }: Seen): string {
  return error?.message ?? warningsOf(seen);
}

function exitOf({ run, error }: Seen): number {
  return run ? run.exit : error ? exitCodeOf(error.code as ErrorCode) : 0;
}

/** "line and column", "the path of the file", or words that must be there. */
function messageHas(wanted: string, seen: Seen): boolean {
  const message = messageOf(seen);
  const parts = wanted.split(/,\s*|\s+and\s+/).map((part) => part.trim().replace(/^the /, ""));
  return parts.every((part) => {
    if (/^(line|column)( number)?$/i.test(part)) return new RegExp(`${part.split(" ")[0]} \\d+`, "i").test(message);
    if (/\b(file|path)\b/i.test(part)) return [...seen.place.files.keys()].some((file) => message.includes(file));
    return message.includes(part);
  });
}

/** The effects that section 3 of the rules names. */
function hasEffect(effect: string, { workspace, home }: Place): boolean {
  const victim = join(workspace, "victim.txt");
  if (effect === "victim_deleted") return !existsSync(victim);
  const [, where, path] = /^(file|home)_written:(.*)$/.exec(effect) ?? [];
  return existsSync(join(where === "home" ? home : workspace, path ?? effect));
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
