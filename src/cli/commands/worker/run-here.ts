// runHere: carries out a run in the process of its host. A process of its own would load the whole program once more.
import { readControlLine } from "../../../protocol/control-lines.ts";
import type { Human, Recorded, RunRequest } from "../../../protocol/run.ts";
import { readRunRequest } from "../../../protocol/run-request.ts";
import type { OwnOptions } from "../../../sdk/live/open-live.ts";
import type { LiveEnd, LiveEvent, LiveSession } from "../../../sdk/live/session.ts";
import { createNamer } from "../../../sdk/run-event.ts";
import type { Invocation } from "../../main.ts";
import { openRunByFlags } from "../../open-run.ts";
import { runHost } from "../../run-request.ts";
import { withoutSecrets } from "../../stdout.ts";

/** Runs an agent within this process instead of another (see `openOwn`). It cannot hold tool calls. */
export async function runHere(
  given: RunRequest,
  { human, attended, signal }: Pick<OwnOptions, "human" | "attended" | "signal">,
  invocation: Invocation,
): Promise<LiveSession> {
  const request = readRunRequest(given);
  process.chdir(request.workspace);
  let isAttended = attended === true;
  const run = await openRunByFlags(invocation.line.flags, request, {
    ...runHost(invocation),
    ...(human && { human: checkedHuman(human, request) }),
    attended: () => isAttended,
    ...(signal && { signal }),
  });
  let end: (how: LiveEnd) => void = () => {};
  const ended = new Promise<LiveEnd>((resolve) => {
    end = resolve;
  });
  return {
    tool: "cursor",
    losses: [],
    ended,
    chatId: run.chatId,
    attend() {
      isAttended = true;
    },
    runCall() {},
    events: (from) => toLiveEvents(run.events(from)),
    async close() {
      await run.close();
      end({ exitCode: 0, signal: "", stderr: "", stages: [] });
    },
    send: (prompt) => run.send(prompt),
    steer: (text) => run.steer(text),
    interrupt: (why) => run.interrupt(why),
    background: (callId) => run.background(callId),
    setMode: (mode) => run.setMode(mode),
    setModel: (model, effort) => run.setModel(model, effort),
    compact: () => run.compact(),
    rewind: (turn) => run.rewind(turn),
    context: () => run.context(),
    aside: (question) => run.aside(question),
    names: () => run.names(),
  };
}

/** Asks the user's program for permission before a person. An answer that cannot be parsed counts as a refusal. */
function checkedHuman(human: Human, { askCommand }: RunRequest): Human {
  return {
    ...(human.answers && {
      answers: human.answers.filter((kind) => kind !== "permission" || askCommand === undefined),
    }),
    async ask(question, signal) {
      const answer = await human.ask(question, signal);
      const line = readControlLine({ type: "answer", question: question.id, hash: question.hash, answer });
      return typeof line === "object" ? answer : { type: "no", reason: "The answer could not be understood." };
    },
  };
}

/** Converts recorded events to the SDK's form: gives tool calls their unified names, and redacts secrets in error messages. */
async function* toLiveEvents(events: AsyncIterable<Recorded>): AsyncGenerator<LiveEvent> {
  const named = createNamer({ tool: "cursor", isOurs: true });
  for await (const recorded of events) {
    const { event } = recorded;
    // Change the event in place: what the prompt resolves to is the same object.
    if (event.type === "fail") event.message = withoutSecrets(event.message);
    yield { ...recorded, event: named(event) };
  }
}
