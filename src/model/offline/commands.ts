// Commands: which lines of a prompt are meant for a shell though nobody said "run". Prose never is.
import { looksLikePath } from "./phrases.ts";
import { wordSet } from "./word-set.ts";

/** What may follow a program, so that it only reads. Without it: nothing but options. */
type Reader = "options" | "paths" | "a term and paths" | "its version";

const kinds: [Reader, (program: string) => boolean][] = [
  ["options", wordSet("pwd whoami uname hostname env printenv ps df id uptime date")],
  [
    "paths",
    wordSet(
      "ls cat head tail wc tree du stat file sort uniq diff cmp nl tac md5sum sha1sum sha256sum basename dirname realpath seq",
    ),
  ],
  ["a term and paths", wordSet("grep rg egrep fgrep")],
  [
    "its version",
    wordSet(
      "node npm npx yarn pnpm python python3 pip pip3 ruby perl java cargo rustc deno bun php gcc go tsc make git docker kubectl bash",
    ),
  ],
];

/** Programs with commands of their own: these read, with options, paths and the names of branches behind them. */
const READING_COMMAND = () =>
  /^(?:git (?:status|log|diff|show|blame|shortlog|describe|ls-files|rev-parse)|(?:npm|pnpm|yarn) (?:ls|list|outdated)|pip3? (?:list|freeze)|docker (?:ps|images)|kubectl get)(?= |$)/;
const WHOLE_COMMAND = () =>
  /^(?:git (?:branch(?: (?:-a|-r|-v|-vv|--list|--show-current))?|remote(?: -v)?|stash list|tag)|go (?:version|env))$/;

/** Options that make a reader write, run or set something. */
const HARMFUL_OPTION = () =>
  /^(?:-o\S*|--output\S*|-i|--in-place\S*|--exec\S*|-exec|-delete|-s|--set\S*|--ext-diff|--pre\S*|--compress-program\S*)$/;
const OPTION = () => /^(?:--?\w[\w-]*(?:=\S+)?|\+%?\S+)$/;

/** A command that nobody asked to be run, but that reads only, and whose words all make sense as its arguments. */
export function isReadingCommand(line: string): boolean {
  return line
    .trim()
    .split(/\s*(?:\||&&|;)\s*/)
    .every((part) => isReading(part.trim()));
}

function isReading(part: string): boolean {
  if (/[<>$`]/.test(part)) return false;
  if (WHOLE_COMMAND().test(part)) return true;
  if (/^echo /.test(part)) return !isProse(part) && !/ (?:in)?to \S+\.\w+$/.test(part);
  const command = READING_COMMAND().exec(part)?.[0];
  if (command !== undefined)
    return wordsOf(part.slice(command.length)).every((word) => isSafeOption(word) || isOperand(word));
  const [program = "", ...words] = wordsOf(part);
  const reader = kinds.find(([, has]) => has(program))?.[0];
  if (reader === undefined) return false;
  if (reader === "its version") return words.length === 1 && /^(?:--version|-v|-V|version)$/.test(words[0]!);
  const operands = words.filter((word) => !isSafeOption(word));
  if (reader === "options") return operands.length === 0;
  const paths = reader === "a term and paths" ? operands.slice(1) : operands;
  // "grep is useful": a term alone is no search.
  if (reader === "a term and paths" && paths.length === 0) return false;
  return paths.every(isOperand) && (paths.length > 0 || /^(?:ls|tree|du)$/.test(program));
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function isSafeOption(word: string): boolean {
  return OPTION().test(word) && !HARMFUL_OPTION().test(word);
}

const USUAL_NAME = () =>
  /^(?:src|docs?|tests?|lib|bin|dist|build|logs|tmp|scripts|public|assets|config|main|master|HEAD|origin)$/;

function isOperand(word: string): boolean {
  return /^[\uE000-\uF8FF]$|^\d+$|[*?]|^HEAD[~^]/.test(word) || USUAL_NAME().test(word) || looksLikePath(word);
}

const PROGRAM = () =>
  /^(?:git|npm|npx|yarn|pnpm|python3?|pip3?|cargo|docker|kubectl|pwd|whoami|uname|hostname|wc|grep|sed|awk|uniq|curl|wget|bash|sh|printenv|ps|df|du|chmod|mkdir|mv|cp|rm|seq|tree|tsc|jest|vitest|pytest|deno|bun|ruby|perl|java|javac|gcc|printf|stat|rg|ls|cat|echo|cd|make|go|node|file|sort|which|touch|head|tail|date|diff|env|true|false|sleep|find|eslint|prettier|biome|ruff|mypy|black|mocha|tox|nox|poetry|uv|gradle|mvn|dotnet|swift|rake|bundle|composer|phpunit|terraform|ansible|helm|cmake|ninja|ctest|jq|yq|base64|sha256sum|md5sum|tar|zip|unzip|ping|whois|dig|nslookup|id|uptime|cal|clear|tee|cut|tr|xargs|ln|less|more|man|kill|systemctl|service|brew|apt|apt-get|sudo|gh|nvm|tsx|ts-node|rustc|zig|lua|php|R|julia|nl|tac|rev|comm|paste|diff3|patch|test|expr|factor|yes|free|top|lsof|netstat|ss|ip|ifconfig|mount|lsblk|history|alias|export|source|set|unset|type|command|hash|time|nohup|watch|timeout)(?=$|[\s;|])/;
const PROSE = () =>
  /(?:^|\s)(?:is|are|was|were|the|a|an|my|our|your|their|his|her|its|means?|should|would|can|could|will|has|have|had|does|did|because|why|how|what|when|these|those|please|sure|it|me|you|we|they)(?=$|\s|[,!?]|\.(?:\s|$))/i;

/** A command where one is expected, as after "run": a known program, and no sentence about it. */
export function isCommandText(line: string): boolean {
  return PROGRAM().test(line.trim()) && !isProse(line);
}

/** Words that commands do not have make a line a sentence. */
export function isProse(line: string): boolean {
  return PROSE().test(line.replace(/(["'`]).*?\1/g, ""));
}
