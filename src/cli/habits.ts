// Hints for users of other agent CLIs: what their options and commands are called here. Loaded only when something is unknown.

import { distanceBetween, nearestName } from "../text/nearest.ts";
import { programName } from "../text/program-name.ts";

/** Hints for options that other CLIs have. Each hint is a complete sentence. */
const flagHints = (): Record<string, string> => ({
  "-m": "For the model: --model <model>.",
  "-r": "To resume a chat: --resume <chatId>, or --continue for the latest.",
  "-c": "To continue the latest chat: --continue.",
  "-C": "For another directory: --workspace <path>.",
  "-q": "Print mode prints only the answer: -p.",
  "-i": "To start an interactive chat with a prompt, leave out -p.",
  "-d": "For a debug log: --debug.",
  "-V": "For the version: -v.",
  "-y": `To skip permission prompts: --force. First see what is allowed: ${programName()} permissions list`,
  "--cd": "For another directory: --workspace <path>.",
  "--cwd": "For another directory: --workspace <path>.",
  "--dir": "For another directory: --workspace <path>.",
  "--directory": "For another directory: --workspace <path>.",
  "--verbose": "For a debug log: --debug. For every event: --output-format stream-json.",
  "--quiet": "Print mode prints only the answer: -p.",
  "--silent": "Print mode prints only the answer: -p.",
  "--no-color": "Set NO_COLOR=1 instead.",
  "--color": "Colours follow the terminal; FORCE_COLOR=1 and NO_COLOR=1 override it.",
  "--json": "For JSON: --output-format json, or stream-json for every event.",
  "--format": "For a run: --output-format text, json or stream-json.",
  "--dangerously-skip-permissions": "Use --force, which still respects deny rules and protected paths.",
  "--dangerously-bypass-approvals-and-sandbox":
    "Use --force --sandbox disabled, which still respects deny rules and protected paths.",
  "--full-auto": "Use --force, which still respects deny rules and protected paths.",
  "--allow-all": "Use --force, which still respects deny rules and protected paths.",
  "--yes": `To skip permission prompts: --force. First see what is allowed: ${programName()} permissions list`,
  "--permission-mode": "Use --mode plan or --mode ask for read-only, --force to allow everything that is not denied.",
  "--approval-mode": "Use --mode plan or --mode ask for read-only, --force to allow everything that is not denied.",
  "--ask-for-approval": "In a terminal you are asked. In print mode a program can answer: --ask-command <command>.",
  "--allowedTools": "Use --allowed-tools.",
  "--disallowedTools": "Use --disallowed-tools.",
  "--prompt": "The prompt needs no option: pass it as the last argument.",
  "--message": "The prompt needs no option: pass it as the last argument.",
  "--max-budget-usd": "Use --max-cost <usd>.",
  "--timeout": "Use --max-time <time>: 90s, 5m, 1h.",
  "--temperature": "The vendor's default is used. For more thinking: --effort high.",
  "--profile": `Your settings: ${programName()} config; to use another directory, set CURSOR_CONFIG_DIR.`,
  "--config": `Your settings: ${programName()} config; to use another directory, set CURSOR_CONFIG_DIR.`,
  "--session": "To resume a chat: --resume <chatId>.",
  "--last": "To continue the latest chat: --continue.",
  "--search": `The agent can search the web itself; allow it with: ${programName()} permissions allow 'WebSearch(*)'`,
  "--stdin": `A single - stands for stdin: … | ${programName()} -p "review this" -`,
});

/** Options that lower protection are never suggested for a merely similar name. */
const dangerous = /^--?(?:yolo|f|force|trust|approve-mcps?|insecure|k)$/;

/** Suggests what an unknown option may mean; "" if no known option is similar. */
export function flagHint(written: string, known: readonly string[]): string {
  const hints = flagHints();
  const habit = Object.hasOwn(hints, written) ? hints[written] : undefined;
  if (habit !== undefined) return ` ${habit}`;
  // A single letter is similar to every other letter, so suggest nothing for short options.
  if (!written.startsWith("--")) return "";
  const letters = written.slice(2);
  const names = known.filter((name) => name.startsWith("--") && !isFarFrom(name, written)).map((name) => name.slice(2));
  // Among equally similar names prefer the same length: --modle means --model, not --mode.
  names.sort((one, other) => Math.abs(one.length - letters.length) - Math.abs(other.length - letters.length));
  const near = nearestName(letters, names);
  return near === undefined ? "" : ` Did you mean --${near}?`;
}

function isFarFrom(name: string, written: string): boolean {
  return dangerous.test(name) && (written.length < 6 || name[2] !== written[2]);
}

/** Hints for words that are commands in other CLIs. */
const wordHints: Record<string, (program: string) => string> = {
  version: (program) => `For the version: ${program} --version.`,
  exec: (program) => `To answer once and exit: ${program} -p "…".`,
  run: (program) => `To answer once and exit: ${program} -p "…". Runs in the background: ${program} runs.`,
  chat: (program) => `To start: ${program}. Earlier chats: ${program} ls.`,
  history: (program) => `Earlier chats: ${program} ls.`,
  settings: (program) => `Your settings: ${program} config.`,
  auth: (program) => `Keys: ${program} login, ${program} status.`,
  signin: (program) => `To save a key: ${program} login.`,
  signup: (program) => `There is no account: ${program} login saves a vendor's API key.`,
  init: (program) => `There is nothing to initialise: type ${program} to start. Hooks: ${program} hooks init.`,
  attach: (program) => `To follow a background run: ${program} runs attach <id>. Its id: ${program} runs.`,
  logs: (program) => `What a background run did: ${program} runs logs <id>. Its id: ${program} runs.`,
  web: (program) => `In the browser: ${program} studio.`,
  ui: (program) => `In the browser: ${program} studio.`,
};

type Named = { name: string; aliases?: readonly string[]; commands?: readonly { name: string }[] };

/**
 * Suggests what words probably mean that look like a command but are none: a typo, or a command of another program. Returns
 * undefined if they are a prompt.
 */
export function commandHint(words: readonly string[], commands: readonly Named[], program: string): string | undefined {
  const [first = "", second, ...more] = words;
  if (more.length > 0 || !/^[a-z-]{3,}$/.test(first)) return undefined;
  const isCommand = second === undefined || first === "exec" || /^[\w-]*\d[\w-]*$/.test(second);
  if (Object.hasOwn(wordHints, first) && isCommand) return wordHints[first]!(program);
  if (first.length < 4) return undefined;
  const near = nearestName(
    first,
    commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
  );
  const command = commands.find(({ name, aliases }) => name === near || aliases?.includes(near ?? ""));
  if (near === undefined || command === undefined || !isSlip(first, near)) return undefined;
  if (second !== undefined && !command.commands?.some(({ name }) => name === second)) return undefined;
  return `Did you mean '${[program, near, ...(second === undefined ? [] : [second])].join(" ")}'?`;
}

/** Accepts one letter too many, missing, wrong or swapped (two in long words): "hello" is not a typo of "help". */
function isSlip(written: string, name: string): boolean {
  return distanceBetween(written, name) <= (written.length < 8 ? 1 : 2);
}
