// Runs one language server and tracks the files sent to it and the errors found in them. Each edit is sent twice, as the file was and
// as it is, so that errors caused by the edit can be told from earlier ones.
import { readFileSync, statSync } from "node:fs";
import { basename, extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isObject, type JsonObject } from "../../json/object.ts";
import { milliseconds, settlesWithin } from "../../process/clock.ts";
import { redactedEnd } from "../../redact/shorten.ts";
import { tryOr } from "../../text/try-or.ts";
import type { ProcessEnd, RunningProcess } from "../process.ts";
import { Connection } from "./connection.ts";
import type { DiskChanges } from "./disk-changes.ts";
import { type CheckedText, type FileErrors, type FoundError, newErrors } from "./new-errors.ts";
import { errorsIn, tsserverError } from "./read-errors.ts";
import type { FoundServer } from "./server-table.ts";

/** `before` is undefined for a new file. `agent` is the one to report errors to. */
export type FileEdit = { path: string; before: string | undefined; after: string; agent: string };

export type LanguageServerOptions = FoundServer & {
  isConfined: boolean;
  disk: DiskChanges;
  start(onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => void): RunningProcess;
  /** Called when the server does not work, or stops working. */
  failed(problem: string): void;
};

/** A file that the language server knows: either we sent it, or the server reported errors in it on its own. */
type KnownFile = {
  path: string;
  uri: string;
  /** The text that the server has; undefined while the file is not open there. */
  text: string | undefined;
  version: number;
  /** The modification time of the file when it was last checked. */
  changedAt: number;
  pushed: readonly FoundError[];
  pulled: readonly FoundError[];
  /** The errors that were already reported to the agent or that existed before its edit. */
  reported: CheckedText;
  /** The file was edited, and the resulting errors were not reported yet. */
  isDue: boolean;
  agent?: string;
};

const startMs = 30_000;
/** How many milliseconds an edit waits for the language server to check it. */
export const patienceMs = 2000;
/** A large project takes its time; after this, the check is not waited for. */
const checkMs = 120_000;
/** When a server published errors and then nothing for this many milliseconds, its check is considered complete. */
const quietMs = 150;
const maxOpen = 16;
const maxKnown = 2000;
const largestFile = 2 * 2 ** 20;

export class LanguageServer {
  readonly #options: LanguageServerOptions;
  readonly #connection: Connection;
  readonly #child: RunningProcess;
  readonly #files = new Map<string, KnownFile>();
  readonly #edits: FileEdit[] = [];
  readonly #ready: Promise<void>;
  readonly #gone: Promise<void>;
  #working: Promise<void> | undefined;
  #workingSince = 0;
  #pulls = false;
  #isOver = false;
  #onDiagnostics: (uri: string, version: number | undefined) => void = () => {};

  constructor(options: LanguageServerOptions) {
    this.#options = options;
    this.#connection = new Connection({
      write: (text) => this.#child.write(text),
      answer: (method, params) => this.#answer(method, params),
      notified: (method, params) => this.#onNotification(method, params),
      broken: (problem) => this.#fail(problem),
    });
    this.#child = options.start((stream, chunk) => {
      if (stream === "stdout") this.#connection.receive(chunk);
    });
    this.#gone = this.#child.ended.then(
      (end) => this.#fail(describeExit(end)),
      (error: Error) => this.#fail(error.message),
    );
    this.#ready = this.#initialise();
    this.#ready.catch((error: Error) => this.#fail(error.message));
  }

  get name(): string {
    return this.#options.row.name;
  }

  /** Resolves when the errors after this edit are known, or will not be. Pending edits are checked together. */
  check(edit: FileEdit): Promise<void> {
    this.#edits.push(edit);
    if (!this.#working) this.#workingSince = milliseconds();
    this.#working ??= this.#runChecks().finally(() => {
      this.#working = undefined;
    });
    return this.#working;
  }

  /** The check that is running now, if there is one. */
  get working(): Promise<void> | undefined {
    return this.#working;
  }

  /** Whether the running check already takes longer than an edit waits. */
  get isBehind(): boolean {
    return this.#working !== undefined && milliseconds() > this.#workingSince + patienceMs;
  }

  /**
   * Returns new errors since the last call, in files that this agent edited
   * or that no agent did. `except` lists files that other edits wait for.
   */
  takeErrors(agent: string, except: readonly string[]): FileErrors[] {
    if (this.#working) return [];
    return [...this.#files.values()].flatMap((file) => {
      if ((file.agent ?? agent) !== agent || except.includes(file.path)) return [];
      const now = toCheckedText(file);
      const errors = newErrors(file.reported, now);
      file.reported = now;
      file.isDue = false;
      return errors.length === 0 ? [] : [{ path: file.path, errors }];
    });
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.#connection.notify("exit", null);
    this.#connection.end(new Error("the run has ended"));
    this.#child.stop();
    await this.#child.ended.catch(() => {});
  }

  async #initialise(): Promise<void> {
    const { row, root, isConfined } = this.#options;
    const rootUri = pathToFileURL(root).href;
    const asked = this.#connection.request("initialize", {
      // A sandboxed server cannot see this process, so it must not watch it.
      processId: null,
      clientInfo: { name: "courser" },
      rootPath: root,
      rootUri,
      workspaceFolders: [{ uri: rootUri, name: basename(root) }],
      capabilities: {
        workspace: {
          configuration: true,
          workspaceFolders: true,
          didChangeWatchedFiles: { dynamicRegistration: true },
        },
        textDocument: {
          synchronization: { didSave: true },
          publishDiagnostics: { versionSupport: true },
          diagnostic: {},
        },
      },
      initializationOptions: row.options?.(isConfined) ?? {},
    });
    if (!(await settlesWithin(asked, startMs))) throw new Error(`it did not answer within ${startMs / 1000} s`);
    const result = await asked;
    const capabilities = isObject(result) && isObject(result["capabilities"]) ? result["capabilities"] : {};
    this.#pulls = row.asks !== undefined || isObject(capabilities["diagnosticProvider"]);
    this.#connection.notify("initialized", {});
  }

  /** Runs one check at a time, each for everything edited meanwhile. */
  async #runChecks(): Promise<void> {
    try {
      await this.#ready;
      while (this.#edits.length > 0 && !this.#isOver) {
        await this.#check(mergeEdits(this.#edits.splice(0)));
      }
    } catch (error) {
      this.#fail((error as Error).message);
    }
  }

  async #check(edits: readonly FileEdit[]): Promise<void> {
    const edited = edits.map((edit) => ({ edit, file: this.#fileAt(edit.path) }));
    const changes = await this.#options.disk.take();
    if (changes.length > 0) this.#connection.notify("workspace/didChangeWatchedFiles", { changes });
    const isElsewhere = changes.some(({ uri }) => !edited.some(({ file }) => file.uri === uri));
    const old = edited.filter(({ edit }) => edit.before !== undefined);
    const changedFiles = old.filter(({ edit, file }) => file.text !== edit.before).map(({ file }) => file);
    const moved = this.#rereadOthers(new Set(edited.map(({ file }) => file)));
    // Errors caused by changes elsewhere existed before the edit: resend the file so that a server that only publishes reports them.
    const outdated = old.filter(({ file }) => changedFiles.includes(file) || (isElsewhere && !this.#pulls));
    for (const { edit, file } of outdated) this.#sendText(file, edit.before!);
    await this.#find([...outdated.map(({ file }) => file), ...moved]);
    for (const file of this.#files.values())
      if (!file.isDue || changedFiles.includes(file) || moved.includes(file)) file.reported = toCheckedText(file);
    for (const { edit, file } of edited) {
      this.#sendText(file, edit.after);
      this.#connection.notify("textDocument/didSave", { textDocument: { uri: file.uri }, text: edit.after });
      file.isDue = true;
      file.agent = edit.agent;
      file.changedAt = changedAt(file.path);
    }
    await this.#find(edited.map(({ file }) => file));
    this.#closeOldest();
  }

  #sendText(file: KnownFile, text: string): void {
    const { uri } = file;
    const version = ++file.version;
    // Delete and insert the file again, so that the map is ordered by when files were last sent.
    this.#files.delete(uri);
    this.#files.set(uri, file);
    if (file.text === undefined) {
      const languageId = this.#options.row.languages[extname(file.path).toLowerCase()];
      this.#connection.notify("textDocument/didOpen", { textDocument: { uri, languageId, version, text } });
    } else {
      this.#connection.notify("textDocument/didChange", {
        textDocument: { uri, version },
        contentChanges: [{ text }],
      });
    }
    file.text = text;
  }

  /** Resends open files that a command or the user has changed on disk since they were sent. */
  #rereadOthers(edited: ReadonlySet<KnownFile>): KnownFile[] {
    return [...this.#files.values()].filter((file) => {
      if (file.text === undefined || edited.has(file)) return false;
      const at = changedAt(file.path);
      if (at === file.changedAt) return false;
      file.changedAt = at;
      const text = at === 0 ? undefined : textAt(file.path);
      if (text === undefined) this.#close(file);
      if (text === undefined || text === file.text) return false;
      this.#sendText(file, text);
      return true;
    });
  }

  /** Waits until the errors in the present text of these files are known. */
  async #find(files: readonly KnownFile[]): Promise<void> {
    if (this.#pulls) {
      const open = [...this.#files.values()].filter(({ text }) => text !== undefined);
      await settlesWithin(Promise.all(open.map((file) => this.#pull(file))), checkMs);
      return;
    }
    const awaited = new Map(files.map(({ uri, version }) => [uri, version]));
    if (awaited.size === 0) return;
    let quiet: NodeJS.Timeout | undefined;
    const all = new Promise<void>((resolve) => {
      this.#onDiagnostics = (uri, version) => {
        if (version === undefined || version >= (awaited.get(uri) ?? 0)) awaited.delete(uri);
        clearTimeout(quiet);
        // Errors in files that were not edited arrive after those in the edited ones.
        if (awaited.size === 0) quiet = setTimeout(resolve, quietMs);
      };
    });
    await settlesWithin(Promise.race([all, this.#gone]), checkMs);
    this.#onDiagnostics = () => {};
  }

  async #pull(file: KnownFile): Promise<void> {
    const { uri, path } = file;
    if (this.#options.row.asks === "tsserver") {
      const ask = async (command: string) => {
        const answer = await this.#connection.request("workspace/executeCommand", {
          command: "typescript.tsserverRequest",
          arguments: [command, { file: path, includeLinePosition: false }],
        });
        return isObject(answer) && Array.isArray(answer["body"]) ? answer["body"] : [];
      };
      const found = [...(await ask("syntacticDiagnosticsSync")), ...(await ask("semanticDiagnosticsSync"))];
      file.pulled = found.filter(isObject).flatMap(tsserverError);
      return;
    }
    const report = await this.#connection.request("textDocument/diagnostic", { textDocument: { uri } });
    // A report of kind `unchanged` has no items. It only arrives if the request named a previous result.
    if (isObject(report) && Array.isArray(report["items"])) file.pulled = errorsIn(report["items"]);
  }

  #onNotification(method: string, params: JsonObject): void {
    const { uri, version, diagnostics } = params;
    if (method !== "textDocument/publishDiagnostics" || typeof uri !== "string" || !Array.isArray(diagnostics)) return;
    const file = this.#knownFile(uri);
    if (!file) return;
    file.pushed = errorsIn(diagnostics);
    this.#onDiagnostics(file.uri, typeof version === "number" ? version : undefined);
  }

  #answer(method: string, params: JsonObject): unknown {
    if (method !== "workspace/configuration") return null;
    return Array.isArray(params["items"]) ? params["items"].map(() => null) : [];
  }

  #fileAt(path: string): KnownFile {
    return this.#knownFile(pathToFileURL(path).href)!;
  }

  /** Finds a file by its URI, however the server spells it. Returns undefined if it is not a file, or if too many are known. */
  #knownFile(fileUri: string): KnownFile | undefined {
    const existing = this.#files.get(fileUri);
    if (existing) return existing;
    const path = tryOr(() => fileURLToPath(fileUri), undefined);
    if (path === undefined) return undefined;
    const uri = pathToFileURL(path).href;
    const same = this.#files.get(uri);
    if (same || this.#files.size >= maxKnown) return same;
    const nothing: CheckedText = { text: undefined, errors: [] };
    const file: KnownFile = {
      ...{
        path,
        uri,
        text: undefined,
        version: 0,
        changedAt: 0,
        pushed: [],
        pulled: [],
        reported: nothing,
        isDue: false,
      },
    };
    this.#files.set(uri, file);
    return file;
  }

  #closeOldest(): void {
    const open = [...this.#files.values()].filter(({ text, isDue }) => text !== undefined && !isDue);
    for (const file of open.slice(0, Math.max(0, open.length - maxOpen))) this.#close(file);
  }

  #close(file: KnownFile): void {
    this.#connection.notify("textDocument/didClose", { textDocument: { uri: file.uri } });
    this.#files.delete(file.uri);
  }

  #fail(problem: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection.end(new Error(problem));
    this.#child.stop();
    this.#options.failed(problem);
  }
}

/** Merges several edits of a file into one, from the text before the first to the text after the last. */
function mergeEdits(edits: readonly FileEdit[]): FileEdit[] {
  const byPath = new Map<string, FileEdit>();
  for (const edit of edits) byPath.set(edit.path, { ...edit, before: (byPath.get(edit.path) ?? edit).before });
  return [...byPath.values()];
}

function toCheckedText({ text, pushed, pulled }: KnownFile): CheckedText {
  const seen = new Set<string>();
  const errors = [...pushed, ...pulled].filter((error) => {
    const key = JSON.stringify(error);
    return !seen.has(key) && seen.add(key);
  });
  return { text, errors };
}

/** Returns a file's modification time, or 0 if the file does not exist. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function textAt(path: string): string | undefined {
  return tryOr(() => (statSync(path).size > largestFile ? undefined : readFileSync(path, "utf8")), undefined);
}

function describeExit({ exitCode, signal, stderr }: ProcessEnd): string {
  const last = redactedEnd(stderr.trim().split("\n").slice(0, 1).join(" "), 300);
  const how = signal === "" ? `it exited with code ${exitCode}` : `it was killed by ${signal}`;
  return last === "" ? how : `${how}: ${last}`;
}
