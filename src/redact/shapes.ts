// Finds tokens by their prefix: lists what each vendor's keys look like.
import {
  type CharacterSet,
  hasRandomStretch,
  looksRandom,
  runEnd,
  runStart,
  type SetName,
  setOf,
} from "./characters.ts";
import type { Span } from "./span.ts";

/**
 * `least`: characters after the prefix. `exact`: and no more. `check`: needed where the prefix is a common word: `random` requires a digit
 * or mixed case, `stretch` at least twelve letters and digits in a row, with both letters and digits among them.
 */
type SecretShape = { set: SetName; least: number; prefixes: string; exact?: true; check?: "random" | "stretch" };

/** Vendors lengthen keys more often than they shorten them, so the minimum lengths are below today's. */
const table: readonly SecretShape[] = [
  // GitHub, GitLab, npm, PyPI, RubyGems, NuGet, crates.io, Docker, Clojars
  { set: "snake", least: 24, prefixes: "ghp_ gho_ ghu_ ghs_ ghr_" },
  { set: "snake", least: 22, prefixes: "github_pat_", check: "random" },
  {
    set: "dotted",
    least: 16,
    check: "random",
    prefixes:
      "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glffct- glimt- glagent- gloas- glwt- GR1348941 _gitlab_session=",
  },
  { set: "alphanumeric", least: 24, prefixes: "npm_ cio" },
  { set: "word", least: 32, prefixes: "pypi-" },
  { set: "hex", least: 32, prefixes: "rubygems_" },
  { set: "alphanumeric", least: 43, prefixes: "oy2", exact: true },
  { set: "word", least: 20, prefixes: "dckr_pat_ dckr_oat_", check: "random" },
  { set: "alphanumeric", least: 40, prefixes: "CLOJARS_" },
  // Model providers
  { set: "word", least: 20, prefixes: "sk-", check: "stretch" },
  { set: "word", least: 16, prefixes: "sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-lf-", check: "random" },
  { set: "alphanumeric", least: 24, prefixes: "key_ crsr_", check: "random" },
  {
    set: "alphanumeric",
    least: 24,
    check: "random",
    prefixes: "hf_ api_org_ r8_ gsk_ pplx- xai- csk- jina_ rpa_ esecret_ fc- apify_api_",
  },
  { set: "word", least: 20, prefixes: "nvapi- tgp_v1_ tvly- lsv2_pt_ lsv2_sk_ pa- e2b_ fw_", check: "stretch" },
  // Cloud providers
  { set: "upper", least: 16, prefixes: "AKIA ASIA ABIA ACCA", exact: true },
  { set: "base64", least: 80, prefixes: "ABSK" },
  { set: "word", least: 30, prefixes: "AIza" },
  { set: "dotted", least: 20, prefixes: "ya29. GOCSPX-", check: "random" },
  { set: "word", least: 40, prefixes: "1//0", check: "stretch" },
  { set: "alphanumeric", least: 12, prefixes: "LTAI", check: "random" },
  { set: "hex", least: 40, prefixes: "dop_v1_ doo_v1_ dor_v1_ sbp_ pul- bkua_ squ_ sqp_ sqa_ sgp_" },
  { set: "hex", least: 32, prefixes: "dapi shpat_ shpca_ shppa_ shpss_ shptka_ shippo_live_ shippo_test_ key-" },
  { set: "dotted", least: 24, prefixes: "hvs. hvb. hvr. dp.pt. dp.st. dp.ct. dp.sa. dt0c01. dt0s01.", check: "random" },
  { set: "dotted", least: 30, prefixes: "pscale_tkn_ pscale_pw_ pscale_oauth_ tfp_ .atlasv1.", check: "random" },
  { set: "word", least: 20, prefixes: "tskey- sb_secret_ figd_ nfp_ rnd_ napi_", check: "stretch" },
  { set: "base64", least: 40, prefixes: "fm1a_ fm1r_ fm2_ fo1_" },
  { set: "word", least: 36, prefixes: "HRKU-", check: "stretch" },
  { set: "word", least: 100, prefixes: "v1.0-", check: "stretch" },
  { set: "alphanumeric", least: 32, prefixes: "AKID", check: "random" },
  { set: "alphanumeric", least: 20, prefixes: "vercel_ CCIPAT_", check: "random" },
  { set: "word", least: 43, prefixes: "sha256~ CFPAT-" },
  { set: "upper", least: 58, prefixes: "AGE-SECRET-KEY-1" },
  { set: "base64", least: 80, prefixes: "ops_eyJ" },
  // Chat and mail
  {
    set: "dotted",
    least: 10,
    prefixes: "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe. xoxc- xoxd- xapp- xwfp-",
    check: "random",
  },
  { set: "dotted", least: 40, prefixes: "SG." },
  { set: "hex", least: 32, prefixes: "SK", exact: true },
  { set: "word", least: 40, prefixes: "xkeysib- xsmtpsib- PMAK-" },
  { set: "snake", least: 20, prefixes: "re_ mlsn_", check: "stretch" },
  // Payments
  { set: "snake", least: 10, prefixes: "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", check: "random" },
  { set: "base64", least: 16, prefixes: "whsec_", check: "random" },
  { set: "word", least: 22, prefixes: "sq0atp- sq0csp- sq0idp- FLWSECK- FLWSECK_TEST- duffel_live_ duffel_test_" },
  { set: "alphanumeric", least: 50, prefixes: "EZAK EZTK EAA", check: "random" },
  // Work tools
  { set: "word", least: 40, prefixes: "ATATT3 ATCTT3" },
  {
    set: "alphanumeric",
    least: 20,
    prefixes: "ATBB ATTA NRAK- NRII- NRJS- ico- lin_api_ lin_oauth_ ntn_ secret_ rdme_",
    check: "stretch",
  },
  { set: "dotted", least: 79, prefixes: "pat", exact: true, check: "stretch" },
  { set: "base64", least: 40, prefixes: "sntrys_ sntryu_ sntryi_ glc_ eyJrIjoi" },
  { set: "snake", least: 32, prefixes: "glsa_" },
  { set: "alphanumeric", least: 32, prefixes: "phc_ phx_ pnu_", check: "random" },
  { set: "word", least: 30, prefixes: "pat-na1- pat-eu1-", check: "stretch" },
  { set: "dotted", least: 100, prefixes: "sl.", check: "random" },
  // Any vendor's, as defined by RFC 8959
  { set: "bearer", least: 12, prefixes: "secret-token:", check: "random" },
  { set: "alphanumeric", least: 59, prefixes: "AKCp cmVmd" },
  { set: "word", least: 35, prefixes: "AQVN" },
  { set: "upper", least: 26, prefixes: "API-", exact: true, check: "random" },
  { set: "word", least: 34, prefixes: "A3-", check: "random" },
];

type CompiledShape = Omit<SecretShape, "set"> & { set: CharacterSet };
type CompiledShapes = { trigger: RegExp; shapes: Map<string, CompiledShape> };

let compiled: CompiledShapes | undefined;

function compile(): CompiledShapes {
  const shapes = new Map<string, CompiledShape>();
  for (const shape of table) {
    const compiledShape = { ...shape, set: setOf(shape.set) };
    for (const prefix of shape.prefixes.split(" ")) shapes.set(prefix, compiledShape);
  }
  const longestFirst = [...shapes.keys()].sort((one, other) => other.length - one.length);
  const escaped = longestFirst.join("|").replace(/[.~=/]/g, "\\$&");
  return { shapes, trigger: new RegExp(`${escaped}|eyJ|Q~|:AA|\\.(?=[\\w-]{6}\\.[\\w-]{27})`, "g") };
}

/** `isSeam` returns whether a terminal sequence was removed right before a character. */
export function findShapes(text: string, isSeam: (at: number) => boolean): Span[] {
  compiled ??= compile();
  const { trigger, shapes } = compiled;
  const spans: Span[] = [];
  // Where a JSON web token was looked for in vain: no other begins in the same run.
  let noTokenBefore = 0;
  trigger.lastIndex = 0;
  for (let match = trigger.exec(text); match; match = trigger.exec(text)) {
    const [prefix] = match;
    const at = match.index;
    const shape = shapes.get(prefix);
    let span: Span | undefined;
    if (!shape && prefix !== "eyJ") span = byTheMiddle(text, at, prefix);
    else if (!startsWord(text, at, prefix, isSeam)) continue;
    else if (shape) span = tokenAt(text, at, prefix, shape);
    else if (at >= noTokenBefore) {
      noTokenBefore = runEnd(text, at, setOf("dotted"));
      span = webToken(text, at, noTokenBefore);
    }
    if (!span) continue;
    spans.push(span);
    trigger.lastIndex = Math.max(span.end, trigger.lastIndex);
  }
  trigger.lastIndex = 0;
  return spans;
}

/** Returns the token that starts with `prefix`, or undefined if the characters after it do not fit the shape. */
function tokenAt(text: string, start: number, prefix: string, shape: CompiledShape): Span | undefined {
  const from = start + prefix.length;
  const { set } = shape;
  // Reads only as much as is needed. A run of megabytes is read to its end once, if it is a token, not for every prefix in it.
  const runLimit = runEnd(text, from, set, from + Math.max(64, shape.least + 1));
  const length = runLimit - from;
  if (length < shape.least || (shape.exact && (length > shape.least || isWordCharacter(text.charCodeAt(runLimit)))))
    return undefined;
  const body = text.slice(from, runLimit);
  if (shape.check === "random" && !looksRandom(body)) return undefined;
  if (shape.check === "stretch" && !hasRandomStretch(body, 12)) return undefined;
  return { start, end: runEnd(text, runLimit, set) };
}

/** Matches JSON web tokens: header and payload, with or without a signature. */
function webToken(text: string, start: number, end: number): Span | undefined {
  const word = setOf("word");
  const header = runEnd(text, start, word);
  const payload = runEnd(text, header + 1, word);
  if (text[header] !== "." || header - start < 12 || payload - header < 9) return undefined;
  return { start, end: text[end - 1] === "." ? end - 1 : end };
}

/** Matches tokens with a fixed middle and a free start: Microsoft Entra secrets, Telegram and Discord bots. */
function byTheMiddle(text: string, at: number, middle: string): Span | undefined {
  if (middle !== "." && !/\d/.test(text[at - 1] ?? "")) return undefined;
  if (middle === "Q~") {
    const end = runEnd(text, at + 2, setOf("entra"), at + 64);
    const start = runStart(text, at, setOf("entra"), 5);
    return at - start === 4 && end - at >= 30 && end - at <= 42 ? { start, end } : undefined;
  }
  if (middle === ":AA") {
    const start = runStart(text, at, setOf("alphanumeric"), 24);
    const end = runEnd(text, at + 1, setOf("word"));
    return /^(?:bot)?\d{6,16}$/.test(text.slice(start, at)) && end - at >= 32 ? { start, end } : undefined;
  }
  const start = runStart(text, at, setOf("word"), 30);
  if (!/^[MNO][\w-]{22,28}$/.test(text.slice(start, at))) return undefined;
  return { start, end: runEnd(text, at, setOf("dotted")) };
}

/**
 * Returns whether a prefix begins a word. Inside a longer run it is a coincidence: images and hashes contain every short word. The letter
 * before it may end an escape (`\n`, `%20`, a colour), and a dash may join a name to a key: `turn-ghp_…`.
 */
function startsWord(text: string, at: number, prefix: string, isSeam: (at: number) => boolean): boolean {
  const before = text.charCodeAt(at - 1);
  // Letters and digits only, which base64 contains everywhere.
  const isPlain = /^[A-Za-z0-9]+$/.test(prefix);
  if (prefix.startsWith(".")) return true;
  if (!isWordCharacter(before) && !(isPlain && (before === 43 || before === 47))) return true;
  // Long enough, and with punctuation, so that it is never a coincidence.
  const isRare = prefix.length >= 4 && /[_-]/.test(prefix);
  if (isRare && (before === 45 || before === 95)) return true;
  if (isSeam(at)) return true;
  // No escape ends in one of these.
  return before !== 45 && before !== 95 && endsEscape.test(text.slice(Math.max(0, at - 24), at));
}

const endsEscape = /(?:\\[nrtbf]|\\u[0-9a-f]{4}|%[0-9a-f]{2}|(?:\x1b|\\u001b|\\x1b|\\033|\\e)\[[0-9;]*[A-Za-z])$/i;

/** Matches letters, digits, `_` and `-`. */
function isWordCharacter(code: number): boolean {
  return setOf("word")[code] === 1;
}
