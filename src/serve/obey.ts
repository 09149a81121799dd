// What the host of a run does when it is told something.
import type { Sent } from "../protocol/run.ts";
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

export function obey(session: LiveSession, message: SessionMessage, { follow, reply, withdraw }: Obeying): void {
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
      reply(undefined, async () => session.setMode(message.mode));
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
