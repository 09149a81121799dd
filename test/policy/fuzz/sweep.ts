// Every option that an allowed program says it has, with values that would run something or write somewhere.
import { spawnSync } from "node:child_process";
import type { Random } from "../../protocol/random.ts";
import { quoted } from "./spellings.ts";

/** A program, or a program and its subcommand, with its options and operands that it can work with. */
export type Swept = { words: readonly string[]; options: readonly string[]; operands: readonly string[] };

const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((letter) => `-${letter}`);
const files = ["README.md", "README.md list.txt", "src", ".", ""];
const programs: Record<string, readonly string[]> = {
  ls: files,
  cat: files,
  head: files,
  tail: files,
  wc: files,
  sort: ["README.md", "list.txt list.txt"],
  uniq: ["README.md"],
  cut: ["-f1 README.md"],
  tr: ["a b"],
  grep: ["hello README.md", "-r hello ."],
  find: [".", ". -name README.md"],
  diff: ["README.md src/app.ts"],
  sed: ["-n p README.md", "p README.md"],
  awk: ["1 README.md"],
  tar: ["cf /dev/null README.md", "-cf a.tar README.md"],
  split: ["README.md"],
  touch: ["a"],
  cp: ["README.md a"],
  mv: ["list.txt a"],
  ln: ["README.md a"],
  mkdir: ["a"],
  tee: ["a"],
  install: ["README.md a"],
  zip: ["o.zip README.md"],
  make: ["-n", ""],
  env: ["ls"],
  xargs: ["ls"],
  timeout: ["5 ls"],
  nice: ["ls"],
  stdbuf: ["-oL ls"],
  date: ["+%F"],
  base64: ["README.md"],
  test: ["-f README.md"],
  printf: ["%s x"],
  bash: ["README.md", "-c ls"],
  perl: ["README.md"],
  python3: ["README.md", "-m this"],
};
const gitCommands: Record<string, readonly string[]> = {
  status: [""],
  log: ["-1"],
  diff: ["HEAD"],
  show: ["HEAD"],
  grep: ["hello"],
  "ls-remote": ["."],
  fetch: ["."],
  clone: [". copy"],
  archive: ["HEAD"],
  "format-patch": ["-1 HEAD"],
  commit: ["--allow-empty -m x"],
  rebase: ["HEAD"],
  tag: ["t1"],
  branch: ["b1"],
  push: [". HEAD:refs/heads/x"],
  blame: ["README.md"],
  init: ["fresh"],
  submodule: ["status"],
  apply: ["--stat README.md"],
  bundle: ["create b.bundle HEAD"],
  notes: ["list"],
  stash: ["list"],
  worktree: ["list"],
  bisect: ["log"],
  "rev-parse": ["HEAD"],
};

/** What each program says about itself; missing programs are left out. */
export function harvest(): Swept[] {
  const found: Swept[] = [];
  for (const [name, operands] of Object.entries(programs)) {
    const help = spawnSync(name, ["--help"], { encoding: "utf8", timeout: 5000, input: "" });
    if (help.error) continue;
    found.push({ words: [name], options: optionsIn(`${help.stdout}${help.stderr}`), operands });
  }
  for (const [name, operands] of Object.entries(gitCommands)) {
    const help = spawnSync("git", [name, "-h"], { encoding: "utf8", timeout: 5000, input: "", cwd: "/" });
    found.push({ words: ["git", name], options: optionsIn(`${help.stdout}${help.stderr}`), operands });
  }
  return found;
}

function optionsIn(help: string): string[] {
  const long = [...help.matchAll(/--(?:\[no-\])?([a-z][a-z0-9-]+)/g)].map((match) => `--${match[1]}`);
  const single = [...help.matchAll(/(?<![\w-])(-[a-z][a-z0-9]+)\b/g)].map((match) => match[1]!);
  return [...new Set([...long, ...single, ...letters])];
}

/** One call of one program, with an option or two; the option whole, shortened, attached or apart. */
export function sweep(swept: readonly Swept[], values: readonly string[], random: Random): string {
  const { words, options, operands } = random.pick(swept);
  // A rule for a shell or a language covers the scripts that it is given: a path alone is no way around it.
  const runsScripts = /^(bash|perl|python3)$/.test(words[0]!);
  const wanted = runsScripts ? values.filter((value) => !value.startsWith("{BIN}/")) : values;
  const given = Array.from({ length: 1 + random.below(2) }, () => {
    const option = random.pick(options);
    const short =
      option.startsWith("--") && random.below(3) === 0 ? option.slice(0, 3 + random.below(option.length)) : option;
    const value = quoted(random.pick(wanted), random);
    return random.pick([`${short} ${value}`, `${short}=${value}`, `${short}${value}`, short]);
  });
  const operand = random.pick(operands);
  const order = random.below(2) === 0 ? [...given, operand] : [operand, ...given];
  return [...words, ...order].filter(Boolean).join(" ");
}
