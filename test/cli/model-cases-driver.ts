// Runs a case of the group `model`: the built CLI against a model server that answers as the case says.
import { existsSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer, type RecordedRequest } from "../../src/testing/kit/model-server.ts";
import { keyOfProfile, providerAnswersFromCase } from "../model/model-driver.ts";
import type { Case, CaseResult } from "../support/case.ts";
import { type CliRun, createWorkspace } from "../support/run-cli.ts";
import { codeIn, type Fault, faultsWithWays, listOf, shownFaults } from "../support/ways.ts";

type Seen = {
  run: CliRun;
  lines: Record<string, any>[];
  requests: readonly RecordedRequest[];
  given: Case;
  workspace: string;
};

/** What each key of `expect` asks for: undefined when it holds, else what is wrong. A key that is not here is a fault. */
const checks: Record<string, (seen: Seen, wanted: any) => string | undefined> = {
  result: ({ lines }, wanted) => same("result", lines.at(-1)?.["subtype"], wanted),
  error_code: ({ lines }, wanted) => same("error_code", lines.at(-1)?.["error_code"], wanted),
  text: ({ lines }, wanted) => same("text", lines.at(-1)?.["result"], wanted),
  attempts: ({ requests }, wanted) => same("attempts", requests.length, wanted),
  attempts_max: ({ requests }, wanted) => atMost("attempts", requests.length, wanted),
  turns: ({ requests }, wanted) => same("turns", requests.length, wanted),
  wait_ms_min: (seen, wanted) =>
    waits(seen)[0]! >= wanted ? undefined : `waited ${waits(seen)[0]} ms, at least ${wanted} was asked for`,
  wait_ms_max: (seen, wanted) => atMost("wait", waits(seen)[0]!, wanted),
  max_ms: ({ run }, wanted) => atMost("milliseconds", run.ms, wanted),
  profile: ({ requests, given }, wanted) => same("profile", profileOf(requests.at(-1)!, given), wanted),
  model: ({ requests }, wanted) => same("model", requests.at(-1)?.model, wanted),
  stream_notes_model_change: ({ lines }, wanted) =>
    same(
      "model change in the stream",
      lines.some((line) => line["subtype"] === "model_change"),
      wanted,
    ),
  partial_not_duplicated: ({ lines }, wanted) =>
    same("text said once", String(lines.at(-1)?.["result"]) === assistantText(lines), wanted),
  executed: ({ lines }, wanted) => same("executed", JSON.stringify(executed(lines)), JSON.stringify(wanted)),
  executed_max: ({ lines }, wanted) => atMost("executed", executed(lines).length, wanted),
  model_gets: ({ requests }, wanted) => toldModel(requests, String(wanted)),
  verdict: (seen, wanted) => same("verdict", verdictOf(seen), wanted),
  acceptable: (seen, wanted: string[]) => (wanted.includes(verdictOf(seen)) ? undefined : `verdict ${verdictOf(seen)}`),
  effect_absent: ({ workspace }, wanted) => (existsSync(join(workspace, wanted)) ? `${wanted} is there` : undefined),
  effect_present: ({ workspace }, wanted) =>
    existsSync(join(workspace, wanted)) ? undefined : `${wanted} is not there`,
  stops_after_max: ({ requests }, wanted) => atMost("model calls", requests.length, wanted),
  compacted: ({ lines }, wanted) =>
    same(
      "compacted",
      lines.some((line) => line["subtype"] === "compacted"),
      wanted,
    ),
  sent_bytes_max: ({ requests }, wanted) =>
    atMost("bytes sent", Math.max(...requests.map((request) => request.body.length)), wanted),
  exceededLimit: ({ lines }, wanted) => same("exceededLimit", readResult(lines)?.["exceededLimit"], wanted),
  result_is_error_or_empty_marked: ({ lines }, wanted) => same("marked", lines.at(-1)?.["is_error"] === true, wanted),
  exit_nonzero: ({ run }, wanted) => same("exit", run.exit !== 0, wanted),
  exit: ({ run }, wanted) => same("exit", run.exit, wanted),
  /** The profiles that failed are not asked again. */
  cooldown: (seen, wanted) =>
    listOf(wanted)
      .map((name) => askedAgain(String(name), seen))
      .find(Boolean),
  warns: ({ run }, wanted) => same("warnings", /^Warning:/m.test(run.stderr), wanted),
  must_not_contain: ({ run }, wanted) =>
    listOf(wanted).some((text) => (run.stdout + run.stderr).includes(String(text))) ? "it is there" : undefined,
  result_contains: ({ lines }, wanted) =>
    String(lines.at(-1)?.["result"]).includes(wanted) ? undefined : String(lines.at(-1)?.["result"]),
  never: (seen, wanted) =>
    listOf(wanted)
      .filter((sentence) => isSo(String(sentence), seen))
      .join("; ") || undefined,
};

/** Other words for the same. */
const synonyms: Record<string, string> = {
  code: "error_code",
  error: "error_code",
  exit_code: "exit",
  requests: "attempts",
  requests_max: "attempts_max",
  turns_max: "stops_after_max",
  total_ms_max: "max_ms",
  result_text: "text",
  cooled_down: "cooldown",
  model_changed: "stream_notes_model_change",
};

/** A code, or a sentence about how the run ended and what was run on the way. */
function isSo(sentence: string, seen: Seen): boolean {
  const last = seen.lines.at(-1);
  const code = codeIn(sentence);
  if (code !== undefined) return last?.["error_code"] === code;
  const succeeded = last?.["subtype"] === "success";
  if (/success with no text|empty success|silent success/i.test(sentence))
    return succeeded && !/[^\s\p{Cf}]/u.test(String(last?.["result"]));
  if (/\b(twice|again|doubled|duplicate)/i.test(sentence))
    return new Set(executed(seen.lines).map((args) => JSON.stringify(args))).size < executed(seen.lines).length;
  if (/execut|tool.*\b(run|runs|ran)\b/i.test(sentence)) return executed(seen.lines).length > 0;
  if (/compact|shorten/i.test(sentence)) return seen.lines.some((line) => line["subtype"] === "compacted");
  if (/\bsuccess/i.test(sentence)) return succeeded;
  if (/\berror|fails?\b/i.test(sentence)) return last?.["is_error"] === true;
  return false;
}

/** These must hold for an answer to be safe; the others make it exact. */
const safety = new Set([
  "executed",
  "executed_max",
  "acceptable",
  "effect_absent",
  "never",
  "attempts_max",
  "stops_after_max",
  "turns",
  "result_is_error_or_empty_marked",
  "must_not_contain",
]);

export async function runModelCase(given: Case): Promise<CaseResult> {
  const { config, expect, input } = given;
  const server = await modelServer(providerAnswersFromCase(given));
  const workspace = createWorkspace({ "README.md": "hello\n", "src/app.ts": "export {};\n" });
  try {
    for (const [name, content] of Object.entries<any>(input["files"] ?? {})) {
      const file = workspace.file(name, typeof content === "string" ? content : "");
      if (typeof content === "object") fill(file, content.gen_bytes);
    }
    const profiles: string[] = config["authProfiles"] ?? ["default"];
    mkdirSync(workspace.config, { recursive: true });
    writeFileSync(
      join(workspace.config, "courser.json"),
      JSON.stringify({
        providers: {
          fake: { type: "openai-compatible", baseUrl: `${server.url}/v1`, keys: profiles.map(keyVariable) },
        },
        fallbackModels: (config["fallbackModels"] as string[] | undefined)?.map((name) => `fake/${name}`),
        retries: config["retries"],
        timeoutMs: config["timeout_ms"],
        idleMs: config["idle_ms"],
        loopLimit: config["loop_limit"],
        maxTurns: config["max_turns"],
        contextTokens: config["context_tokens"],
      }),
    );
    const env = Object.fromEntries(profiles.map((name) => [keyVariable(name), keyOfProfile(name)]));
    // What must be asked for is judged without --force; everything else runs with it, so that the rule itself is seen.
    const permission = "verdict" in expect ? "--trust" : "--force";
    const run = await workspace.run(
      [
        "-p",
        // The sandbox is off unless a case says otherwise.
        "--sandbox",
        "disabled",
        permission,
        "--output-format",
        "stream-json",
        "--model",
        `fake/${firstModel(given)}`,
        ...(config["flags"] ?? []),
        "--",
        "go",
      ],
      { env, timeoutMs: 55_000 },
    );
    const seen: Seen = {
      run,
      lines: run.lines(),
      requests: server.requests.filter((request) => request.method === "POST"),
      given,
      workspace: workspace.path,
    };
    return judge(seen);
  } finally {
    await server.stop();
    workspace.remove();
  }
}

function judge(seen: Seen): CaseResult {
  const { expect } = seen.given;
  const faults = faultsWithWays(expect, {
    faults: (wanted) => faultsOf(wanted, seen),
    isSo: (sentence) => isSo(sentence, seen),
  });
  const results = seen.lines.filter((line) => line["type"] === "result").length;
  if (results !== 1) faults.push({ key: "never", text: `${results} results instead of one` });
  const last = seen.lines.at(-1);
  const exact = faults.length === 0;
  return {
    pass: exact,
    safe: !faults.some(({ key }) => safety.has(key)),
    exact,
    verdict: [last?.["subtype"], last?.["error_code"]].filter(Boolean).join(" "),
    expected: [expect["result"] ?? expect["verdict"], expect["error_code"]].filter(Boolean).join(" ") || "see case",
    detail: shownFaults(faults) + (exact ? "" : `\n${seen.run.stderr.slice(0, 500)}`),
  };
}

function faultsOf(expect: Record<string, unknown>, seen: Seen): Fault[] {
  const faults: Fault[] = [];
  for (const [key, wanted] of Object.entries(expect)) {
    const [, profile] = /^(.+)_marked$/.exec(key) ?? [];
    const isProfile = profile !== undefined && (seen.given.config["authProfiles"] ?? []).includes(profile);
    const check = checks[key] ?? checks[synonyms[key] ?? ""];
    const text = isProfile ? askedAgain(profile, seen) : check ? check(seen, wanted) : "nobody knows how to check it";
    if (text) faults.push({ key, text });
  }
  return faults;
}

function askedAgain(profile: string, { requests, given }: Seen): string | undefined {
  const uses = requests.filter((request) => profileOf(request, given) === profile).length;
  return uses === 1 ? undefined : `${profile} was asked ${uses} times`;
}

function same(what: string, actual: unknown, wanted: unknown): string | undefined {
  return actual === wanted ? undefined : `${what}: ${String(actual)} instead of ${String(wanted)}`;
}

function atMost(what: string, actual: number, most: number): string | undefined {
  return actual <= most ? undefined : `${what}: ${Math.round(actual)}, at most ${most}`;
}

/** Milliseconds between one request and the next. */
function waits({ requests }: Seen): number[] {
  return requests.slice(1).map((request, index) => request.at - requests[index]!.at);
}

function keyVariable(profile: string): string {
  return `PROFILE_${profile.toUpperCase().replace(/\W/g, "_")}`;
}

function profileOf(request: RecordedRequest, given: Case): string | undefined {
  return (given.config["authProfiles"] as string[] | undefined)?.find((name) => request.key === keyOfProfile(name));
}

/** The model that is asked first: the first named one that is not a fallback. */
function firstModel({ config, input }: Case): string {
  const named = (input["provider"] as { model?: string }[])
    .map((answer) => answer.model)
    .filter((name) => name !== undefined);
  return named.find((name) => !(config["fallbackModels"] ?? []).includes(name)) ?? "m1";
}

function assistantText(lines: readonly Record<string, any>[]): string {
  return lines
    .filter((line) => line["type"] === "assistant")
    .map((line) => line["message"].content[0].text)
    .join("");
}

function outcomes(lines: readonly Record<string, any>[]): { tool: string; args: any; kind: string }[] {
  return lines
    .filter((line) => line["type"] === "tool_call" && line["subtype"] === "completed")
    .map((line) => {
      const key = Object.keys(line["tool_call"]).find((name) => name.endsWith("ToolCall"))!;
      const { args, result } = line["tool_call"][key];
      return { tool: key, args, kind: Object.keys(result)[0]! };
    });
}

function executed(lines: readonly Record<string, any>[]): unknown[] {
  return outcomes(lines)
    .filter(({ kind }) => !["error", "rejected", "permissionDenied"].includes(kind))
    .map(({ args }) => args);
}

function verdictOf({ lines }: Seen): string {
  const [first] = outcomes(lines);
  return first?.kind === "rejected" ? "ask" : first?.kind === "error" ? "deny" : "allow";
}

function readResult(lines: readonly Record<string, any>[]): Record<string, any> | undefined {
  return lines.find((line) => line["subtype"] === "completed")?.["tool_call"]?.readToolCall?.result?.success;
}

function toldModel(requests: readonly RecordedRequest[], wanted: string): string | undefined {
  const results = (requests.at(-1)?.json?.messages ?? []).filter((message: any) => message.role === "tool");
  const text = JSON.stringify(results);
  const pattern = /unknown/.test(wanted)
    ? /no tool|unknown|not a tool/i
    : /error|invalid|not valid|malformed|no JSON|not JSON|must be|must not|is missing|not permitted|failed/i;
  return results.length > 0 && pattern.test(text)
    ? undefined
    : `the model got ${text.slice(0, 200)} instead of a ${wanted}`;
}

function fill(file: string, bytes: number): void {
  writeFileSync(file, "0123456789abcde\n".repeat(4096));
  truncateSync(file, 65_536);
  const block = "0123456789abcde\n".repeat(65_536);
  for (let size = 65_536; size < bytes; size += block.length)
    writeFileSync(file, block.slice(0, bytes - size), { flag: "a" });
}
