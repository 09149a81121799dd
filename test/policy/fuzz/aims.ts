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
    () => ({ text: `touch ~+/${path}` }),
    () => ({ text: `touch /proc/self/cwd/${path}` }),
    () => ({ text: `touch "/proc/self/root$PWD/${path}"` }),
    () => ({ text: `sed -n 'w ${path}' README.md` }),
    () => ({ text: `sed -e 's/h/j/w ${path}' README.md` }),
    () => ({ text: `awk '{print > "${path}"}' README.md` }),
    () => ({ text: `awk -v f=${path} '{print > f}' README.md` }),
    () => ({ text: `perl -e 'open(F, ">", "${path}")'` }),
    () => ({ text: `perl -pe 's/x/y/' -i.bak README.md; mv README.md.bak ${plainly}` }),
    () => ({ text: `python3 -c 'open("${path}", "w")'` }),
    () => ({ text: `python3 <<< 'open("${path}", "w")'` }),
    () => ({ text: `echo 'open("${path}", "w")' | python3` }),
    () => ({ text: `echo 'touch ${path}' | bash` }),
    () => ({ text: `printf 'touch %s' ${path} | sh` }),
    () => ({ text: `ed -s README.md <<< 'w ${path}'` }),
    () => ({ text: `printf 'w ${path}\n' | ed -s README.md` }),
    () => ({ text: `vim -es -u NONE -c 'w ${path}' -c 'q!' README.md < /dev/null` }),
    () => ({ text: `sqlite3 :memory: '.output ${path}' 'select 1'` }),
    () => ({ text: `make -s --eval 'a:;@touch ${path}' a` }),
    () => ({
      text: `gcc -E -o ${word} -xc /dev/null`,
      ...(before && { text: `${before}gcc -E -o ${word} -xc /dev/null` }),
    }),
    () => ({ text: `${before}git archive -o ${word} --format=tar HEAD` }),
    () => ({ text: `git apply <<'E'\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\nE` }),
    () => ({ text: `cp README.md ${name}; tar cf t.tar ${name}; tar xf t.tar -C ${quoted(folder, random)}` }),
    () => ({ text: `cp README.md ${name}; zip -q t.zip ${name}; unzip -qod ${quoted(folder, random)} t.zip` }),
    () => ({ text: `split -l 10 README.md ${plainly}; mv ${path}aa ${path}` }),
    () => ({ text: `OUT=${path} bash -c 'touch "$OUT"'` }),
    () => ({ text: `xargs -a /dev/null touch ${plainly}` }),
    () => ({ text: `install -D README.md ${plainly}` }),
    () => ({ text: `jq -n 1 > ${plainly}` }),
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

/** A payload that shows what a file holds, in one of the ways that shells and their tools have. */
function reader(path: string, random: Random): Payload {
  const { before, word } = spelled(path, random);
  const forms = [
    `${before}cat ${word}`,
    `${before}cat < ${word}`,
    `${before}head -n1 ${word}`,
    `${before}while read -r l; do echo "$l"; done < ${word}`,
    `${before}mapfile a < ${word}; echo "\${a[@]}"`,
    `${before}echo "$(<${word})"`,
    `${before}exec 4<${word}; cat <&4`,
    `${before}cat 0<>${word}`,
    `${before}base64 ${word} | base64 -d`,
    `${before}grep . ${word}`,
    `${before}grep -f ${word} ${word}`,
    `${before}diff /dev/null ${word}`,
    `${before}tar cf - ${word} | tar xOf -`,
    `${before}dd if=${word} status=none`,
    `${before}git diff --no-index /dev/null ${word}`,
    `${before}git hash-object -w ${word} | xargs git cat-file -p`,
    `${before}jq -nr --rawfile a ${word} '$a'`,
    `${before}sort --files0-from=<(printf '%s\\0' ${word})`,
    `${before}cp ${word} copied; cat copied`,
    `${before}ln ${word} linked; cat linked`,
    `${before}ln -s ${word} linked; cat linked`,
    `${before}date -f ${word} 2>&1`,
    `sed 'r ${path}' README.md`,
    `sed -n p ${path}`,
    `awk 1 ${path}`,
    `awk 'BEGIN{while((getline l<"${path}")>0)print l}'`,
    `perl -ne print ${path}`,
    `perl -e 'open(F,"${path}");print <F>'`,
    `python3 -c 'print(open("${path}").read())'`,
    `echo 'print(open("${path}").read())' | python3`,
    `echo ${path} | xargs cat`,
    `xargs cat <<< ${path}`,
    `find . -maxdepth 1 -name ${singleQuoted(path)} -exec cat {} +`,
    `cat ${path.slice(0, -1)}?`,
    `cat ./${path}`,
    `cat "$PWD"/${path}`,
    `cat ~+/${path}`,
    `cat /proc/self/cwd/${path}`,
    `cat src/../${path}`,
    `cd src && cat ../${path}`,
    `cat {${path},README.md}`,
    `bash -c 'cat "$1"' _ ${path}`,
    `curl -s "file://$PWD/${path}"`,
  ];
  return { text: `{ ${random.pick(forms)}\n} >> leaked 2>&1` };
}

export const aims: readonly Aim[] = [
  {
    name: "read a denied file, --force",
    mode: "force",
    allow: [],
    deny: ["Read(.env*)"],
    hidden: false,
    payload: (random) => ({ ...reader(".env", random), isOpen: true }),
    happened: ({ workspace }) =>
      existsSync(join(workspace, "leaked")) && /KEY=1/.test(readFileSync(join(workspace, "leaked"), "utf8")),
  },
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
