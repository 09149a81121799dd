// Runs the examined CLI as a program would start it, each trial in a workspace of its own.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { isObject, type JsonObject, tryParse } from "../../json/object.ts";
import { Supervisor } from "../../process/supervisor.ts";

export type Line = {
  number: number;
  text: string;
  /** The parsed line; undefined if it is not a JSON object. */
  value: JsonObject | undefined;
  /** When the line arrived, in milliseconds since the start. */
  atMs: number;
};

export type Trial = {
  args: readonly string[];
  exit: number | null;
  signal: string;
  stdout: string;
  stderr: string;
  lines: readonly Line[];
  timedOut: boolean;
  /** Whether the signal was sent while the CLI was running. */
  wasSignalled: boolean;
  /** Milliseconds from the signal, or from the start, to the exit. */
  endMs: number;
  /** Why the command could not be started. */
  failure?: string;
};

export type TrialOptions = {
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  timeoutMs: number;
  signal: AbortSignal;
};

type Plan = {
  args: readonly string[];
  input?: string;
  keepOpen?: boolean;
  env?: NodeJS.ProcessEnv;
  send?: NodeJS.Signals;
};

/** The word in the file that the agent is asked to read. */
export const noteWord = "quokka";
export const prompt = "read note.txt";
const longPrompt = "run sleep 20";
export const unknownSession = "00000000-0000-4000-8000-000000000000";

const stream = ["-p", "--force", "--output-format", "stream-json"];

/** How to start the CLI in each trial. `session` is the session of the previous run. */
const plans = {
  stream: () => ({ args: [...stream, prompt] }),
  partial: () => ({ args: [...stream, "--stream-partial-output", prompt] }),
  json: () => ({ args: ["-p", "--force", "--output-format", "json", prompt] }),
  text: () => ({ args: ["-p", "--force", "--output-format", "text", prompt] }),
  resume: (session) => ({ args: [...stream, "--resume", session, prompt] }),
  unknownSession: () => ({ args: [...stream, "--resume", unknownSession, prompt] }),
  stdin: () => ({ args: stream, input: `${prompt}\n` }),
  openStdin: () => ({ args: [...stream, prompt], keepOpen: true }),
  noPrompt: () => ({ args: stream, input: "" }),
  version: () => ({ args: ["--version"] }),
  help: () => ({ args: ["--help"] }),
  unknownFlag: () => ({ args: [...stream, "--no-such-flag-exists", prompt] }),
  unknownFormat: () => ({ args: ["-p", "--force", "--output-format", "nonsense", prompt] }),
  untrusted: () => ({ args: ["-p", "--output-format", "stream-json", prompt] }),
  interrupted: () => ({ args: [...stream, longPrompt], send: "SIGINT" }),
  terminated: () => ({ args: [...stream, longPrompt], send: "SIGTERM" }),
  // Start the CLI like Harbor's built-in agent does.
  harbor: () => ({ args: ["--yolo", "--print", "--output-format=stream-json", "--", prompt] }),
} satisfies Record<string, (session: string) => Plan>;

export type TrialName = keyof typeof plans;

/** Runs trials. Each requested trial is run only once. */
export class Trials {
  readonly #options: TrialOptions;
  readonly #done = new Map<TrialName, Promise<Trial>>();
  readonly #base: string;

  constructor(options: TrialOptions) {
    this.#options = options;
    this.#base = realpathSync(mkdtempSync(join(tmpdir(), "courser-conformance-")));
  }

  get(name: TrialName): Promise<Trial> {
    const existing = this.#done.get(name) ?? this.#run(name);
    this.#done.set(name, existing);
    return existing;
  }

  end(): void {
    rmSync(this.#base, { recursive: true, force: true });
  }

  async #run(name: TrialName): Promise<Trial> {
    const session = name === "resume" ? sessionId(await this.get("stream")) : "";
    const plan: Plan = plans[name](session);
    // Resume a run in the folder of the first run.
    const cwd = join(this.#base, name === "resume" ? "stream" : name);
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, "note.txt"), `${noteWord}\n`);
    return start(plan, cwd, this.#options);
  }
}

export function sessionId({ lines }: Trial): string {
  const id = lines.map(({ value }) => value?.["session_id"]).find((each) => typeof each === "string");
  return (id as string | undefined) ?? unknownSession;
}

/** Returns an environment with a made-up key if there is none, so that no vendor is called. */
function withAKey(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env["CURSOR_API_KEY"] !== undefined) return env;
  return { ...env, CURSOR_API_KEY: "conformance", COURSER_MODEL: env["COURSER_MODEL"] ?? "offline" };
}

async function start(plan: Plan, cwd: string, { command, env, timeoutMs, signal }: TrialOptions): Promise<Trial> {
  const args = [...command.slice(1), ...plan.args];
  const startedAt = performance.now();
  const chunks: { text: string; atMs: number }[] = [];
  const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  let stderr = "";
  let sentAt: number | undefined;
  const supervisor = new Supervisor({
    command: [command[0]!, ...args],
    cwd,
    env: { ...withAKey(env), ...plan.env },
    ...(plan.input !== undefined && { input: plan.input }),
    ...(plan.keepOpen && { keepOpen: true, input: "" }),
    timeoutMs,
    graceMs: 1000,
    signal,
    onOutput(name, chunk) {
      const text = decoders[name].write(chunk);
      if (name === "stderr") stderr += text;
      else chunks.push({ text, atMs: performance.now() - startedAt });
      // Send the signal in the middle of a tool call.
      if (!plan.send || sentAt !== undefined || !/"subtype":\s*"started"/.test(text) || /"type":\s*"result"/.test(text))
        return;
      sentAt = performance.now();
      process.kill(supervisor.pid, plan.send);
    },
  });
  const end = await supervisor.ended;
  return {
    args,
    exit: end.exitCode,
    signal: end.signal,
    stdout: chunks.map(({ text }) => text).join(""),
    stderr,
    lines: timedLines(chunks),
    timedOut: end.stopped === "timedOut",
    wasSignalled: sentAt !== undefined,
    endMs: performance.now() - (sentAt ?? startedAt),
    ...(end.failure && { failure: end.failure.message }),
  };
}

/** Returns each line with the time at which it was complete. */
function timedLines(chunks: readonly { text: string; atMs: number }[]): Line[] {
  const lines: Line[] = [];
  let open = "";
  let last = 0;
  const add = (text: string, atMs: number) => {
    if (text.trim() === "") return;
    const value = tryParse(text);
    lines.push({ number: lines.length + 1, text, value: isObject(value) ? value : undefined, atMs });
  };
  for (const { text, atMs } of chunks) {
    last = atMs;
    const parts = (open + text).split("\n");
    open = parts.pop()!;
    for (const part of parts) add(part, atMs);
  }
  add(open, last);
  return lines;
}
