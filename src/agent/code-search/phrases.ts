// Phrases that mean one thing: phrasal verbs, idioms, expanded acronyms, HTTP status codes.
import { each } from "../../text/words.ts";
import { stem } from "./stem.ts";

/** Maps everyday phrases to programming terms. `_` matches one to four words, `|` separates alternatives. */
const turns: readonly [said: string, terms: string][] = [
  ["at the same time", "concurrent parallel simultaneous"],
  ["one after the other | one after another", "sequential series chain next"],
  ["one by one", "each sequential iterate"],
  ["step by step", "incremental iterate"],
  ["put _ together | put together", "combine merge join concat"],
  ["bring _ together", "combine merge join"],
  ["take _ apart | taken apart", "parse split decompose"],
  ["pull _ apart", "parse split"],
  ["break _ up", "split chunk segment"],
  ["break down", "split parse"],
  ["left out", "omit missing undefined optional exclude"],
  ["leave _ out", "omit exclude skip"],
  ["turn _ into", "convert transform to"],
  ["turned into", "convert transform"],
  ["turned on", "enable"],
  ["turned off", "disable"],
  ["switch on", "enable activate"],
  ["switch off", "disable deactivate"],
  ["look up", "lookup resolve find"],
  ["look ups", "lookup resolve"],
  ["find out | found out", "detect determine"],
  ["figure out", "detect determine infer"],
  ["log in", "login auth sign"],
  ["sign in", "login auth"],
  ["log out", "logout"],
  ["sign up", "register signup"],
  ["carry out | carried out", "execute perform run"],
  ["play back | played back", "replay playback"],
  ["set up", "setup init configure"],
  ["shut down", "shutdown close stop"],
  ["clean up | cleaned up", "cleanup dispose teardown"],
  ["hand on", "forward pass"],
  ["pass on", "forward propagate"],
  ["hand along | handing _ along", "pass propagate"],
  ["under way", "pending inflight ongoing"],
  ["in flight", "pending inflight"],
  ["in progress", "pending ongoing"],
  ["in the place of", "replace mock substitute"],
  ["instead of", "replace substitute override"],
  ["get rid of", "remove delete"],
  ["keep track of", "track monitor"],
  ["keep apart", "separate isolate"],
  ["make sure", "ensure assert validate"],
  ["try again | tried again", "retry backoff"],
  ["run again", "rerun retry"],
  ["used again | use again", "reuse cache"],
  ["too long", "timeout deadline exceed"],
  ["too large | too big", "limit exceed max"],
  ["too many", "limit exceed throttle rate"],
  ["too often", "throttle rate limit debounce"],
  ["larger than", "limit max exceed size"],
  ["longer than", "limit max exceed timeout"],
  ["at most", "max limit"],
  ["at least", "min"],
  ["no longer", "expire stale obsolete"],
  ["not modified | nothing _ modified", "etag unmodified"],
  ["in the background", "background async daemon"],
  ["in order", "sort order sequence"],
  ["up to date", "fresh current sync"],
  ["out of date", "stale expire obsolete"],
  ["go on", "continue next resume"],
  ["go back", "back previous history undo"],
  ["hold back", "defer buffer queue"],
  ["left over", "remaining rest remainder"],
  ["long lived", "persistent keepalive stream"],
  ["kept alive", "keepalive persistent"],
  ["low level", "raw native"],
  ["well known", "common standard"],
  ["built in", "builtin native default"],
  ["plain text", "plaintext text"],
  ["file name", "filename basename"],
  ["file ending | ending of a file", "extension ext suffix"],
  ["file endings", "extension ext mime"],
  ["line break | end of line", "newline eol"],
  ["end of file", "eof"],
  ["command line", "cli argv args"],
  ["standard input", "stdin"],
  ["standard output", "stdout"],
  ["web page", "html page document"],
  ["web address", "url uri"],
  ["short form", "abbreviation alias"],
  ["other spelling", "alias"],
  ["by hand", "manual"],
  ["by itself", "standalone auto"],
  ["on demand | when needed", "lazy"],
  ["only once", "once singleton memo"],
  ["in memory", "memory cache ram"],
  ["on disk", "fs file disk persist"],
  ["to disk", "fs file disk persist write"],
];

/** Acronyms with the words they stand for. Two of these words in a question, or the only word, mean the acronym. */
const acronyms: Readonly<Record<string, string>> = {
  acl: "access control list permission",
  api: "application programming interface",
  ast: "abstract syntax tree",
  aws: "amazon web services",
  cdn: "content delivery network edge",
  cidr: "network address block range subnet",
  cli: "command line interface terminal",
  cors: "cross origin resource sharing preflight another",
  crc: "cyclic checksum error",
  crud: "create read update delete",
  csp: "content security policy headers",
  csrf: "cross site request forgery forged foreign form",
  css: "style sheet stylesheet",
  csv: "comma separated values",
  db: "database",
  dfs: "depth first search",
  bfs: "breadth first search",
  dom: "document object model element node",
  dns: "domain name lookup resolve hostname",
  etag: "entity tag not modified version",
  fifo: "first in first out queue",
  ftp: "file transfer protocol",
  gc: "garbage collection memory",
  gui: "graphical user interface window",
  html: "markup page hypertext",
  http: "web request response",
  i18n: "internationalization translation language",
  io: "input output",
  ip: "network address internet visitor",
  jwk: "public key json web token",
  jwt: "json web token signed",
  kv: "key value store",
  lru: "least recently used cache evict",
  mime: "content media type kind file",
  mvc: "model view controller",
  oauth: "authorize login third party",
  orm: "object relational database table",
  otp: "one time password",
  pid: "process id number",
  pki: "public key certificate",
  qs: "query string parameters",
  rbac: "role based access control",
  regex: "regular expression pattern",
  repl: "read eval print loop prompt",
  rpc: "remote procedure call",
  sdk: "software development kit",
  smtp: "send mail email",
  sse: "server sent events push",
  ssg: "static site generation build pages",
  ssh: "secure shell remote",
  ssl: "secure socket certificate",
  sso: "single sign on login",
  ssr: "server side rendering",
  tcp: "socket connection network",
  tls: "secure socket certificate encrypted",
  ttl: "time to live lifetime fresh expire",
  udp: "datagram packet",
  ui: "user interface",
  url: "web address link",
  utf8: "unicode text encoding",
  uuid: "unique identifier random number",
  vm: "virtual machine",
  wasm: "webassembly",
  ws: "websocket socket message",
  xss: "cross site script escape inject",
};

const statuses: Readonly<Record<string, string>> = {
  "206": "range partial",
  ...each("301 302 303 307 308", "redirect location"),
  "304": "etag modified",
  "401": "unauthorized auth",
  "403": "forbidden permission",
  "404": "notfound missing",
  "405": "methodnotallowed",
  "408": "timeout",
  "413": "limit large payload",
  "429": "rate throttle limit",
  "500": "error exception",
  "503": "unavailable",
};

/** Returns terms that a question implies without naming them, each with a weight. */
export function meantBy(question: string): Map<string, number> {
  const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const meant = new Map<string, number>();
  const line = ` ${words.join(" ")} `;
  for (const [pattern, terms] of compiledTurns()) {
    if (pattern.test(line)) for (const term of terms) meant.set(term, turnWeight);
  }
  const stems = new Set(words.map(stem));
  for (const [acronym, said] of Object.entries(acronyms)) {
    const parts = said.split(" ");
    const matching = parts.filter((part) => stems.has(stem(part))).length;
    if (matching >= Math.min(2, parts.length)) meant.set(acronym, Math.min(1, 0.4 + 0.2 * matching));
  }
  for (const [index, word] of words.entries()) {
    for (const term of (Object.hasOwn(statuses, word) && statuses[word]?.split(" ")) || []) meant.set(term, turnWeight);
    // Treat "connect again" like "reconnect".
    if (words[index + 1] === "again" && word.length > 2) meant.set(stem(`re${word}`), 1);
  }
  return meant;
}

const turnWeight = 0.8;

let compiled: [RegExp, string[]][] | undefined;

function compiledTurns(): [RegExp, string[]][] {
  compiled ??= turns.map(([said, terms]) => [
    new RegExp(` (?:${said.replaceAll(" | ", "|").replaceAll(" _ ", " (?:\\S+ ){1,4}")}) `),
    terms.split(" ").map(stem),
  ]);
  return compiled;
}
