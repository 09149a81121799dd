// Resolves the user's choice of files to the source that a worker creates the workspace from: this folder, a repository, or neither.
import { isAbsolute } from "node:path";
import { usageError } from "../protocol/error-codes.ts";
import type { RunRequest } from "../protocol/run.ts";
import { holdsLogin } from "../redact/secret-names.ts";
import { configDir } from "../store/config-dir.ts";
import { isTrusted } from "../store/trust.ts";
import type { Fleet, NewRun, WorkspaceSource } from "./fleet.ts";
import type { Upload } from "./upload/index.ts";

/**
 * `upload`: the workspace as it is here, with ignored files too if `isWhole`. `repository`: its current commit, from its remote.
 * `none`: the directory on the worker's disk.
 */
export type SourceChoice =
  | WorkspaceSource
  | { type: "upload"; isWhole?: boolean }
  | { type: "repository" }
  | { type: "none" };

/** Parses `upload`, `git`, `git:URL#REF`, `folder:PATH` or `none`. Throws a UserError; `given` names the option in it. */
export function readSource(text: string, given = "--source"): SourceChoice {
  if (text === "upload") return { type: "upload" };
  if (text === "none") return { type: "none" };
  if (text === "git") return { type: "repository" };
  const [, kind, rest = ""] = /^(git|folder):(.+)$/s.exec(text) ?? [];
  if (kind === "folder") {
    if (!isAbsolute(rest))
      throw usageError(`${given} '${text}': the folder must be an absolute path, on the worker's disk.`);
    return { type: "folder", path: rest };
  }
  if (kind === "git") return repositoryAt(rest, given);
  throw usageError(`${given} '${text}' is not a source. It may be upload, git, git:URL#REF, folder:PATH or none.`);
}

function repositoryAt(text: string, option: string): WorkspaceSource {
  const [, from = text, ref] = /^(.*?)(?:#([^#]*))?$/s.exec(text) ?? [];
  if (holdsLogin(from))
    throw usageError(
      `${option}: the address of the repository holds a login, and no secret is sent to a fleet. Leave it out: workers have credentials of their own.`,
    );
  return { type: "git", from, ...(ref !== undefined && ref !== "" && { ref }) };
}

/** Throws a UserError for options that name files of this machine, which cannot be sent along. */
export function refuseLocalFiles(request: RunRequest, choice: SourceChoice): void {
  const isFile = (given: string) => !/^\s*\{/.test(given);
  const wrong = [
    ...(request.roots?.length ? ["--add-dir"] : []),
    ...(request.pluginDirs?.length ? ["--plugin-dir"] : []),
    ...(request.mcpConfigs?.some(isFile) ? ["--mcp-config with a file (the JSON itself can be)"] : []),
    ...(request.hooks?.some(isFile) ? ["--hooks with a file (the JSON itself can be)"] : []),
    ...(request.chat?.type === "resume" ? ["--resume"] : []),
  ];
  if (wrong.length > 0 && choice.type !== "none")
    throw usageError(`Cannot be sent to a fleet: ${wrong.join(", ")}. It is of this machine, and workers have others.`);
}

export type SendOptions = {
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Called with a line of text that describes what was sent. */
  onSent?(line: string): void;
};

/** Adds the source of its files to a run that is about to be queued. */
export type FileSender = (run: NewRun, choice: SourceChoice) => Promise<NewRun>;

/** Creates a function that sends the files for runs. A workspace that several runs use is uploaded once. */
export function fileSender(fleet: Fleet, options: SendOptions): FileSender {
  const uploads = new Map<string, Promise<Upload>>();
  const upload = async (run: string, workspace: string, isWhole: boolean) => {
    const { describeUpload, uploadWorkspace } = await import("./upload/index.ts");
    const upload = await uploadWorkspace(fleet, run, workspace, { ...options, isWhole });
    options.onSent?.(describeUpload(workspace, upload));
    return upload;
  };
  return async (run, choice) => {
    if (choice.type === "none") return run;
    const { request } = run.spec;
    const { workspace } = request;
    const { refuseRestrictionsLeftBehind } = await import("./restrictions-left-behind.ts");
    await refuseRestrictionsLeftBehind(request, choice, options);
    const withSource = (source: WorkspaceSource, more: Partial<RunRequest> = {}): NewRun => ({
      ...run,
      spec: { ...run.spec, source, request: { ...request, ...more } },
    });
    if (choice.type !== "repository" && choice.type !== "upload") return withSource(choice);
    // If the user trusts the folder on this machine, it is trusted on the worker too.
    const trust = isTrusted(configDir(options.env), workspace) ? { trust: true } : {};
    if (choice.type === "repository") return withSource(await repositorySource(workspace, options), trust);
    const sending = uploads.get(workspace) ?? upload(run.id, workspace, choice.isWhole === true);
    uploads.set(workspace, sending);
    try {
      return withSource((await sending).source, trust);
    } catch (error) {
      uploads.delete(workspace);
      throw error;
    }
  };
}

/** Refuses a commit that is on no remote branch, because workers could not fetch it. */
async function repositorySource(workspace: string, options: SendOptions): Promise<WorkspaceSource> {
  const { git, tryGit } = await import("../worktrees/git.ts");
  const call = { ...options, cwd: workspace };
  const { stdout: from, problem } = await tryGit(["remote", "get-url", "origin"], call);
  if (problem !== undefined)
    throw usageError(`${workspace} has no remote "origin" to fetch from. Name the repository: --source git:URL#REF`);
  const ref = (await git(["rev-parse", "HEAD"], call)).trim();
  if ((await git(["branch", "--remotes", "--contains", ref], call)).trim() === "")
    throw usageError(`The commit ${ref.slice(0, 10)} was not pushed. Push it, or send the files: --source upload`);
  return { ...repositoryAt(from.trim(), "--source git"), ref } as WorkspaceSource;
}
