// Rarer ways to start something: what the shell expands later, what the environment carries, programs that start others.
import { singleQuoted } from "./spellings.ts";
import type { Payload, Trick } from "./tricks.ts";

const isLine = (text: string) => !text.includes("\n") && text.length < 2000;
/** `hidden`: only where tricks that hide what runs count as well. */
const around = (make: (text: string) => string, options: { hidden?: true } = {}): Trick => ({
  ...options,
  make: ({ text }: Payload) => (isLine(text) ? { text: make(text) } : undefined),
});
const before = (lead: string, options: { hidden?: true } = {}): Trick => ({
  ...options,
  make: ({ words }: Payload) => (words ? { text: `${lead} ${words.map(singleQuoted).join(" ")}` } : undefined),
});

/** Data that the shell turns into code later. */
export const lateExpansion: readonly Trick[] = [
  around((text) => `trap -- ${singleQuoted(text)} EXIT`),
  around((text) => `trap -- ${singleQuoted(text)} RETURN; f() { :; }; f`),
  around((text) => `trap ${singleQuoted(text)} ERR; false`),
  around((text) => `PS4=${singleQuoted(`$(${text})`)}; set -x; :`),
  around((text) => `PS4=${singleQuoted(`$(${text})`)} bash -xc :`),
  around((text) => `env PS4=${singleQuoted(`$(${text})`)} bash -xc :`),
  around((text) => `PROMPT_COMMAND=${singleQuoted(text)} bash -i < README.md`),
  around((text) => `PS1=${singleQuoted(`$(${text})`)} bash --norc -i < README.md`),
  around((text) => `exec 3<<<${singleQuoted(text)}; bash <&3`),
  around((text) => `exec 3<<<${singleQuoted(text)}; . /dev/fd/3`),
  around((text) => `bash /dev/fd/3 3<<<${singleQuoted(text)}`),
  around((text) => `env ${singleQuoted(`BASH_FUNC_ls%%=() { ${text}; }`)} bash -c ls`),
  around((text) => `shopt -s expand_aliases; BASH_ALIASES[ls]=${singleQuoted(text)}\nls`),
  around((text) => `command_not_found_handle() { ${text}; }; nosuchprogram`),
  around((text) => `select x in a; do ${text}; break; done <<< 1`),
  around((text) => `declare -n r=${singleQuoted(`a[$(${text})0]`)}; r=1`),
  around((text) => `read ${singleQuoted(`a[$(${text})0]`)} <<< 1`),
  around((text) => `readonly ${singleQuoted(`a[$(${text})0]=1`)}`),
  around((text) => `x=${singleQuoted(`a[$(${text})0]`)} bash -c 'echo $((x))'`),
  around((text) => `export x=${singleQuoted(`a[$(${text})0]`)}; bash -c '((x))'`),
  around((text) => `x=${singleQuoted(text)}; : "\${y:=$x}"; eval "$y"`),
  around((text) => `set -- ${singleQuoted(text)}; eval "$1"`),
  around((text) => `mapfile -t x <<< ${singleQuoted(text)}; eval "\${x[0]}"`),
  around((text) => `printf -v x %s ${singleQuoted(text)}; eval "$x"`),
  around((text) => `GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=${singleQuoted(`!${text}`)} git x`),
  around((text) => `GIT_EXTERNAL_DIFF=${singleQuoted(`${text} #`)} git diff --no-index README.md list.txt`),
  around((text) => `GIT_PAGER=${singleQuoted(text)} git -p log -1 | cat`),
  around((text) => `make -f /dev/null ${singleQuoted(`A:=$(shell ${text.replaceAll("$", "$$$$")})`)} x`),
  around((text) => `git bisect start -q; git bisect run sh -c ${singleQuoted(text)}`),
  around((text) => `git rebase -q --exec ${singleQuoted(text)} --root`),
  around((text) => `git -c core.fsmonitor=${singleQuoted(`${text};:`)} status`),
  around((text) => `gdb -batch -ex ${singleQuoted(`shell ${text}`)}`, { hidden: true }),
];

/** Programs that start others. */
export const starting: readonly Trick[] = [
  before("prlimit --nofile=256"),
  before("choom -n 0"),
  before("taskset 1"),
  before("taskset -c 0"),
  before("chrt -o 0"),
  before("setpriv --no-new-privs"),
  before("linux64"),
  before("env - PATH=$PATH"),
  before("env --default-signal=PIPE"),
  before("timeout --preserve-status -k 1 5"),
  before("nice --adjustment=3"),
  before("stdbuf --output=L"),
  before("busybox env"),
  before("gdb -batch -ex run --args"),
  before("script -q /dev/null -c"),
  around((text) => `script --quiet --command ${singleQuoted(text)} /dev/null < /dev/null`),
  around((text) => `setpriv --no-new-privs sh -c ${singleQuoted(text)}`),
  around((text) => `prlimit -n256 bash -c ${singleQuoted(text)}`),
  around((text) => `unshare -r sh -c ${singleQuoted(text)}`),
  around((text) => `find README.md -exec bash -c ${singleQuoted(text)} \\;`),
  around((text) => `xargs -n1 -- sh -c ${singleQuoted(text)} <<< x`),
];
