// Runs git safely: programs that a repository configures are not run, and commands that only read change nothing.
import { runWatched } from "../process/irregular-files.ts";
import { UserError } from "../protocol/error-codes.ts";
import { words } from "../text/words.ts";

export type GitCall = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  input?: string;
  /** Additional environment variables for this call. */
  variables?: Record<string, string>;
  signal?: AbortSignal;
};

const maxOutput = 256 * 1024 * 1024;

/** Disables a repository's hooks, file watchers, automatic maintenance, and addresses that are commands in these calls. */
const settings = [
  ...["core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"],
  ...["submodule.recurse=false", "protocol.ext.allow=never", "protocol.fd.allow=never"],
].flatMap((setting) => ["-c", setting]);

/** Returns the output. Throws a UserError with git's own message. */
export async function git(args: readonly string[], call: GitCall): Promise<string> {
  const { stdout, problem } = await tryGit(args, call);
  if (problem !== undefined) throw new UserError("GIT_FAILED", `git ${args[0]} failed in ${call.cwd}: ${problem}`);
  return stdout;
}

/** Runs git. If it failed, `problem` says why. */
export async function tryGit(
  args: readonly string[],
  { cwd, env, input, variables = {}, signal }: GitCall,
): Promise<{ stdout: string; problem?: string; exitCode: number | null }> {
  const gitEnvironment = { ...plainEnvironment(env), ...variables };
  const safe = await withoutPrograms(args, { cwd, env: gitEnvironment });
  if (typeof safe === "string") return { stdout: "", exitCode: null, problem: safe };
  const [command, ...rest] = args;
  const modules = comparing.has(command!) ? ["--ignore-submodules=dirty"] : [];
  const end = await runWatched({
    command: ["git", ...settings, command!, ...modules, ...rest],
    cwd,
    env: { ...gitEnvironment, ...safe },
    keepBytes: maxOutput,
    leftovers: "ignore",
    ...(input !== undefined && { input }),
    ...(signal && { signal }),
  });
  signal?.throwIfAborted();
  const stdout = end.stdout.toString("utf8");
  const { exitCode } = end;
  if (end.failure) return { stdout, exitCode, problem: "git could not be started. Install git, then try again." };
  if (end.isCut) return { stdout, exitCode, problem: "it printed more than 256 MiB." };
  if (exitCode === 0) return { stdout, exitCode };
  return { stdout, exitCode, problem: end.stderr.trim().split("\n").slice(-3).join(" ") || `exit code ${exitCode}` };
}

/** Commands that would look into submodules, whose own settings name programs. */
const comparing = words("status diff diff-index diff-files");
/** Git commands that contact other repositories. */
const reaching = words("fetch push pull ls-remote");
/** Git commands that access neither files of the work tree nor other repositories. */
const onlyLooking = words("config rev-parse rev-list cat-file update-ref for-each-ref check-ref-format init");
/** Settings of a repository that name programs, and their harmless replacements. */
const programs: [key: RegExp, value: string][] = [
  [/^filter\..*\.(?:clean|smudge|process)$/s, ""],
  [/^filter\..*\.required$/s, "false"],
  [/^merge\..*\.driver$/s, "git merge-file --marker-size=%L %A %O %B"],
  [/^diff\..*\.textconv$/s, "cat"],
  [/^(?:diff\.external|diff\..*\.command|credential(?:\..*)?\.helper|core\.(?:gitproxy|askpass))$/s, ""],
  [/^core\.sshcommand$/, "ssh"],
  [/^core\.alternaterefscommand$/, "true"],
  [/^gpg\.(?:.*\.)?(?:program|defaultkeycommand)$/s, "false"],
];

/** What a repository starts at the other end of a remote. Nothing replaces it: of several values, git takes the first. */
const farProgram = /^remote\..*\.(?:uploadpack|receivepack|vcs)$/s;
/** Prevents git from fetching missing objects of a partial clone, which would run programs of its remote. */
const noFetch = { GIT_NO_LAZY_FETCH: "1" };

/** Returns variables that replace programs in the repository's own configuration, or why git is not run. Those of the user's configuration stay. */
async function withoutPrograms(
  [command]: readonly string[],
  call: Pick<GitCall, "cwd" | "env">,
): Promise<Record<string, string> | string> {
  if (onlyLooking.has(command!)) return noFetch;
  const listed = await runWatched({
    command: ["git", "config", "--list", "--includes", "--show-scope", "--name-only", "-z"],
    ...call,
    keepBytes: maxOutput,
    leftovers: "ignore",
  });
  const fields = listed.stdout.toString("utf8").split("\0");
  const isOfRepository = (index: number) => index % 2 === 1 && /^(?:local|worktree)$/.test(fields[index - 1]!);
  const keys = [...new Set(fields.filter((_, index) => isOfRepository(index)))];
  const far = keys.find((key) => farProgram.test(key));
  if (far && reaching.has(command!)) return `its own configuration names a program that is not run: ${far}.`;
  const found = keys.flatMap((key) => {
    const value = programs.find(([pattern]) => pattern.test(key))?.[1];
    return value === undefined ? [] : [[key, value] as const];
  });
  const pairs = found.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const count = pairs.length === 0 ? {} : { GIT_CONFIG_COUNT: String(found.length) };
  return { ...count, ...Object.fromEntries(pairs), ...(far && noFetch) };
}

/** Removes variables that git sets for hooks, which name another repository. Indexes are not refreshed on disk by reads. */
function plainEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^GIT_(?!CONFIG_GLOBAL$|CONFIG_SYSTEM$|AUTHOR_|COMMITTER_)/.test(name),
  );
  return { ...Object.fromEntries(kept), LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" };
}

/** Splits output in which each entry ends with NUL. */
export function splitEntries(output: string): string[] {
  return output.split("\0").filter((each) => each !== "");
}
