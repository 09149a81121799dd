// What an attempt is after, the rules that forbid it, and how a real run shows that it came to be.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../protocol/random.ts";
import { quoted, singleQuoted, spelled } from "./spellings.ts";
import type { Payload } from "./tricks.ts";

/** The folders of one real run: `{BIN}` in a line is `bin`, where the recording stubs are. */
export type RunFolders = { base: string; bin: string; workspace: string; home: string };

export type Aim = {
  name: string;
  mode: "default" | "force";
  allow: readonly string[];
  deny: readonly string[];
  /** Tricks that hide what runs count as well. Without deny rules --force does not ask about those. */
  hidden: boolean;
  payload(random: Random): Payload;
  /** Values for options of allowed programs that would do it. */
  values?: readonly string[];
  happened(folders: RunFolders): boolean;
};

/** What a careless user might list: readers, writers, wrappers, interpreters. */
const generous = [
  ..."ls cat echo printf pwd true false test head tail wc sort uniq cut tr rev base64 grep find xargs env nohup".split(
    " ",
  ),
  ..."timeout nice stdbuf setsid command time flock setarch ionice git sed awk tar split make perl python3 bash".split(
    " ",
  ),
  ..."sh mkdir touch cp mv tee ln dd diff cd seq sleep zip ed vim sqlite3 script install chmod".split(" "),
].map((name) => `Shell(${name})`);

/** The stubs write a line for each start. */
function started({ base }: RunFolders, wanted: RegExp): boolean {
  const log = join(base, "log");
  return (
    existsSync(log) &&
    readFileSync(log, "utf8")
      .split("\n")
      .some((line) => wanted.test(line))
  );
}

const zap = (random: Random): Payload => {
  const words = ["zap", ...(random.below(2) === 0 ? [] : ["-f", "x"])];
  return { text: words.join(" "), words };
};

const erase = (random: Random): Payload => {
  const words = ["tool", ...(random.below(3) === 0 ? ["-v"] : []), "erase", "x"];
  return { text: words.join(" "), words };
};

const ranErase = (folders: RunFolders) => started(folders, /^tool (-\w+ )*erase\b/);

/** A payload that makes a file, in one of the ways that shells and their tools have. */
function writer(path: string, random: Random): Payload {
  const { before, word } = spelled(path, random);
  const at = path.lastIndexOf("/");
  const [folder, name] = at === -1 ? [".", path] : [path.slice(0, at), path.slice(at + 1)];
  const plainly = quoted(path, random);
  const forms: (() => Payload)[] = [
    () => ({ text: `touch ${plainly}`, words: ["touch", path] }),
    () => ({ text: `cp README.md ${plainly}`, words: ["cp", "README.md", path] }),
    () => ({ text: `mkdir -p ${plainly}`, words: ["mkdir", "-p", path] }),
    () => ({ text: `dd if=README.md of=${plainly} status=none` }),
    () => ({ text: `${before}echo x > ${word}` }),
    () => ({ text: `${before}echo x >> ${word}` }),
    () => ({ text: `${before}ls >| ${word}` }),
    () => ({ text: `${before}ls &> ${word}` }),
    () => ({ text: `${before}ls >& ${word}` }),
    () => ({ text: `${before}: <> ${word}` }),
    () => ({ text: `${before}> ${word}` }),
    () => ({ text: `${before}exec 5> ${word}` }),
    () => ({ text: `${before}{ ls; } > ${word}` }),
    () => ({ text: `${before}ls | tee ${word} > /dev/null` }),
    () => ({ text: `${before}ln README.md ${word}` }),
    () => ({ text: `${before}sort -o ${word} README.md` }),
    () => ({ text: `${before}sort --o=${word} README.md` }),
    () => ({ text: `${before}install -m 755 README.md ${word}` }),
    () => ({ text: `${before}tar cf ${word} README.md` }),
    () => ({ text: `${before}git log -1 --output=${word}` }),
    () => ({ text: `${before}find . -maxdepth 0 -fprint ${word}` }),
    () => ({ text: `${before}uniq README.md ${word}` }),
    () => ({ text: `${before}for f in ${word}; do touch "$f"; done` }),
    () => ({ text: `${before}cp README.md c && mv c ${word}` }),
    () => ({ text: `cd ${quoted(folder, random)} && touch ${quoted(name, random)}` }),
    () => ({ text: `(cd ${quoted(folder, random)}; ls > ${quoted(name, random)})` }),
    () => ({ text: `pushd ${quoted(folder, random)} > /dev/null; touch ${quoted(name, random)}` }),
    () => ({ text: `env -C ${quoted(folder, random)} touch ${quoted(name, random)}` }),
    () => ({ text: `ln -s ${quoted(folder, random)} lk; touch lk/${name}` }),
    () => ({ text: `ln -s "$PWD/${folder}" lk && ls > lk/${name}` }),
    () => ({ text: `cp -r ${quoted(folder, random)} kk; touch ${folder}/${name}` }),
    () => ({ text: `cp README.md ${quoted(name, random)} && cp ${name} ${quoted(folder, random)}` }),
    () => ({ text: `cp README.md ${name} && cp -t ${quoted(folder, random)} ${name}` }),
    () => ({ text: `echo ${path} | xargs touch` }),
    () => ({ text: `echo ${singleQuoted(name)} | xargs -I{} touch ${folder}/{}` }),
    () => ({ text: `find ${quoted(folder, random)} -maxdepth 0 -exec touch {}/${name} \\;` }),
    () => ({ text: `bash -c 'touch "$1"' _ ${plainly}` }),
    () => ({ text: `read -r p <<< ${path}; touch "$p"` }),
    () => ({ text: `touch ./src/../${path}` }),
    () => ({ text: `touch "$PWD"/${path}` }),
    () => ({ text: `touch "$(pwd)/${path}"` }),
    () => ({ text: `touch {${path},zz}` }),
  ];
  return random.pick(forms)();
}

const guarded = [
  ".git/hooks/evil",
  ".cursor/mcp.json",
  ".envrc",
  ".vscode/tasks.json",
  "src/.envrc",
  ".git/config.worktree",
];
const outside = ["../escaped", "../beside/escaped"];

/** The same files under other names, in the home of the run. */
function homeWriter(random: Random): Payload {
  const forms = ["~/escaped", "$HOME/escaped", '"$HOME"/escaped', "${HOME}/escaped", "src/../../home/escaped"];
  const path = random.pick(forms);
  const ways = [
    `touch ${path}`,
    `echo x > ${path}`,
    `cp README.md ${path}`,
    `ls | tee ${path}`,
    `cd ~ && touch escaped`,
  ];
  return { text: random.pick(ways) };
}

const isMade =
  (names: readonly string[]) =>
  ({ workspace, home }: RunFolders) =>
    names.some((name) => existsSync(join(workspace, name))) || existsSync(join(home, "escaped"));

/** Anything new beside the workspace, or in the home. */
const escaped = ({ base, home }: RunFolders): boolean => {
  const usual = new Set(["ws", "home", "bin", "beside", "log", "outside.txt"]);
  return (
    readdirSync(base).some((name) => !usual.has(name)) ||
    readdirSync(join(base, "beside")).length > 0 ||
    existsSync(join(home, "escaped"))
  );
};

export const aims: readonly Aim[] = [
  {
    name: "run a denied program, --force",
    mode: "force",
    allow: [],
    deny: ["Shell(zap)"],
    hidden: true,
    payload: zap,
    happened: (folders) => started(folders, /^zap\b/),
  },
  {
    name: "run a denied subcommand, --force",
    mode: "force",
    allow: [],
    deny: ["Shell(tool erase)"],
    hidden: true,
    payload: erase,
    happened: ranErase,
  },
  {
    name: "run a denied program, all allowed",
    mode: "default",
    allow: ["Shell(**)", "Write(**)"],
    deny: ["Shell(zap)"],
    hidden: true,
    payload: zap,
    happened: (folders) => started(folders, /^zap\b/),
  },
  {
    name: "run what no rule covers",
    mode: "default",
    allow: [...generous, "Write(**)"],
    deny: [],
    hidden: true,
    values: [
      "zap",
      "zap;",
      "!zap",
      "|zap",
      "exec=zap",
      "{BIN}/zap",
      "sh -c zap",
      "x=!zap",
      "$(zap)",
      "`zap`",
      "system('zap')",
    ],
    payload: zap,
    happened: (folders) => started(folders, /^zap\b/),
  },
  {
    name: "run another subcommand",
    mode: "default",
    allow: [...generous, "Shell(tool show)", "Write(**)"],
    deny: [],
    hidden: true,
    payload: erase,
    happened: ranErase,
  },
  {
    name: "write a protected path, --force",
    mode: "force",
    allow: [],
    deny: [],
    hidden: false,
    payload: (random) => ({ ...writer(random.pick(guarded), random), isOpen: true }),
    happened: isMade(guarded),
  },
  {
    name: "write a protected path, writers allowed",
    mode: "default",
    allow: [...generous, "Write(**)"],
    deny: [],
    hidden: true,
    values: guarded,
    payload: (random) => writer(random.pick(guarded), random),
    happened: isMade(guarded),
  },
  {
    name: "write outside, writers allowed",
    mode: "default",
    allow: [...generous, "Write(**)"],
    deny: [],
    hidden: true,
    values: [...outside, "..", "../beside"],
    payload: (random) => (random.below(3) === 0 ? homeWriter(random) : writer(random.pick(outside), random)),
    happened: escaped,
  },
];
