// Handles one hook call from stdin to exit: reads and parses the payload, calls the handler, answers in the host's format.
import { anything, type Check, callback, object, positive, text, words } from "../json/checks.ts";
import type { JsonObject } from "../json/object.ts";
import { nearestName } from "../text/nearest.ts";
import { type HookAnswer, type HookReply, readAnswer, warningLine } from "./answer.ts";
import { type BridgeEvent, type BridgeEventOf, type HookName, type HostName, hookNames } from "./event.ts";
import { BridgeError, checkOptions, type Host, hostChecks, type ParseOptions, type SerializeOptions } from "./host.ts";
import { detectHost, hostFromArguments, hostNamed, hosts } from "./hosts/index.ts";
import { defaultMaxBytes, type PayloadSource, readPayload } from "./payload.ts";
import { writeAll } from "./standard-streams.ts";

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that only observes returns nothing.
type HandlerResult = HookAnswer | void;

/** One function for each event that a script handles. A handler that returns nothing makes no decision. */
export type HookHandlers = {
  [Name in HookName]?: (event: BridgeEventOf<Name>) => HandlerResult | Promise<HandlerResult>;
};

/** The options of `run`; none is required. */
export type RunOptions = ParseOptions &
  SerializeOptions & {
    /** The host. Default: `--host NAME` in `argv`, else detected from the payload. */
    host?: HostName;
    stdin?: PayloadSource;
    argv?: readonly string[];
    /** Called last, with the exit code. Default: `process.exit`. */
    exit?(code: number): void;
    /** Receives what would go to stdout. */
    write?(chunk: string): void;
    /** Receives what would go to stderr. */
    writeError?(chunk: string): void;
    /** The largest payload accepted; a larger one is refused. */
    maxBytes?: number;
    env?: Readonly<Record<string, string | undefined>>;
  };

const runChecks = {
  ...hostChecks,
  host: text,
  stdin: anything,
  argv: words,
  exit: callback,
  write: callback,
  writeError: callback,
  maxBytes: positive,
  env: object,
} satisfies Record<keyof RunOptions, Check>;

/** Gives each handler the type of its event, and throws for misspelt event names. */
export function defineHook<Handlers extends HookHandlers>(handlers: Handlers): Handlers {
  checkNames(handlers);
  return handlers;
}

/** Handles one hook call: reads the payload, calls the matching handler, writes the answer and exits. */
export async function run(handlers: HookHandlers, options: RunOptions = {}): Promise<HookReply> {
  const { write = (chunk) => writeAll(1, chunk), writeError = (chunk) => writeAll(2, chunk) } = options;
  const watch: GuardWatch = { guards: false };
  if (!options.exit) process.once("exit", () => refuseUnanswered(watch));
  // Output printed by handlers would corrupt the answer on stdout.
  const restore = options.write ? undefined : printToStderr();
  const reply = await respond(handlers, options, watch).finally(restore);
  watch.guards = false;
  if (reply.stderr !== "") writeError(reply.stderr);
  if (reply.stdout !== "") write(reply.stdout);
  (options.exit ?? process.exit)(reply.exit_code);
  return reply;
}

/** `guards` is true while a handler that may refuse has not answered. */
type GuardWatch = { guards: boolean };

/** Refuses the call if the script ends before a guard has answered: early exit, crash, or unsettled promise. */
function refuseUnanswered({ guards }: GuardWatch): void {
  if (!guards) return;
  writeAll(2, warningLine("the script ended before its handler answered; denied."));
  process.exitCode = 2;
}

async function respond(handlers: HookHandlers, options: RunOptions, watch: GuardWatch): Promise<HookReply> {
  try {
    const { host: named, argv = process.argv.slice(1), maxBytes = defaultMaxBytes } = options;
    const chosenHost = named === undefined ? hostFromArguments(argv) : hostNamed(named);
    const payload = await readPayload(options.stdin, maxBytes);
    const found = chosenHost ?? detectHost(payload);
    if (!found)
      throw new BridgeError(
        "HOST",
        "cannot tell which host this is. Pass --host cursor, --host claude or --host codex.",
      );
    const host = hosts[found];
    const event = host.parse(payload, { events: options.events === "all" ? "all" : "common" });
    watch.guards = host.permits(event);
    return await answerTo(event, host, handlers, { ...options, ...surfaceOf(options, payload) });
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    // Exit with code 2, which every host takes as a refusal, if the payload cannot be read. Other errors concern the
    // setup.
    return failedReply(error.message, error.code === "PAYLOAD" ? 2 : 1);
  }
}

async function answerTo(
  event: BridgeEvent,
  host: Host,
  handlers: HookHandlers,
  options: RunOptions,
): Promise<HookReply> {
  let fault: string;
  try {
    checkNames(handlers);
    checkOptions("run", options, runChecks);
    const { cursorAskFallback, cursorSurface } = options;
    const handler = Object.hasOwn(handlers, event.event) ? handlers[event.event] : undefined;
    if (handler === undefined) return { stdout: host.silence, stderr: "", exit_code: 0, losses: [] };
    const answer = readAnswer(await (handler as (event: BridgeEvent) => unknown)(event));
    if (!("fault" in answer)) return host.serialize(answer, event, { cursorAskFallback, cursorSurface });
    fault = answer.fault;
  } catch (error) {
    fault = error instanceof Error ? error.message || error.name : String(error);
  }
  return failedHandler(fault, event, host);
}

/** A guard that throws has not judged the call: refuses if the event allows it, and reports the error. */
async function failedHandler(fault: string, event: BridgeEvent, host: Host): Promise<HookReply> {
  const { redactedStart } = await import("../redact/shorten.ts");
  const faultText = redactedStart(fault, 1000).replace(/\s*[\r\n]+\s*/g, " ");
  const denies = host.permits(event);
  const reply = host.serialize(denies ? { decision: "deny", reason: `A hook failed: ${faultText}` } : {}, event);
  const failureText = `${host.name}: the handler of ${event.event} failed: ${faultText}; ${denies ? "denied" : "ignored"}.`;
  return { ...reply, stderr: warningLine(failureText) };
}

function checkNames(handlers: HookHandlers): void {
  for (const name of Object.keys(handlers)) {
    if ((hookNames as readonly string[]).includes(name)) continue;
    const meant = nearestName(name, hookNames);
    const hint = meant ? `Did you mean ${meant}?` : `The events are ${hookNames.join(", ")}.`;
    throw new BridgeError("HANDLERS", `unknown event ${JSON.stringify(name.slice(0, 60))}. ${hint}`);
  }
}

/** Courser's version looks like that of Cursor's CLI, so Courser identifies itself in the environment. */
function surfaceOf({ env = process.env, cursorSurface }: RunOptions, payload: JsonObject): SerializeOptions {
  const version = env["COURSER_VERSION"];
  if (cursorSurface || version === undefined || version !== payload["cursor_version"]) return {};
  return { cursorSurface: "courser" };
}

function failedReply(message: string, exitCode: number): HookReply {
  return { stdout: "", stderr: warningLine(message), exit_code: exitCode, losses: [] };
}

function printToStderr(): () => void {
  const { log, info, debug } = console;
  const print = (...values: unknown[]) => console.error(...values);
  Object.assign(console, { log: print, info: print, debug: print });
  return () => Object.assign(console, { log, info, debug });
}
