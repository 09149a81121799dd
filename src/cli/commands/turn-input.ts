// Reads the stdin of `auto`: first the turn, then, while it stays open, a request to cancel it.
import { StringDecoder } from "node:string_decoder";
import { isObject } from "../../json/object.ts";
import { parseValues } from "../../json/values.ts";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import type { Turn } from "../../protocol/turn-contract.ts";
import { readTurn } from "../../protocol/turn-input.ts";
import { tryOr } from "../../text/try-or.ts";
import { writeStderr } from "../stdout.ts";

/** The maximum number of characters that are read into memory. */
const maxCharacters = 64 * 2 ** 20;

export class TurnInput {
  readonly #abort: AbortController;
  readonly #decoder = new StringDecoder("utf8");
  #text = "";
  #hasTurn = false;
  #give: (values: unknown[] | "cut" | "broken") => void = () => {};

  constructor(abort: AbortController) {
    this.#abort = abort;
  }

  /** Reads one turn, which ends with its line, because the caller may keep stdin open. */
  async turn(program: string): Promise<Turn> {
    const example = `echo '{"type":"turn","turnId":"t1","messages":[{"role":"user","content":"hi"}],"tools":[]}' | ${program} auto --stream-json`;
    const wrong = (what: string) => usageError(`${what}. For example: ${example}`);
    if (process.stdin.isTTY) writeStderr(`Waiting for one line of turn JSON on stdin. For example: ${example}\n`);
    const values = await this.#first();
    if (typeof values === "string") throw wrong("the turn on stdin is not JSON");
    if (values.length === 0) throw wrong("no turn on stdin: expected one line of JSON");
    const read = readTurn(values[0]);
    if ("problem" in read) throw wrong(`the turn on stdin is wrong: ${read.problem}`);
    this.#handleValues(values.slice(1));
    return read.turn;
  }

  close(): void {
    process.stdin.destroy();
  }

  async #first(): Promise<unknown[] | "cut" | "broken"> {
    const first = new Promise<unknown[] | "cut" | "broken">((resolve) => {
      this.#give = resolve;
    });
    const { signal } = this.#abort;
    const end = () => this.#give(valuesIn(this.#text + this.#decoder.end()));
    process.stdin.on("data", (chunk: Buffer) => this.#receive(chunk));
    process.stdin.on("end", end);
    process.stdin.on("error", end);
    signal.addEventListener("abort", () => this.#give([]), { once: true });
    const values = await first;
    signal.throwIfAborted();
    return values;
  }

  #receive(chunk: Buffer): void {
    this.#text += this.#decoder.write(chunk);
    if (this.#text.length > maxCharacters) this.#abort.abort(usageError("stdin is too long."));
    if (!chunk.includes(0x0a)) return;
    const end = this.#text.lastIndexOf("\n") + 1;
    const values = valuesIn(this.#text.slice(0, end));
    if (this.#hasTurn) {
      this.#text = this.#text.slice(end);
      if (typeof values !== "string") this.#handleValues(values);
      return;
    }
    // Wait for more lines: the JSON of this turn is incomplete.
    if (values === "cut" || values.length === 0) return;
    this.#hasTurn = true;
    this.#text = this.#text.slice(end);
    this.#give(values);
  }

  #handleValues(values: readonly unknown[]): void {
    if (values.some((value) => isObject(value) && value.type === "cancel"))
      this.#abort.abort(new UserError("INTERRUPTED", "The turn was cancelled."));
  }
}

function valuesIn(text: string): unknown[] | "cut" | "broken" {
  return tryOr(() => parseValues(text.replace(/^\uFEFF/, "")), "broken"); // the JSON is nested too deeply to parse
}
