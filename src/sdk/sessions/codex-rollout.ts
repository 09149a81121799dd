// Reads Codex's rollout file while Codex works, for details that its stream lacks: the stream only has the usage of all
// turns together, and only the names of changed files.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, type JsonObject, textIn, tryParse } from "../../json/object.ts";
import { codexReader } from "./codex.ts";

/** The file is written alongside the stream, and may lag behind it for a moment. */
const waitMs = 300;
const stepMs = 10;

export class CodexRollout {
  readonly #folder: string;
  readonly #since: number;
  /** File changes that were not claimed by a call yet, in order. */
  readonly #changes: { path: string; change: JsonObject }[] = [];
  #path: string | undefined;
  #offset = 0;
  #rest = "";
  #before: JsonObject | undefined;

  /** `since` is when the turn began: earlier sessions are ignored. */
  constructor(env: NodeJS.ProcessEnv, since: number) {
    this.#folder = codexReader.folder(env);
    this.#since = since;
  }

  open(threadId: string): void {
    const found = codexReader.list(this.#folder).find(({ path }) => path.endsWith(`-${threadId}.jsonl`));
    if (!found || found.path === this.#path) return;
    this.#path = found.path;
    this.#offset = 0;
    this.#rest = "";
  }

  /** Returns the change of a file: `{ type: "add", content }`, `{ type: "update", unified_diff }`, … */
  async changeOf(path: string): Promise<JsonObject | undefined> {
    for (let waited = 0; waited <= waitMs; waited += stepMs) {
      this.#readOn();
      const index = this.#changes.findIndex((each) => each.path === path);
      if (index !== -1) return this.#changes.splice(index, 1)[0]!.change;
      if (this.#path === undefined) return undefined;
      await sleep(stepMs);
    }
    return undefined;
  }

  /** The thread's token usage before this turn, in Codex's format; undefined if unknown. */
  usageBefore(): JsonObject | undefined {
    this.#readOn();
    return this.#before;
  }

  #readOn(): void {
    if (this.#path === undefined) return;
    const file = openSync(this.#path, "r");
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - this.#offset));
      this.#offset += readSync(file, bytes, 0, bytes.length, this.#offset);
      const lines = (this.#rest + bytes.toString("utf8")).split("\n");
      this.#rest = lines.pop()!;
      for (const line of lines) this.#addLine(tryParse(line));
    } finally {
      closeSync(file);
    }
  }

  #addLine(line: unknown): void {
    if (!isObject(line) || line.type !== "event_msg" || !isObject(line.payload)) return;
    const { payload } = line;
    const isBefore = Date.parse(String(line.timestamp)) < this.#since;
    if (isBefore && payload.type === "token_count" && isObject(payload.info)) {
      const { total_token_usage: total } = payload.info;
      if (isObject(total)) this.#before = total;
    }
    const { item } = payload;
    if (isBefore || !isObject(item) || textIn(item, "type") !== "FileChange" || !isObject(item.changes)) return;
    for (const [path, change] of Object.entries(item.changes))
      if (isObject(change)) this.#changes.push({ path, change });
  }
}
