// A plain conversation on a terminal: type, watch the answer, answer y / n / always.
import { createInterface, type Interface } from "node:readline";
import type { Asker } from "../agent/agent.ts";
import { exitCodeOf, UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { ChatWriter } from "../store/chats/chat.ts";
import { shownTitle } from "../store/chats/list-chats.ts";
import { trust } from "../store/trust.ts";
import { cut } from "../text/width.ts";
import { callLine, printable } from "./call-line.ts";
import { flagList } from "./flags.ts";
import type { Invocation } from "./main.ts";
import { createRun, type Run } from "../run/assemble.ts";
import { findMcp, initOf, openSession } from "../run/session.ts";
import { watchForTheEnd } from "./shutdown.ts";
import { type PermissionMode, setUp } from "../run/setup.ts";
import { createPerson } from "./terminal-person.ts";
import { createQueue, type Queue, question } from "./terminal-question.ts";

const printFlags = ["output-format", "stream-partial-output", "input-format", "json-schema", "output-last-message"];

export async function runLineMode(invocation: Invocation): Promise<number> {
  for (const flag of printFlags) {
    if (invocation.line.flags.has(flag))
      throw new UserError("USAGE", `--${flag} needs print mode: ${invocation.name} -p --${flag} …`);
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await converse(invocation, terminal);
  } finally {
    terminal.close();
  }
}

async function converse(invocation: Invocation, terminal: Interface): Promise<number> {
  const setup = await trustedSetup(invocation, terminal);
  if (!setup) return 1;
  const show = createScreen(setup.workspace);
  const whole = new AbortController();
  const watch = watchForTheEnd(whole, invocation.env);
  let turn = new AbortController();
  // Readline takes Ctrl+C for itself: it ends the answer, or the program while nothing is being answered.
  terminal.on("SIGINT", () =>
    turn.signal.aborted ? terminal.close() : turn.abort(new UserError("INTERRUPTED", "Stopped.")),
  );
  whole.signal.addEventListener("abort", () => {
    turn.abort(whole.signal.reason);
    terminal.close();
  });
  const mcp = await findMcp(setup);
  const inTurn = createQueue();
  const session = await openSession(setup);
  session.record(initOf(setup, session, mcp));
  const run = await createRun(setup, {
    session,
    headless: false,
    ...(mcp && { mcp }),
    warn: (message) => show.line(`Warning: ${printable(message)}`),
    ask: createAsker(terminal, show, () => turn.signal, inTurn),
    person: createPerson(terminal, show.line, inTurn),
    confirm: async (text) =>
      /^(y|yes)$/i.test((await question(terminal, `${printable(text)} [y]es, [n]o: `))?.trim() ?? ""),
  });
  show.line(`${setup.model.displayName} in ${setup.workspace}`);
  if (session.chat && session.chat.turn > 0) show.line(goingOn(session.chat, session.mode));
  show.line("Type /quit or press Ctrl+D to leave, /help for more; Ctrl+C stops an answer.");
  let code = 0;
  try {
    let text: string | undefined = invocation.line.words.join(" ") || undefined;
    let images = flagList(invocation.line.flags, "image");
    while (true) {
      turn.abort();
      text ??= await question(terminal, "\n> ");
      if (text === undefined || /^\/(quit|exit)$/.test(text.trim())) break;
      if (text.trim() === "/help") show.line(helpText(run));
      else if (text.trim() !== "") {
        turn = new AbortController();
        for await (const event of run.turn({ text, images }, turn.signal)) {
          session.record(event);
          show.event(event);
          if (event.type === "fail") code = 1;
          if (event.type === "done") code = 0;
        }
      }
      text = undefined;
      images = [];
    }
  } finally {
    await run.end();
    session.close();
    watch.stop();
  }
  const reason: unknown = whole.signal.reason;
  return reason instanceof UserError ? exitCodeOf(reason.code) : code;
}

function helpText(run: Run): string {
  const lists = Object.entries(run.named())
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `${kind}: ${names.map((name) => `/${printable(name)}`).join(" ")}`);
  return [
    "@path takes a file, a folder or a picture along; /name … calls one of these:",
    ...lists,
    "/quit leaves. What the agent may do without asking: see 'permissions list'.",
  ].join("\n");
}

/** Which chat this is, and what of it could surprise. */
function goingOn({ facts, turn }: ChatWriter, mode: PermissionMode): string {
  const title = cut(printable(shownTitle(facts)).replace(/\s+/g, " "), 60);
  const lasting = mode === "plan" || mode === "ask" ? `, in ${mode} mode` : "";
  return `Going on with “${title}”: ${turn === 1 ? "one turn" : `${turn} turns`} so far${lasting}.`;
}

async function trustedSetup(invocation: Invocation, terminal: Interface) {
  try {
    return setUp(invocation, { gate: true });
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "UNTRUSTED") throw error;
    process.stdout.write(`${error.message}\n\n`);
    const answer = await question(terminal, "Trust this directory? [a]lways, [q]uit: ");
    if (!/^(a|always|y|yes)$/i.test(answer?.trim() ?? "")) {
      process.exitCode = exitCodeOf("UNTRUSTED");
      return undefined;
    }
    const setup = setUp(invocation, { gate: false });
    trust(setup.configDir, setup.workspace);
    const { approveProjectHooks } = await import("../store/hook-files.ts");
    approveProjectHooks(setup);
    return setUp(invocation, { gate: true });
  }
}

/** One question at a time, though calls run side by side. `always` holds for the same thing until the program ends. */
function createAsker(terminal: Interface, show: Screen, signal: () => AbortSignal, inTurn: Queue): Asker {
  const always = new Set<string>();
  const askOne: Asker = async ({ tool, needs, reasons }) => {
    const what = needs.map(({ kind, target, cwd }) => `${kind}: ${target}${cwd === undefined ? "" : `\nin ${cwd}`}`);
    const key = [tool, ...what].join("\n");
    if (always.has(key)) return { allow: true };
    // What the model wrote has a bar before each line, so that none of it can pass for a reason.
    const asked = what.join("\n").split("\n");
    const lines = [...asked.map((line) => `│ ${line}`), ...reasons.map((reason) => reason.replace(/\n/g, " "))];
    show.line(`\n${tool} wants permission\n${lines.map((line) => `  ${printable(line)}`).join("\n")}`);
    while (true) {
      const answer = (await question(terminal, "Allow? [y]es, [n]o, [a]lways: ", signal()))?.trim().toLowerCase();
      if (answer === undefined || /^(n|no)$/.test(answer)) return { allow: false, reason: "The user said no." };
      if (/^(a|always)$/.test(answer)) always.add(key);
      if (/^(y|yes|a|always)$/.test(answer)) return { allow: true };
    }
  };
  return (asked) => inTurn(() => askOne(asked));
}

type Screen = { event(event: AgentEvent): void; line(text: string): void };

function createScreen(workspace: string): Screen {
  let open = false;
  const write = (text: string) => process.stdout.write(text);
  const line = (text: string) => {
    if (open) write("\n");
    open = false;
    write(`${text}\n`);
  };
  return {
    line,
    event(event) {
      switch (event.type) {
        case "text":
          write(event.text);
          open = !event.text.endsWith("\n");
          break;
        case "tool_start":
          line(callLine(event, workspace));
          break;
        case "tool_output":
          write(event.chunk);
          open = !event.chunk.endsWith("\n");
          break;
        case "tool_end":
          if (event.outcome?.kind !== "success") line(`  ${event.outcome?.kind ?? "ended"}`);
          break;
        case "notice":
        case "retry":
          line(`· ${printable(event.type === "notice" ? event.message : `asking again: ${event.reason ?? ""}`)}`);
          break;
        case "done":
          if (open) line("");
          break;
        case "fail":
          line(`Error: ${printable(event.message)}`);
          break;
        default:
          break;
      }
    },
  };
}
