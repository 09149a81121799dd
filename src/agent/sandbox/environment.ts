// Filters the environment of commands in the sandbox by a list of permitted variables.
import { words } from "../../text/words.ts";

/** Variables for the user, the language, the terminal, compilers and tools. */
const names = words(`
  PATH PWD HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLORTERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CI EDITOR
  VISUAL PAGER CURSOR_AGENT CURSOR_CONVERSATION_ID HOSTNAME MAKEFLAGS CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS PKG_CONFIG_PATH RUSTFLAGS
  VIRTUAL_ENV PIPENV_VENV_IN_PROJECT POETRY_HOME PNPM_HOME BUN_INSTALL DENO_DIR VOLTA_HOME FNM_DIR FNM_MULTISHELL_PATH
  ASDF_DIR ASDF_DATA_DIR SDKMAN_DIR DOTNET_ROOT ANDROID_HOME ANDROID_SDK_ROOT NIX_PROFILES NIX_SSL_CERT_FILE
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_DATA_DIRS
  XDG_CONFIG_DIRS`);
/** Locale variables, paths and versions of tool managers (`_VERSION`, `_ROOT`, `_HOME`), and git's author names. */
const patterns = [
  /^LC_[A-Z]+$/,
  /^(PYENV|RBENV|NODENV|GOENV|JENV|NVM|NODE|PYTHON|GO|GOPATH|CARGO|RUSTUP|JAVA|MAVEN|M2|GRADLE|CONDA|GEM|RUBY)(_[A-Z]+)*_?(ROOT|HOME|DIR|BIN|PATH|VERSION|ENV|PREFIX|EXE)$/,
  /^(GOPATH|GOROOT|GOFLAGS|GOBIN|PYTHONPATH|NODE_PATH|NODE_ENV|NODE_OPTIONS)$/,
  /^GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$/,
  // The mark by which the process runner finds the processes of a call.
  /^COURSER_CALL_/,
];

/** Returns the variables that a sandboxed program may see. `env` contains no secrets; `more` are names that the user permits as well. */
export function confinedEnvironment(
  env: Readonly<Record<string, string>>,
  more: readonly string[],
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (names.has(name) || more.includes(name) || patterns.some((pattern) => pattern.test(name)))
      variables[name] = value;
  }
  return variables;
}

/**
 * Gives programs private cache folders where those in the home folder cannot be written. Caches of downloads are replaced only if there
 * is a network to download them again: without one, the user's own are better than none.
 */
export function privateCaches(temporary: string, { hasNetwork }: { hasNetwork: boolean }): Record<string, string> {
  const cache = `${temporary}/.cache`;
  const always = { npm_config_cache: `${cache}/npm`, PIP_CACHE_DIR: `${cache}/pip`, GOCACHE: `${cache}/go-build` };
  if (!hasNetwork) return always;
  return {
    ...always,
    XDG_CACHE_HOME: cache,
    YARN_CACHE_FOLDER: `${cache}/yarn`,
    npm_config_store_dir: `${cache}/pnpm`,
    BUN_INSTALL_CACHE_DIR: `${cache}/bun`,
    DENO_DIR: `${cache}/deno`,
    UV_CACHE_DIR: `${cache}/uv`,
    GOMODCACHE: `${cache}/go-mod`,
    CARGO_HOME: `${cache}/cargo`,
    GRADLE_USER_HOME: `${cache}/gradle`,
    NUGET_PACKAGES: `${cache}/nuget`,
    COMPOSER_HOME: `${cache}/composer`,
  };
}
