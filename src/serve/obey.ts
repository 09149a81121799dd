// What the host of a run does when it is told something.
import { UserError } from "../protocol/error-codes.ts";
import type { PermissionMode, RunRequest, Sent } from "../protocol/run.ts";
import type { LiveSession } from "../sdk/live/session.ts";
import type { Message } from "./fleet.ts";

export type SessionMessage = Exclude<Message, { type: "cancel" | "answer" }>;

export type Obeying = {
  /** A prompt was handed in. */
  follow(sent: Sent, id: string | undefined): void;
  /** What comes of it answers the message. */
  reply(id: string | undefined, work: () => Promise<unknown>): void;
  withdraw(prompt: string): Promise<boolean>;
};

/** A person who looks at a run may switch between agent, plan and ask; force is given at the start, or not at all. */
export function refusedMode(mode: PermissionMode, { force }: Pick<RunRequest, "force">): UserError | undefined {
  if (mode !== "force" || force) return undefined;
  return new UserError("USAGE", "Only whoever starts a run can give it force. Start another one with --force.");
}

/** `request`: what the run was started with. */
export function obey(
  session: LiveSession,
  message: SessionMessage,
  request: RunRequest,
  { follow, reply, withdraw }: Obeying,
): void {
  switch (message.type) {
    case "prompt":
      follow(session.send(message.prompt), message.id);
      break;
    case "steer":
      follow(session.steer(message.text), message.id);
      break;
    case "interrupt":
      session.interrupt(message.reason);
      break;
    case "withdraw":
      reply(message.id, () => withdraw(message.prompt));
      break;
    case "mode":
      reply(undefined, async () => {
        const refusal = refusedMode(message.mode, request);
        if (refusal) throw refusal;
        session.setMode(message.mode);
      });
      break;
    case "model":
      reply(message.id, () => session.setModel(message.model, message.effort));
      break;
    case "background":
      reply(message.id, () => session.background(message.call));
      break;
    case "compact":
    case "context":
    case "names":
      reply(message.id, () => session[message.type]());
      break;
    case "rewind":
      reply(message.id, () => session.rewind(message.turn));
      break;
    case "aside":
      reply(message.id, () => session.aside(message.text));
      break;
  }
}
