// Runs a case of the group `store`: plays its scenario and compares what is seen with `expect`, key by key.
import type { Case, CaseResult } from "../support/case.ts";
import { codeIn, type Fault, faultsWithWays, listOf, shownFaults } from "../support/ways.ts";
import { playOverCli } from "./store-cli.ts";
import { playScenario } from "./store-scenarios.ts";
import type { StoreSeen } from "./store-seen.ts";

export async function runStoreCase(
  given: Pick<Case, "input" | "expect">,
  options: { driver?: "library" | "cli"; long?: boolean } = {},
): Promise<CaseResult> {
  const overCli = options.driver === "cli" ? await playOverCli(given.input) : undefined;
  const seen = overCli ?? (await playScenario(given.input, { long: options.long ?? false }));
  if (typeof seen === "string") return { ...resultOf(given, []), pass: false, skipped: seen };
  const faults = faultsWithWays(given.expect, {
    faults: (expect) => faultsOf(expect, seen, options),
    isSo: (sentence) => isSo(sentence, seen),
  });
  return resultOf(given, faults);
}

/** What was slow or named differently harmed nobody. */
const harmless = /^(max_ms|waits|rounds|unknown)$/;

function resultOf(given: Pick<Case, "expect">, faults: Fault[]): CaseResult {
  const pass = faults.length === 0;
  return {
    pass,
    safe: faults.every(({ key }) => harmless.test(key)),
    exact: pass,
    verdict: pass ? "as expected" : "different",
    expected: JSON.stringify(given.expect),
    detail: shownFaults(faults),
  };
}

type Check = (wanted: any, seen: StoreSeen, options: { long?: boolean }) => boolean;

const checks: Record<string, Check> = {
  integrity_check: (wanted, seen) => seen.integrity === wanted,
  acknowledged_events_lost: (wanted, seen) => seen.lost === wanted,
  resume_works: (wanted, seen) => seen.resumes === wanted,
  // Fewer in the short form.
  rounds: (wanted, seen, { long }) => seen.rounds === wanted || (!long && (seen.rounds ?? 0) > 0),
  dangling_tool_call: (wanted, seen) => /interrupted/.test(wanted) && seen.interrupted?.length === 1,
  not_rerun: (wanted, seen) => seen.rerun === !wanted,
  exit_nonzero: (wanted, seen) => (seen.exit !== 0) === wanted,
  error_code: (wanted, seen) => seen.errorCode === wanted,
  after_space_freed: (wanted, seen) => /resume works/.test(wanted) && seen.resumesAfterwards === true,
  not_acknowledged_after_error: (wanted, seen) => seen.keptAfterError === !wanted,
  run: (_wanted, seen) => seen.startedUnkept === false,
  original_kept_as: (wanted, seen) => {
    const pattern = new RegExp(`^${String(wanted).replaceAll(".", "\\.").replaceAll("*", ".+")}$`);
    return seen.isAsideWhole === true && seen.keptAside!.every((name) => pattern.test(name));
  },
  other_chats_unaffected: (wanted, seen) => seen.othersWork === wanted,
  not_silently_new: (wanted, seen) => seen.isNew === !wanted,
  committed_prefix: (wanted, seen) => seen.isPrefix === wanted,
  lists_missing: (wanted, seen) => seen.namesMissing === wanted,
  older_root_offered: (wanted, seen) => seen.offersOlder === wanted,
  not_sent_to_model: (wanted, seen) => seen.reachesModel === !wanted,
  waits: (wanted, seen) => seen.waited === wanted,
  INV_holds: (wanted, seen) => (seen.integrity === "ok" && seen.lost === 0) === wanted,
  max_ms: (most, seen) => seen.ms! <= most,
  file_modes: (wanted, seen) => Object.entries(wanted).every(([name, mode]) => modeOf(name, seen) === mode),
  no_file_access_outside: (wanted, seen) => seen.readsOutside === !wanted,
  order_kept: (wanted, seen) => seen.isOrdered === wanted,
  roundtrip: (wanted, seen) => String(wanted).includes(seen.roundtrip!) && seen.roundtrip !== "truncated",
};

/** Other words for the same. */
const synonyms: Record<string, string> = {
  code: "error_code",
  error: "error_code",
  events_lost: "acknowledged_events_lost",
  lost: "acknowledged_events_lost",
  resumes: "resume_works",
  integrity: "integrity_check",
  others_unaffected: "other_chats_unaffected",
  kept_as: "original_kept_as",
  ordered: "order_kept",
};

function faultsOf(expect: Record<string, unknown>, seen: StoreSeen, options: { long?: boolean }): Fault[] {
  const faults: Fault[] = [];
  for (const [key, wanted] of Object.entries(expect)) {
    const check = checks[key] ?? checks[synonyms[key] ?? ""];
    if (key === "never") {
      for (const one of listOf(wanted))
        if (typeof one === "string" && isSo(one, seen)) faults.push({ key, text: `${one} happened` });
    } else if (!check) faults.push({ key: "unknown", text: `nobody knows how to check ${key}` });
    else if (!check(wanted, seen, options))
      faults.push({ key, text: `should be ${JSON.stringify(wanted)}: ${JSON.stringify(seen)}` });
  }
  return faults;
}

/** A code, or the state that a chat is in. */
function isSo(sentence: string, seen: StoreSeen): boolean {
  const code = codeIn(sentence);
  if (code !== undefined) return seen.errorCode === code;
  if (/all events|both run/.test(sentence)) return seen.errorCode === undefined && seen.lost === 0;
  if (seen.chats) return seen.chats.every((each) => each === "absent" || each === "complete and usable");
  if (/lost/.test(sentence)) return (seen.lost ?? 0) > 0;
  return false;
}

/** `chats dir` is a folder, `store.db` a file. */
function modeOf(name: string, seen: StoreSeen): string | undefined {
  const found = seen.modes ?? {};
  return found[name] ?? found[`${name} dir`] ?? found[name.replace(/ (folder|directory)$/, " dir")];
}
