// Finds variables whose value becomes code: a command, options of a program, or a file or folder that it loads.
import { list } from "./command-names.ts";
import { programSetting } from "./executing-options.ts";

/** What a variable contributes. `isOpaque` means that its effect on a program cannot be determined. */
export type VariableCode = {
  /** Texts that may be commands. */
  commands: string[];
  /** A program and the options that the variable adds. */
  options?: { program: string; words: string[] };
  /** Code in a language other than shell. */
  code?: string;
  /** Files, module folders, or folders used as the home, that programs load from. */
  loads: { path: string; kind: LoadKind }[];
  isOpaque: boolean;
};

export type LoadKind = "file" | "modules" | "home";

/** Matches variables whose value is run by programs. */
const programVariable =
  /(COMMAND|EDITOR|VISUAL|PAGER|BROWSER|ASKPASS|DIFF|OPEN|CLOSE|SHELL|PROG(RAM)?|RSH|^(BASH_)?ENV|SSH|PROXY_COMMAND|CC|CXX|LD|RUSTC|RUSTDOC|_WRAPPER|_LAUNCHER|_RUNNER|_LINKER|^GIT_CONFIG_VALUE_\d+)$/;
/** Variables that the shell expands again when it displays them. */
const promptVariable = /^(PS[0-4]|PROMPT|RPROMPT|BASH_ENV|ENV)$/;
/** Matches arrays that change the meaning of command names. */
export const renamingLists = /^BASH_(ALIASES|CMDS)$/;

/** Variables that contain options, each with the program that reads them. */
const optionVariables: readonly [RegExp, string][] = [
  [/^NODE_OPTIONS$/, "node"],
  [/^RUBYOPT$/, "ruby"],
  [/^PERL5OPT$/, "perl"],
  [/^TAR_OPTIONS$/, "tar"],
  [/^(GNU)?MAKEFLAGS$|^MFLAGS$/, "make"],
  [/^GOFLAGS$/, "go"],
  [/^ZIPOPT$/, "zip"],
  [/^(C|CXX|CPP|LD)FLAGS$/, "gcc"],
  [/^LESS$/, "less"],
];
const otherOptions = /(_|^)(OPTIONS|OPTS|ADDOPTS|[A-Z]?FLAGS|ARGS)$/;
/** Options of unknown programs that load or run something, judged by their names. */
const loadingOption =
  /(^|[\s=:-])(javaagent|agentlib|agentpath|XX:On\w+|require|import|loader|plugin|preload|exec\w*|become|toolexec|linker|eval|load|rcfile|command|filter|wrapper|s|run)([\s=:(]|$)|(^|\s)-p\s*(?!no:)\S/i;

/** Matches variables with folders that modules are loaded from. */
const moduleVariable = /^(PYTHONPATH|NODE_PATH|PERL5LIB|PERLLIB|RUBYLIB|CLASSPATH|PYTHONUSERBASE)$/;
/** Matches variables with a file that is loaded first. */
const fileVariable = /^(PYTHONSTARTUP|MAKEFILES|R_PROFILE(_USER)?|BUNDLE_GEMFILE)$/;
/** Matches variables with folders in which programs look for settings. */
const homeVariable = /^(HOME|ZDOTDIR|XDG_CONFIG_HOME|USERPROFILE)$/;
/** Library folders, which are harmless where the system has its own. */
const libraryVariable = /^(LD_LIBRARY_PATH|DYLD_\w+PATH|GCONV_PATH)$/;

/** Variables whose effect cannot be read, or is configuration in another language. */
const opaqueVariable = new RegExp(
  `^(${list(`
    LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV GIT_CONFIG GIT_CONFIG_(GLOBAL|SYSTEM|PARAMETERS) GIT_EXEC_PATH
    GIT_(COMMON_)?DIR GIT_ATTR_SOURCE PERL5DB PYTHONHOME PYTHONBREAKPOINT PYTHONWARNINGS PYTHONINSPECT LUA_(C?PATH)\\w*
    VIMINIT EXINIT VIM VIMRUNTIME EMACSLOADPATH PSQLRC INPUTRC RIPGREP_CONFIG_PATH WGETRC CURL_HOME OPENSSL_CONF
    OPENSSL_MODULES PHPRC PHP_INI_SCAN_DIR DOTNET_STARTUP_HOOKS COR\\w*_PROFILER\\w* TCLLIBPATH BASH_FUNC_.*
    npm_config_(script_shell|userconfig|globalconfig|node_options|git|shell|init_module|prefix)`).join("|")})$`,
  "i",
);
/** Matches values with which these variables have no effect. */
const harmlessValue = /^(|0|1|\/dev\/null|\.git|\.\/\.git|(error|ignore|default|always|once|module|all)(::\w+)?)$/;

const endOfPrompt = "END_OF_PROMPT";

export function variableCode(name: string, value: string): VariableCode {
  const found: VariableCode = { commands: [], loads: [], isOpaque: false };
  const paths = value.split(":").filter((path) => path !== "" && !/^\$\{?(?!PWD\b)\w+(:[-+][^}]*)?\}?$/.test(path));
  if (programVariable.test(name) || renamingLists.test(name)) found.commands.push(value.replace(/^[!|]+/, ""));
  // Treated as a here-document, where even quoted text is expanded.
  if (promptVariable.test(name) && /[$`]/.test(value))
    found.commands.push(`: <<${endOfPrompt}\n${value}\n${endOfPrompt}`);
  // Functions exported through the environment, and settings that git reads from it.
  if (/^BASH_FUNC_/.test(name)) found.commands.push(value.replace(/^\(\)\s*/, ""));
  if (name === "GIT_CONFIG_PARAMETERS") found.commands.push(...value.split(/[='!]+/).filter((part) => /\w/.test(part)));
  if (/^GIT_CONFIG_VALUE_/.test(name)) found.commands.push(`git ${value}`);
  if (/^LUA_INIT/.test(name)) found.code = value;
  const program = optionVariables.find(([each]) => each.test(name))?.[1];
  if (program) found.options = { program, words: value.split(/\s+/).filter(Boolean) };
  const kind = moduleVariable.test(name) ? "modules" : homeVariable.test(name) ? "home" : "file";
  if (kind !== "file" || fileVariable.test(name)) found.loads.push(...paths.map((path) => ({ path, kind }) as const));
  found.isOpaque =
    (opaqueVariable.test(name) && !harmlessValue.test(value)) ||
    (/^GIT_CONFIG_KEY_/.test(name) && programSetting.test(value)) ||
    (libraryVariable.test(name) && paths.some((path) => !/^\/(usr|lib|opt|nix|System|Library)\b/.test(path))) ||
    (!program && otherOptions.test(name) && loadingOption.test(value));
  return found;
}
