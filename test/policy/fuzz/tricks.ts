// Ways to make bash run something without saying so. Each takes a payload and returns one that does the same.
import type { Random } from "../../protocol/random.ts";
import { quoted, singleQuoted, spelled } from "./spellings.ts";

/**
 * `text`: a script that does it. `words`: the same as one simple command, where it still is one. `isOpen`: the name of the
 * command is only quoted, never made up.
 */
export type Payload = { text: string; words?: readonly string[]; isOpen?: boolean };

/** `hidden`: what runs is data, or code of another language: seen by nobody who only reads the line as a shell does. */
export type Trick = { make(payload: Payload, random: Random): Payload | undefined; hidden?: true };

const textTrick = (make: (text: string, random: Random) => string): Trick => ({
  make: ({ text }, random) => ({ text: make(text, random) }),
});
/** Tricks that put something before the words of a simple command, or around them. */
const wordTrick = (make: (words: string, random: Random) => string, options: { hidden?: true } = {}): Trick => ({
  ...options,
  make: ({ words, isOpen }, random) => {
    if (!words) return undefined;
    const parts = words.map((word, index) =>
      isOpen && index === 0 ? { before: "", word: quoted(word, random) } : spelled(word, random),
    );
    return { text: parts.map((part) => part.before).join("") + make(parts.map((part) => part.word).join(" "), random) };
  },
});
/** One line, so that it can stand in quotes, in options and in here-documents. */
const isLine = (text: string) => !text.includes("\n") && text.length < 2000;
const scriptTrick = (make: (script: string, random: Random) => string, options: { hidden?: true } = {}): Trick => ({
  make: ({ text }, random) => (isLine(text) ? { text: make(text, random) } : undefined),
  ...options,
});

/** Literals that C, JavaScript, Python, Perl and awk read the same way. */
const literal = (text: string) => JSON.stringify(text);

export const structure: readonly Trick[] = [
  textTrick((text) => `ls; ${text}`),
  textTrick((text) => `ls\n${text}`),
  textTrick((text) => `ls -la && ${text}`),
  textTrick((text) => `ls nosuch 2>/dev/null || ${text}`),
  textTrick((text) => `ls | ${text}`),
  textTrick((text) => `ls |& ${text}`),
  textTrick((text) => `ls & ${text}`),
  textTrick((text) => `ls # ${"'"}\n${text}`),
  textTrick((text) => `echo 'it; ' ;${text}`),
  textTrick((text) => `cat <<'E'\nharmless $(no)\nE\n${text}`),
  textTrick((text) => `ls${" ".repeat(200)};${text}`),
  textTrick((text) => `( ${text} )`),
  textTrick((text) => `{ ${text}\n}`),
  textTrick((text) => `! ${text}`),
  textTrick((text) => `if true; then ${text}\nfi`),
  textTrick((text) => `if false; then ls; else ${text}\nfi`),
  textTrick((text) => `if ${text}\nthen ls; fi`),
  textTrick((text) => `for i in 1; do ${text}\ndone`),
  textTrick((text) => `while ${text}\n do break; done`),
  textTrick((text) => `until ${text}\n do break; done`),
  textTrick((text) => `for ((i=0;i<1;i++)); do ${text}\ndone`),
  textTrick((text) => `case a in b) ls;; a|c) ${text}\n;; esac`),
  textTrick((text) => `select x in a; do ${text}\nbreak; done <<< 1`),
  textTrick((text) => `ls() { ${text}\n}; ls`),
  textTrick((text) => `function cat { ${text}\n}; cat`),
  textTrick((text) => `coproc { ${text}\n}; wait`),
  textTrick((text) => `time ${text}`),
  textTrick((text) => `${text} & wait`),
  textTrick((text) => `true; true; true; true; true; true; true; true; true; true; true; ${text}`),
  textTrick((text) => `echo $(${text})`),
  textTrick((text) => `echo "a $(echo "b $(${text})")"`),
  textTrick((text) => `echo "\${NOPE:-$(${text})}"`),
  textTrick((text) => `echo \${NOPE:+x}\${NOPE-$(${text})}`),
  textTrick((text) => `cat <(${text})`),
  textTrick((text) => `echo hi > >(${text})`),
  textTrick((text) => `diff <(ls) <(${text}) > /dev/null`),
  textTrick((text) => `cat <<E\n$(${text})\nE`),
  textTrick((text) => `cat <<-E\n\t$(${text})\n\tE`),
  textTrick((text) => `cat <<< "$(${text})"`),
  textTrick((text) => `ls > /dev/null 2>&1 < <(${text})`),
  textTrick((text) => `[[ -n $(${text}) ]]`),
  textTrick((text) => `echo $(( 1 + $(${text}\necho 1) ))`),
  textTrick((text) => `X=$(${text}) true`),
  textTrick((text) => `X=$(${text})`),
  textTrick((text) => `echo "\${x[$(${text}\necho 0)]}"`),
  textTrick((text) => `exec 3< <(${text}); sleep 0.05`),
];

export const evaluation: readonly Trick[] = [
  scriptTrick((text) => `eval ${singleQuoted(text)}`),
  scriptTrick((text) => `trap ${singleQuoted(text)} EXIT; ls`),
  scriptTrick((text) => `trap ${singleQuoted(text)} DEBUG; ls`),
  scriptTrick((text) => `let 'a[$(${text})0]=1'`),
  scriptTrick((text) => `(( a[$(${text})0] ))`),
  scriptTrick((text) =>
    `[[ -v 'a[$(${text})0]' ]]`.replaceAll(/'a\[(.*)0\]'/gs, (_, inner: string) => singleQuoted(`a[${inner}0]`)),
  ),
  scriptTrick((text) => `test -v ${singleQuoted(`a[$(${text})0]`)}`),
  scriptTrick((text) => `[ -v ${singleQuoted(`a[$(${text})0]`)} ]`),
  scriptTrick((text) => `printf -v ${singleQuoted(`a[$(${text})0]`)} x`),
  scriptTrick((text) => `for x in ${singleQuoted(`a[$(${text})0]`)}; do echo $((x)); done`),
  scriptTrick((text) => `for x in ${singleQuoted(`a[$(${text})0]`)}; do echo \${HOME:x}; done`),
  scriptTrick((text) => `for x in ${singleQuoted(`a[$(${text})0]`)}; do [[ $x -eq 0 ]]; done`),
  scriptTrick((text) => `echo $(( $(echo ${singleQuoted(`a[$(${text})0]`)}) ))`),
  scriptTrick((text) => `x=${singleQuoted(`$(${text})`)}; echo "\${x@P}"`),
  scriptTrick((text) => `for x in ${singleQuoted(`$(${text})`)}; do echo "\${x@P}"; done`),
  scriptTrick((text) => `mapfile -C ${singleQuoted(`${text} #`)} -c 1 arr < README.md`),
  scriptTrick((text) => `compgen -C ${singleQuoted(text)} x`),
  scriptTrick((text) => `compgen -W ${singleQuoted(`$(${text})`)}`),
  scriptTrick((text) => `declare -i n=${singleQuoted(`a[$(${text})0]`)}`),
  scriptTrick((text) => `shopt -s expand_aliases\nalias ls=${singleQuoted(text)}\nls`),
  scriptTrick((text) => `unset ${singleQuoted(`a[$(${text})0]`)}`),
  scriptTrick((text) => `source <(echo ${singleQuoted(text)})`),
  scriptTrick((text) => `. /dev/stdin <<< ${singleQuoted(text)}`),
  scriptTrick((text) => `BASH_ENV=<(echo ${singleQuoted(text)}) bash -c ls`),
  scriptTrick((text) => `declare -a 'a=($(${text}))'`.replace(/'a=.*'/s, () => singleQuoted(`a=($(${text}))`))),
];

export const shells: readonly Trick[] = [
  scriptTrick((text, random) => `${quoted("bash", random)} -c ${singleQuoted(text)}`),
  scriptTrick((text) => `sh -c ${singleQuoted(text)}`),
  // The plain shell of many systems reads these differently.
  scriptTrick((text) => `sh -c ${singleQuoted(`echo $'a\\'; ${text} #'`)}`),
  scriptTrick((text) => `sh -c ${singleQuoted(`echo "\${NOPE:-'}"; ${text} #'}"`)}`),
  scriptTrick((text) => `sh <<'E'\necho $'a\\'; ${text} #'\nE`),
  scriptTrick((text) => `env sh -c ${singleQuoted(`[[ a > .envrc ]]; ${text}`)}`),
  scriptTrick((text) => `bash -o errexit -c ${singleQuoted(text)}`),
  scriptTrick((text) => `bash -xc ${singleQuoted(text)} 2>/dev/null`),
  scriptTrick((text) => `/bin/bash -c ${singleQuoted(text)}`),
  scriptTrick((text) => `bash <<'E'\n${text}\nE`),
  scriptTrick((text) => `sh -s <<"E"\n${text}\nE`),
  scriptTrick((text) => `bash <<< ${singleQuoted(text)}`),
  scriptTrick((text) => `script -qc ${singleQuoted(text)} /dev/null < /dev/null`),
  scriptTrick((text) => `flock x.lock -c ${singleQuoted(text)}`),
  scriptTrick((text) => `env -S ${singleQuoted(`sh -c ${literal(text)}`)}`),
];

/** Scripts that reach a shell as data. */
export const feeding: readonly Trick[] = [
  scriptTrick((text) => `echo ${singleQuoted(text)} | bash`),
  scriptTrick((text) => `printf '%s\\n' ${singleQuoted(text)} | sh -`),
  scriptTrick((text) => `base64 -d <<< ${Buffer.from(text).toString("base64")} | sh`),
  scriptTrick((text) => `bash -c "$(echo ${Buffer.from(text).toString("base64")} | base64 -d)"`),
  scriptTrick((text) => `bash <(echo ${singleQuoted(text)})`),
  scriptTrick((text) => `echo ${singleQuoted(text)} > x.sh; bash x.sh`),
  scriptTrick((text) => `echo ${singleQuoted(text)} | tee x.sh > /dev/null; sh ./x.sh`),
  scriptTrick((text) => `echo ${singleQuoted(text)} > a; cp a b; . ./b`),
  scriptTrick((text) => `printf '#!/bin/sh\\n%s\\n' ${singleQuoted(text)} > run; chmod +x run; ./run`),
  scriptTrick((text) => `mkdir -p d; echo ${singleQuoted(text)} > d/y; cd d; bash y`),
  scriptTrick((text) => `bash -c 'eval "$1"' _ ${singleQuoted(text)}`),
  scriptTrick((text) => `bash -c '"$@"' _ sh -c ${singleQuoted(text)}`),
  scriptTrick((text) => `xargs -I{} sh -c {} <<< ${singleQuoted(text).replaceAll('"', '\\"')}`),
];

export const wrapping: readonly Trick[] = [
  wordTrick((words) => `env ${words}`),
  wordTrick((words) => `env -u HOME X=1 ${words}`),
  wordTrick((words) => `env -C . ${words}`),
  wordTrick((words) => `nohup ${words}`),
  wordTrick((words) => `timeout 5 ${words}`),
  wordTrick((words) => `timeout -s KILL --foreground 5 ${words}`),
  wordTrick((words) => `nice -n 5 ${words}`),
  wordTrick((words) => `nice -5 ${words}`),
  wordTrick((words) => `stdbuf -oL ${words}`),
  wordTrick((words) => `setsid -w ${words}`),
  wordTrick((words) => `command ${words}`),
  wordTrick((words) => `command -p env ${words}`),
  wordTrick((words) => `exec ${words}`),
  wordTrick((words) => `exec -a ls ${words}`),
  wordTrick((words) => `eval ${words}`),
  wordTrick((words) => `builtin eval ${words}`),
  wordTrick((words) => `builtin command ${words}`),
  wordTrick((words) => `flock x.lock ${words}`),
  wordTrick((words) => `setarch -R ${words}`),
  wordTrick((words) => `ionice -c 3 ${words}`),
  wordTrick((words) => `xargs ${words} < /dev/null`),
  wordTrick((words) => `xargs -r --replace ${words} <<< x`),
  wordTrick((words) => `echo x | xargs -I{} ${words}`),
  wordTrick((words) => `find . -maxdepth 0 -exec ${words} \\;`),
  wordTrick((words) => `find README.md -execdir ${words} {} +`),
  wordTrick((words) => `coproc ${words}; wait`),
  wordTrick((words) => `LANG=C ${words}`),
  wordTrick((words) => `X=1 ${words}`),
  wordTrick((words) => `2>/dev/null ${words}`),
  wordTrick((words) => `</dev/null >/dev/null ${words}`),
  wordTrick((words) => `\t ${words}\r`),
  wordTrick((words) => `set -- ${words}; "$@"`, { hidden: true }),
  wordTrick((words) => `run() { "$@"; }; run ${words}`, { hidden: true }),
  wordTrick((words) => `hash -r; ${words}`),
  wordTrick((words) => `A=(${words}); "\${A[@]}"`, { hidden: true }),
  wordTrick((words) => words),
  {
    hidden: true,
    make: ({ words }) =>
      words?.every((word) => /^[\w./-]+$/.test(word)) && words.length > 1
        ? { text: `{${words.join(",")}}` }
        : undefined,
  },
  {
    hidden: true,
    make: ({ words }) => (words?.every((word) => /^[\w./-]+$/.test(word)) ? { text: words.join("${IFS}") } : undefined),
  },
  {
    hidden: true,
    make: ({ words }) => (words ? { text: `echo ${words.map(singleQuoted).join(" ")} | xargs env` } : undefined),
  },
  {
    hidden: true,
    make: ({ words }) => (words ? { text: `env -S ${singleQuoted(words.join(" "))}` } : undefined),
  },
  {
    hidden: true,
    make: ({ words }) =>
      words && words.length > 1
        ? { text: `echo ${words.slice(1).map(singleQuoted).join(" ")} | xargs ${words[0]}` }
        : undefined,
  },
  {
    hidden: true,
    make: ({ words }) =>
      words
        ? { text: `for c in ${singleQuoted(words[0]!)}; do $c ${words.slice(1).map(singleQuoted).join(" ")}; done` }
        : undefined,
  },
  {
    hidden: true,
    make: ({ words }) =>
      words?.[0] && /^[a-z]+$/.test(words[0])
        ? { text: `{BIN}/${words[0].slice(0, -1)}? ${words.slice(1).map(singleQuoted).join(" ")}` }
        : undefined,
  },
  {
    hidden: true,
    make: ({ words }) =>
      words?.[0] && /^[a-z]+$/.test(words[0])
        ? { text: `hash -p {BIN}/${words[0]} ls; ls ${words.slice(1).map(singleQuoted).join(" ")}` }
        : undefined,
  },
];

export const options: readonly Trick[] = [
  scriptTrick((text) => `git -c alias.x=${singleQuoted(`!${text} #`)} x`),
  scriptTrick((text) => `git -c core.fsmonitor=${singleQuoted(`${text};false`)} status -s`),
  scriptTrick((text) => `GIT_EXTERNAL_DIFF=${singleQuoted(`${text} #`)} git diff`),
  scriptTrick((text) => `git ls-remote --upload-pack=${singleQuoted(`${text};`)} .`),
  scriptTrick((text) => `git ls-remote --upl ${singleQuoted(`${text};`)} .`),
  scriptTrick((text) => `git clone -q -u ${singleQuoted(`${text};`)} . copy`),
  scriptTrick((text) => `git grep -O${singleQuoted(`${text};`)} hello`),
  scriptTrick((text) => `git rebase -q --exec ${singleQuoted(text)} HEAD`),
  scriptTrick((text) => `git config alias.y ${singleQuoted(`!${text} #`)}; git y`),
  scriptTrick((text) => `git submodule --quiet foreach ${singleQuoted(text)}; git stash list`),
  scriptTrick((text) => `sed -n ${singleQuoted(`1e ${text}`)} README.md`, { hidden: true }),
  scriptTrick((text) => `sed ${singleQuoted(`s,.*,${text.replaceAll(/[,&\\]/g, "\\$&")},e`)} README.md`, {
    hidden: true,
  }),
  scriptTrick((text) => `awk ${singleQuoted(`BEGIN{system(${literal(text)})}`)}`, { hidden: true }),
  scriptTrick((text) => `awk ${singleQuoted(`/"/{next}{system(${literal(text)})}`)} README.md`, { hidden: true }),
  scriptTrick((text) => `awk ${singleQuoted(`BEGIN{print "" | ${literal(text)}}`)}`, { hidden: true }),
  scriptTrick((text) => `awk ${singleQuoted(`BEGIN{${literal(text)} | getline}`)}`, { hidden: true }),
  scriptTrick((text) => `split --filter=${singleQuoted(`${text}; cat >/dev/null`)} README.md`),
  scriptTrick((text) => `split --fil=${singleQuoted(`${text}; cat >/dev/null`)} README.md`),
  scriptTrick((text) => `tar cf /dev/null README.md --checkpoint=1 --checkpoint-action=exec=${singleQuoted(text)}`),
  scriptTrick((text) => `tar cf a.tar README.md; tar xf a.tar --to-command=${singleQuoted(text)}`),
  scriptTrick((text) => `make -s -f - <<< ${singleQuoted(`a:;${text.replaceAll("$", "$$")}`)}`, { hidden: true }),
  scriptTrick((text) => `make -s --eval=${singleQuoted(`a:;${text.replaceAll("$", "$$")}`)} a`, { hidden: true }),
  scriptTrick((text) => `perl -e ${singleQuoted(`system(${literal(text).replaceAll(/[$@]/g, "\\$&")})`)}`, {
    hidden: true,
  }),
  scriptTrick((text) => `perl -ne ${singleQuoted(`system(${literal(text).replaceAll(/[$@]/g, "\\$&")})`)} README.md`, {
    hidden: true,
  }),
  scriptTrick((text) => `python3 -c ${singleQuoted(`import os;os.system(${literal(text)})`)}`, { hidden: true }),
  scriptTrick((text) => `python3 <<'E'\nimport os\nos.system(${literal(text)})\nE`, { hidden: true }),
  scriptTrick((text) => `echo ${singleQuoted(`import os;os.system(${literal(text)})`)} | python3`, { hidden: true }),
  scriptTrick((text) => `ed -s <<< ${singleQuoted(`!${text}`)}`, { hidden: true }),
  scriptTrick((text) => `vim -es -u NONE -c ${singleQuoted(`!${text.replaceAll(/[%#!]/g, "\\$&")}`)} -c q`, {
    hidden: true,
  }),
  scriptTrick((text) => `sqlite3 :memory: ${singleQuoted(`.shell ${text}`)}`, { hidden: true }),
  scriptTrick((text) => `zip -q -T -TT ${singleQuoted(`${text};`)} o.zip README.md`),
];
