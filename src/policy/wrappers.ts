// Commands that run other commands: what `env`, `sudo`, `xargs`, `find -exec`, `bash -c` would start.
import { parseShell, type ShellCommand, type ShellLine, type ShellWord } from "./shell.ts";

/** One program start, however deep it is wrapped. */
export type Run = {
  name: ShellWord;
  args: ShellWord[];
  /** Runs only what it is given, and changes nothing else: needs no rule of its own. */
  transparent: boolean;
  /** False: only a guess, because an option before it is unknown. Good enough to deny, not to allow. */
  certain: boolean;
};

export type Runs = {
  runs: Run[];
  /** Lines that are parsed: the command itself, and every literal script inside it. */
  lines: ShellLine[];
  /** Why part of what would run cannot be seen. */
  opaque: string[];
  /** Names of programs that change who runs the rest. */
  privileged: string[];
  /** How many starts are only guesses. */
  guesses: number;
};

/** Options with a value, operands before the command. `values`: short letters and long names. */
type Wrapper = {
  values?: string;
  long?: readonly string[];
  operands?: number;
  assignments?: true;
  transparent?: true;
  privileged?: true;
  /** The option whose value is a script. */
  script?: string;
  /** The operands are joined and given to a shell. */
  joins?: true;
};

const wrappers: Record<string, Wrapper> = {
  env: { values: "uCS", long: ["unset", "chdir", "split-string"], assignments: true },
  nohup: { transparent: true },
  setsid: {},
  time: { values: "of", long: ["output", "format"] },
  command: { transparent: true },
  builtin: {},
  exec: { values: "a" },
  nice: { values: "n", long: ["adjustment"], transparent: true },
  ionice: { values: "cnpPu" },
  chrt: { values: "TPD", operands: 1 },
  taskset: { operands: 1 },
  stdbuf: { values: "ioe", long: ["input", "output", "error"], transparent: true },
  timeout: { values: "ks", long: ["kill-after", "signal"], operands: 1, transparent: true },
  chroot: { long: ["userspec", "groups"], operands: 1, privileged: true },
  unshare: { values: "SGRw", privileged: true },
  nsenter: { values: "tSGrw", privileged: true },
  sudo: {
    values: "CDghpRrtTuU",
    long: ["user", "group", "host", "prompt", "chdir", "role", "type"],
    assignments: true,
    privileged: true,
  },
  doas: { values: "uC", privileged: true },
  su: { values: "csgGw", long: ["command", "shell", "group"], script: "c", privileged: true },
  runuser: { values: "csgGwu", long: ["command", "shell", "user"], script: "c", privileged: true },
  pkexec: { long: ["user"], privileged: true },
  setpriv: { privileged: true },
  xargs: {
    values: "adEILnPs",
    long: ["arg-file", "delimiter", "max-args", "max-procs", "replace", "max-lines", "max-chars", "process-slot-var"],
  },
  parallel: { values: "jnNIaSL" },
  watch: { values: "nq", long: ["interval", "equexit"], joins: true },
  script: { values: "cEoOIBTm", long: ["command"], script: "c", operands: 99 },
  flock: { values: "cwE", long: ["command", "timeout", "wait", "conflict-exit-code"], script: "c", operands: 1 },
  strace: { values: "abeEIoOpPsSuUX" },
  ltrace: { values: "aeEFlnosuwxAD" },
  busybox: {},
  toybox: {},
  npx: { values: "cp", long: ["call", "package"], script: "c" },
  caffeinate: { values: "tw" },
  "systemd-run": { values: "pEutMHrG", privileged: true },
  "xvfb-run": { values: "efnpsw" },
  torsocks: {},
  proxychains: { values: "f" },
  "ssh-agent": { values: "aEtP" },
  coproc: {},
};

/** Package managers and environments whose subcommand runs a program. */
const runners: Record<string, readonly string[]> = {
  npm: ["exec", "x"],
  pnpm: ["exec", "dlx"],
  yarn: ["exec", "dlx"],
  bun: ["x"],
  bundle: ["exec"],
  poetry: ["run"],
  pipenv: ["run"],
  uv: ["run"],
  conda: ["run"],
  mise: ["exec", "x"],
  rbenv: ["exec"],
  pyenv: ["exec"],
};

const shells = new Set(["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"]);
const interpreters =
  /^(python[\d.]*|pypy3?|perl|ruby|node|nodejs|deno|bun|php|lua[\d.]*|tclsh|osascript|pwsh|powershell)$/;
const deepest = 12;
/** Beyond these nothing more is followed, and the line counts as not seen through. */
const mostRuns = 50_000;
const mostGuesses = 300;

export function baseName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

export function isShell(name: string): boolean {
  return shells.has(baseName(name));
}

export function isInterpreter(name: string): boolean {
  return interpreters.test(baseName(name));
}

export function runsOf(command: string): Runs {
  const found: Runs = { runs: [], lines: [], opaque: [], privileged: [], guesses: 0 };
  descend(command, 0, found);
  return found;
}

function descend(source: string, depth: number, found: Runs): void {
  if (depth > deepest || found.runs.length > mostRuns) {
    found.opaque.push("it is nested too deeply");
    return;
  }
  const line = parseShell(source);
  found.lines.push(line);
  for (const command of line.commands) {
    if (!command.name) continue;
    const written = new Set(
      line.redirects.filter((each) => each.direction === "out").map((each) => plain(each.target?.value)),
    );
    follow(command.name, command.args, { command, written, depth, certain: true, found });
  }
}

type Trail = { command: ShellCommand; written: ReadonlySet<string>; depth: number; certain: boolean; found: Runs };

function follow(name: ShellWord, args: ShellWord[], trail: Trail): void {
  const { found } = trail;
  const base = baseName(name.value).toLowerCase();
  const table = Object.hasOwn(wrappers, base) ? wrappers[base] : undefined;
  const run: Run = { name, args, transparent: table?.transparent === true, certain: trail.certain };
  found.runs.push(run);
  if (found.runs.length > mostRuns) found.opaque.push("it starts too many programs");
  if (found.runs.length > mostRuns || name.dynamic || name.glob) return;
  if (name.value.includes("/") && trail.written.has(plain(name.value)))
    found.opaque.push(`${name.value} is written by the same line`);
  if (shells.has(base)) followShell(base, args, trail);
  else if (base === "eval") script(args, trail, "eval");
  else if (base === "trap" && args[0] && !isFlag(args[0])) script([args[0]], trail, "trap");
  else if (base === "source" || base === ".") followFile(args[0], base, trail);
  else if (base === "find" || base === "fd") followFind(args, trail);
  else if (interpreters.test(base)) followInterpreter(base, args, trail);
  else if (Object.hasOwn(runners, base)) followRunner(base, args, run, trail);
  else if (table) followWrapper(base, table, args, run, trail);
}

function followWrapper(base: string, table: Wrapper, args: ShellWord[], run: Run, trail: Trail): void {
  const { found } = trail;
  if (table.privileged) found.privileged.push(base);
  if (base === "command" && args.some((arg) => /^-[pvV]*[vV]/.test(arg.value))) return;
  const first = operandsOf(args, table);
  let operands = first.operands;
  if (table.assignments) {
    const count = operands.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word.value));
    // Variables decide what a program loads: such a wrapper is not a mere wrapper.
    if (count !== 0) run.transparent = false;
    operands = count === -1 ? [] : operands.slice(count);
  }
  operands = operands.slice(table.operands ?? 0);
  // Some programs take options behind their operands as well.
  const late = operands[0] && isFlag(operands[0]) ? operandsOf(operands, table) : undefined;
  const values = new Map([...first.values, ...(late?.values ?? [])]);
  operands = late?.operands ?? operands;
  const split = base === "env" ? (values.get("S") ?? values.get("split-string")) : undefined;
  if (split) {
    script([split, ...operands], trail, "env -S");
    return;
  }
  const text = table.script ? (values.get(table.script) ?? values.get("command") ?? values.get("call")) : undefined;
  if (text) {
    script([text], trail, base);
    return;
  }
  if (operands.length === 0) return;
  if (table.joins && !args.some((arg) => /^(-[a-zA-Z]*x|--exec)$/.test(arg.value))) {
    script(operands, trail, base);
    return;
  }
  if (base === "xargs" || base === "parallel") noteFed(base, operands, found);
  const next = { ...trail, depth: trail.depth + 1 };
  if (next.depth > deepest) found.opaque.push("it is nested too deeply");
  else if (!first.unknown && !late) follow(operands[0]!, operands.slice(1), next);
  else guess(operands, next);
}

/** An unknown option stands before: any of the words may be the command. */
function guess(operands: readonly ShellWord[], trail: Trail): void {
  for (let at = 0; at < operands.length; at++) {
    if (trail.found.guesses++ > mostGuesses) {
      trail.found.opaque.push("it holds too many unknown options");
      return;
    }
    follow(operands[at]!, operands.slice(at + 1), { ...trail, certain: false });
  }
}

/** What xargs reads becomes arguments; given to something that runs its arguments, it becomes the command. */
function noteFed(base: string, operands: readonly ShellWord[], found: Runs): void {
  const inner = baseName(operands[0]!.value).toLowerCase();
  if (Object.hasOwn(wrappers, inner) || shells.has(inner) || interpreters.test(inner) || inner === "eval") {
    found.opaque.push(`what ${base} reads decides what ${inner} runs`);
  }
}

function followRunner(base: string, args: ShellWord[], run: Run, trail: Trail): void {
  const at = args.findIndex((arg) => !isFlag(arg));
  if (at === -1 || !runners[base]!.includes(args[at]!.value)) return;
  followWrapper(base, { values: "cp", long: ["call", "package"], script: "c" }, args.slice(at + 1), run, trail);
}

function followShell(base: string, args: ShellWord[], trail: Trail): void {
  const { found, command } = trail;
  let runsText = false;
  let index = 0;
  for (; index < args.length; index++) {
    const { value } = args[index]!;
    if (value === "--" || value === "-") {
      index++;
      break;
    }
    if (!/^[-+]./.test(value)) break;
    if (/^-[a-zA-Z]*c/.test(value)) runsText = true;
    if (/^[-+][a-zA-Z]*[oO]$/.test(value) || value === "--rcfile" || value === "--init-file") index++;
  }
  const operand = args[index];
  if (runsText) {
    if (operand) script([operand], trail, base);
    return;
  }
  if (operand && !args.some((arg) => /^-[a-zA-Z]*s/.test(arg.value) && !arg.value.startsWith("--"))) {
    followFile(operand, base, trail);
    return;
  }
  const text = command.redirects.find((redirect) => redirect.direction === "text");
  if (text?.body !== undefined) descend(text.body, trail.depth + 1, found);
  else if (text) found.opaque.push(`what ${base} is given to run is made by the line itself`);
  else if (command.piped) found.opaque.push(`${base} runs what another command writes`);
  else if (command.redirects.some((redirect) => redirect.direction === "in")) found.opaque.push(`${base} runs a file`);
}

/** A script file is as good as a program, unless the same line makes it or it is no file at all. */
function followFile(file: ShellWord | undefined, base: string, { found, written }: Trail): void {
  if (!file) return;
  if (file.dynamic || file.glob || /^\/(dev|proc)\//.test(file.value))
    found.opaque.push(`${base} runs something that is not known before`);
  else if (written.has(plain(file.value))) found.opaque.push(`${base} runs ${file.value}, which the same line writes`);
}

function followInterpreter(base: string, args: ShellWord[], trail: Trail): void {
  const { found, command } = trail;
  const inline = args.findIndex((arg) => /^(-[a-zA-Z]*[ceEr]|--eval|--print|-p|eval)$/.test(arg.value));
  if (inline !== -1) {
    if (args[inline + 1]?.dynamic) found.opaque.push(`${base} runs code that is not known before`);
    return;
  }
  const file = args.find((arg) => !isFlag(arg));
  if (file) followFile(file, base, trail);
  else if (command.piped) found.opaque.push(`${base} runs what another command writes`);
}

function followFind(args: ShellWord[], trail: Trail): void {
  for (let at = 0; at < args.length; at++) {
    if (!/^(-exec|-execdir|-ok|-okdir|--exec|--exec-batch|-x|-X)$/.test(args[at]!.value)) continue;
    const from = at + 1;
    while (++at < args.length && args[at]!.value !== ";" && !(args[at]!.value === "+" && args[at - 1]!.value === "{}"));
    const words = args.slice(from, at);
    if (words.length > 0) follow(words[0]!, words.slice(1), { ...trail, depth: trail.depth + 1 });
  }
}

function script(words: readonly ShellWord[], { depth, found }: Trail, base: string): void {
  if (words.some((word) => word.dynamic)) found.opaque.push(`what ${base} runs is not known before`);
  descend(words.map((word) => word.value).join(" "), depth + 1, found);
}

/** The words after the options. `unknown`: an option stands there that may or may not have a value. */
function operandsOf(
  args: readonly ShellWord[],
  table: Wrapper,
): { operands: ShellWord[]; values: Map<string, ShellWord>; unknown: boolean } {
  const values = new Map<string, ShellWord>();
  let unknown = false;
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at]!;
    if (word.value === "--") {
      at++;
      break;
    }
    if (!isFlag(word) || word.value === "-") break;
    const long = /^--([^=]+)(=(.*))?$/s.exec(word.value);
    if (long) {
      const [, name, given, value] = long;
      const takes = table.long?.find((each) => each.startsWith(name!));
      if (given) values.set(takes ?? name!, { ...word, value: value! });
      else if (takes && args[at + 1]) values.set(takes, args[++at]!);
      else if (!takes) unknown = true;
      continue;
    }
    const cluster = word.value.slice(1);
    const letter = [...cluster].findIndex((each) => table.values?.includes(each));
    if (letter === -1) unknown ||= table.values === undefined && cluster.length > 0 && !/^[a-zA-Z0-9]+$/.test(cluster);
    else if (letter < cluster.length - 1) values.set(cluster[letter]!, { ...word, value: cluster.slice(letter + 1) });
    else if (args[at + 1]) values.set(cluster[letter]!, args[++at]!);
  }
  return { operands: args.slice(at), values, unknown };
}

function isFlag(word: ShellWord): boolean {
  return word.value.startsWith("-") && word.value.length > 1;
}

function plain(path: string | undefined): string {
  return (path ?? "").replace(/^(\.\/)+/, "");
}
