// Print mode for a host on stdin: answers its prompts in order, and its control lines ahead of them. Without `hello` no
// questions are asked, and the stream holds only events.
import { settlesWithin } from "../process/clock.ts";
import {
  type ControlLine,
  type ControlNotice,
  controlNotice,
  controlVersion,
  type HostAbility,
} from "../protocol/control-lines.ts";
import { deferred } from "../protocol/deferred.ts";
import { dispatchMessage } from "../protocol/dispatch-message.ts";
import { type UserError, usageError } from "../protocol/error-codes.ts";
import { onAbort } from "../protocol/on-abort.ts";
import { OpenPrompts } from "../protocol/open-prompts.ts";
import type { Answer, Human, LiveRun, Question, QuestionBody, RunRequest } from "../protocol/run.ts";
import { readRunRequest } from "../protocol/run-request.ts";
import { flagList } from "./flags.ts";
import { type InputLines, openInputLines, type PromptLine } from "./input-lines.ts";
import type { Invocation } from "./main.ts";
import type { OpenedPrint, PrintRun } from "./print.ts";
import { noPrompt } from "./stdin.ts";

/** The number of waiting prompts at which reading from stdin is paused. */
const maxWaiting = 1000;
/** How many milliseconds a run in an untrusted workspace waits for the host to say that it can be asked for trust. */
const helloMs = 2000;

export async function runHosted(invocation: Invocation, print: PrintRun): Promise<number> {
  if (invocation.line.words.length > 0) {
    throw usageError(
      "--input-format stream-json takes its prompts from stdin, a line of JSON each: leave out the words.",
    );
  }
  const input = openInputLines();
  const takesRequest = invocation.line.flags.has("request-on-stdin");
  const host = new Host(input, print.abort.signal, { takesRequest });
  try {
    const handed = takesRequest ? await host.handedRequest() : undefined;
    const opened = await print.open({
      ...(handed && { handed }),
      human: host,
      attended: () => host.isAttended,
      ready: host.greeted,
      heldCall: (call, agent) => host.hold(call, agent),
    });
    const { resolve } = await import("node:path");
    const images = flagList(invocation.line.flags, "image").map((path) => resolve(path));
    try {
      await host.serve(opened, images);
    } finally {
      await opened.close();
    }
    end(host, opened, { invocation, print });
    return await opened.reporter.finish();
  } finally {
    input.close();
  }
}

/** Ends the current turn. An invalid line gets its own result; a signal between two turns gets none. */
function end(
  { prompts, fault }: Host,
  { reporter }: OpenedPrint,
  { invocation, print: { abort } }: { invocation: Invocation; print: PrintRun },
): void {
  const { aborted, reason } = abort.signal;
  if (aborted && prompts > 0) {
    if (reporter.hasEnded && !reporter.endedBy(reason)) reporter.stop(reason as UserError);
    return;
  }
  const error = aborted ? (reason as UserError) : (fault ?? (prompts === 0 ? noPrompt(invocation.name) : undefined));
  if (error) reporter.failAnew(error);
}

class Host implements Human {
  /** Resolves when the first line was read, so that the host's abilities are known. */
  readonly greeted: Promise<void>;
  prompts = 0;
  fault: UserError | undefined;
  readonly #ended: Promise<void>;
  readonly #asked = new Map<string, { question: Question; answer(answer: Answer): void }>();
  readonly #prompts = new OpenPrompts({
    shown: (ending) => this.#opened!.shown.until(ending),
    ended: (id, { code, ...end }) => this.#report({ subtype: "ended", id, ...end, ...(code && { error_code: code }) }),
    replied: (id, { code, ...end }) =>
      this.#report({ subtype: "reply", id, ...end, ...(code && { error_code: code }) }),
    settled: () => this.#prompts.prompts < maxWaiting && this.#input.resume(),
  });
  /** Tool calls that wait until the host releases them, by call id, with the function that lets them continue. */
  readonly #held = new Map<string, () => void>();
  readonly #early: (ControlLine | PromptLine)[] = [];
  readonly #input: InputLines;
  readonly #takesRequest: boolean;
  #can: ReadonlySet<HostAbility> | undefined;
  #handed: unknown;
  /** Whether a program of the user answers permission questions. */
  #hasAskCommand = false;
  /** Whether a person is watching. Once set it stays set, and questions wait for them. */
  #isAttended = false;
  #isGreeted = false;
  #hasEnded = false;
  #opened: OpenedPrint | undefined;
  #images: readonly string[] = [];
  /** Writes a line to the host; until `init`, directly to stdout. */
  #write: (line: object) => void = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

  constructor(input: InputLines, signal: AbortSignal, { takesRequest }: { takesRequest: boolean }) {
    this.#input = input;
    this.#takesRequest = takesRequest;
    const greeted = deferred();
    const ended = deferred();
    this.greeted = greeted.promise;
    this.#ended = ended.promise;
    const over = (fault?: UserError) => {
      this.fault = fault;
      this.#hasEnded = true;
      for (const { answer } of this.#asked.values())
        answer({ type: "no", reason: "The input ended before there was an answer." });
      // Calls that a host holds are not run when that host is gone.
      if (this.#held.size > 0) this.#opened?.run.interrupt("The host ended its input while a call waited for it.");
      greeted.resolve();
      ended.resolve();
    };
    signal.addEventListener("abort", () => over(), { once: true });
    input.start((line) => {
      if (line.type === "hello") this.#handleHello(line);
      else if (line.type === "attend") this.#isAttended = true;
      else if (line.type === "answer") this.#answer(line);
      else if (this.#opened) this.#dispatchLine(line);
      else this.#early.push(line);
      this.#isGreeted = true;
      greeted.resolve();
    }, over);
  }

  /** Returns the request in the host's `hello`. Throws a UserError if there is none. */
  async handedRequest(): Promise<RunRequest> {
    await this.greeted;
    if (this.fault) throw this.fault;
    if (this.#handed === undefined)
      throw usageError('--request-on-stdin needs a "hello" with a "request" as the first line of stdin.');
    const request = readRunRequest(this.#handed);
    this.#hasAskCommand = request.askCommand !== undefined;
    return request;
  }

  get isAttended(): boolean {
    return this.#isAttended || this.#can?.has("attend") === true;
  }

  /** The kinds of questions that the host can answer. Before its first line, this is only the question of trust. */
  get answers(): readonly QuestionBody["type"][] {
    if (!this.#isGreeted) return ["trust"];
    return [
      ...(this.#can?.has("answer") ? (["choices", "plan", "server", "hooks"] as const) : []),
      ...(this.#can?.has("answer") && !this.#hasAskCommand ? (["permission"] as const) : []),
      ...(this.#can?.has("trust") ? (["trust"] as const) : []),
    ];
  }

  async ask(question: Question, signal: AbortSignal): Promise<Answer> {
    if (question.type === "trust") await settlesWithin(this.greeted, helloMs);
    if (this.#hasEnded || !this.answers.includes(question.type) || !this.#can) return { type: "no" };
    return new Promise((resolve) => {
      let forget = () => {};
      const close = (answer: Answer) => {
        if (this.#asked.delete(question.id)) resolve(answer);
        forget();
      };
      const stop = () => {
        this.#sendNotice({ subtype: "question_closed", question: question.id });
        close({ type: "no", reason: "The run was stopped before there was an answer." });
      };
      this.#asked.set(question.id, { question, answer: close });
      this.#sendNotice({ subtype: "question", question });
      forget = onAbort(signal, stop);
    });
  }

  /** Waits until the host releases the call. Returns undefined if the host does not hold calls. */
  hold(call: string, agent: string | undefined): Promise<void> | undefined {
    if (!this.#can?.has("hold_calls")) return undefined;
    const key = heldKey(call, agent);
    const released = new Promise<void>((resolve) => this.#held.set(key, resolve));
    if (this.#hasEnded) this.#opened?.run.interrupt("The host ended its input while a call waited for it.");
    return released.finally(() => this.#held.delete(key));
  }

  /** Resolves when the input has ended and every prompt is answered, or the run was stopped. */
  async serve(opened: OpenedPrint, images: readonly string[]): Promise<void> {
    this.#opened = opened;
    this.#images = images;
    const { reporter, run } = opened;
    this.#write = (line) => reporter.line(line);
    if (this.#can) this.#sendHello(run);
    for (const line of this.#early.splice(0)) this.#dispatchLine(line);
    await this.#ended;
    while (this.#prompts.prompts > 0) await this.#prompts.nextChange();
  }

  #sendNotice(notice: ControlNotice): void {
    this.#write(controlNotice(notice));
  }

  /** A host that did not introduce itself with hello gets events only. */
  #report(notice: ControlNotice): void {
    if (this.#can) this.#sendNotice(notice);
  }

  #handleHello({ can, request }: Extract<ControlLine, { type: "hello" }>): void {
    if (request && (!this.#takesRequest || this.#isGreeted))
      throw usageError('a "request" must be in the first line, and needs --request-on-stdin.');
    this.#can = new Set(can);
    this.#handed ??= request;
    if (this.#opened) this.#sendHello(this.#opened.run);
  }

  #sendHello({ chatId }: LiveRun): void {
    this.#opened?.reporter.serveHost({
      toolOutput: this.#can!.has("tool_output"),
      subagents: this.#can!.has("subagents"),
    });
    const number = this.#opened?.reporter.firstNumber;
    const begin = number === undefined ? {} : { event_number: number };
    this.#sendNotice({ subtype: "hello", version: controlVersion, session_id: chatId, ...begin });
  }

  /** Passes on the host's answer. An answer whose hash does not match the question is ignored. */
  #answer({ question: id, hash, answer }: Extract<ControlLine, { type: "answer" }>): void {
    const asked = this.#asked.get(id);
    if (asked?.question.hash === hash) asked.answer(answer);
  }

  #dispatchLine(line: ControlLine | PromptLine): void {
    const { run } = this.#opened!;
    switch (line.type) {
      case "user": {
        const images = [...this.#images, ...(line.prompt.images ?? [])];
        this.#images = [];
        this.prompts++;
        this.#prompts.follow(run.send({ ...line.prompt, images }), line.id);
        break;
      }
      case "run_call":
        this.#held.get(heldKey(line.call, line.agent))?.();
        break;
      case "hello":
      case "attend":
      case "answer":
        break; // this line was handled earlier
      default:
        dispatchMessage(run, line, this.#prompts);
    }
    if (this.#prompts.prompts >= maxWaiting) this.#input.pause();
  }
}

function heldKey(call: string, agent = ""): string {
  return `${agent}/${call}`;
}
