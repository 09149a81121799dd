// Resolves the user's choice of files to the source that a worker creates the workspace from: this folder, a repository, or neither.
import { isAbsolute } from "node:path";
import { UserError } from "../protocol/error-codes.ts";
import type { RunRequest } from "../protocol/run.ts";
import { holdsLogin } from "../redact/secret-names.ts";
import { git, tryGit } from "../worktrees/git.ts";
import type { Fleet, WorkspaceSource } from "./fleet.ts";
import { refuseRestrictionsLeftBehind } from "./restrictions-left-behind.ts";
import { describeUpload, type Upload, uploadWorkspace } from "./upload/index.ts";

/**
 * `upload`: the workspace as it is here, with ignored files too if `isWhole`. `repository`: its current commit, from its remote.
 * `none`: the directory on the worker's disk.
 */
export type SourceChoice = WorkspaceSource | { type: "upload"; isWhole?: boolean } | { type: "repository" | "none" };

/** Parses `upload`, `git`, `git:URL#REF`, `folder:PATH` or `none`. Throws a UserError; `given` names the option in it. */
export function readSource(text: string, given = "--source"): SourceChoice {
  if (text === "upload") return { type: "upload" };
  if (text === "none") return { type: "none" };
  if (text === "git") return { type: "repository" };
  const [, kind, rest = ""] = /^(git|folder):(.+)$/s.exec(text) ?? [];
  if (kind === "folder") {
    if (!isAbsolute(rest))
      throw new UserError("USAGE", `${given} '${text}': the folder must be an absolute path, on the worker's disk.`);
    return { type: "folder", path: rest };
  }
  if (kind === "git") return repositoryAt(rest, given);
  throw new UserError(
    "USAGE",
    `${given} '${text}' is not a source. It may be upload, git, git:URL#REF, folder:PATH or none.`,
  );
}

function repositoryAt(text: string, given: string): WorkspaceSource {
  const [, from = text, ref] = /^(.*?)(?:#([^#]*))?$/s.exec(text) ?? [];
  if (holdsLogin(from))
    throw new UserError(
      "USAGE",
      `${given}: the address of the repository holds a login, and no secret is sent to a fleet. Leave it out: workers have credentials of their own.`,
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
    throw new UserError(
      "USAGE",
      `Cannot be sent to a fleet: ${wrong.join(", ")}. It is of this machine, and workers have others.`,
    );
}

export type SendOptions = {
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Called with a line that describes what was sent. */
  onSent?(line: string): void;
};

/** Uploads each workspace once, even if several runs use it. */
export class FileSender {
  readonly #fleet: Fleet;
  readonly #options: SendOptions;
  readonly #sent = new Map<string, Promise<Upload>>();

  constructor(fleet: Fleet, options: SendOptions) {
    this.#fleet = fleet;
    this.#options = options;
  }

  /** `run` is the run that is about to be queued. Returns undefined if it has no source. */
  async sourceFor(run: string, request: RunRequest, choice: SourceChoice): Promise<WorkspaceSource | undefined> {
    if (choice.type === "none") return undefined;
    const { workspace } = request;
    await refuseRestrictionsLeftBehind(request, choice, this.#options);
    if (choice.type === "repository") return this.#repository(workspace);
    if (choice.type !== "upload") return choice as WorkspaceSource;
    const sending = this.#sent.get(workspace) ?? this.#upload(run, workspace, choice.isWhole === true);
    this.#sent.set(workspace, sending);
    try {
      return (await sending).source;
    } catch (error) {
      this.#sent.delete(workspace);
      throw error;
    }
  }

  async #upload(run: string, workspace: string, isWhole: boolean): Promise<Upload> {
    const upload = await uploadWorkspace(this.#fleet, run, workspace, { ...this.#options, isWhole });
    this.#options.onSent?.(describeUpload(workspace, upload));
    return upload;
  }

  /** Refuses a commit that is on no remote branch, because workers could not fetch it. */
  async #repository(workspace: string): Promise<WorkspaceSource> {
    const call = { ...this.#options, cwd: workspace };
    const { stdout: from, problem } = await tryGit(["remote", "get-url", "origin"], call);
    if (problem !== undefined)
      throw new UserError(
        "USAGE",
        `${workspace} has no remote "origin" to fetch from. Name the repository: --source git:URL#REF`,
      );
    const ref = (await git(["rev-parse", "HEAD"], call)).trim();
    if ((await git(["branch", "--remotes", "--contains", ref], call)).trim() === "")
      throw new UserError(
        "USAGE",
        `The commit ${ref.slice(0, 10)} was not pushed. Push it, or send the files: --source upload`,
      );
    return { ...repositoryAt(from.trim(), "--source git"), ref } as WorkspaceSource;
  }
}
