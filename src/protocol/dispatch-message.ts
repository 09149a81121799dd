// Applies a control line to a run, independent of the transport.
import type { ControlLine } from "./control-lines.ts";
import type { LiveRun, Sent } from "./run.ts";
import type { RunOrder } from "./run-elsewhere.ts";

export type MessageHost = {
  /** Called with each prompt that was sent to the run. */
  follow(sent: Sent, id: string | undefined): void;
  /** Runs `work` and sends its result as the reply to the line. */
  reply(id: string | undefined, work: () => Promise<unknown>): void;
  withdraw(prompt: string): Promise<boolean>;
};

export function dispatchMessage(
  run: LiveRun,
  order: RunOrder | Extract<ControlLine, { type: "steer" }>,
  host: MessageHost,
): void {
  switch (order.type) {
    case "steer":
      host.follow(run.steer(order.text), order.id);
      break;
    case "interrupt":
      run.interrupt(order.reason);
      break;
    case "withdraw":
      host.reply(order.id, () => host.withdraw(order.prompt));
      break;
    case "mode":
      host.reply(undefined, async () => run.setMode(order.mode));
      break;
    case "model":
      host.reply(order.id, () => run.setModel(order.model, order.effort));
      break;
    case "background":
      host.reply(order.id, () => run.background(order.call));
      break;
    case "compact":
    case "context":
    case "names":
      host.reply(order.id, () => run[order.type]());
      break;
    case "rewind":
      host.reply(order.id, () => run.rewind(order.turn));
      break;
    case "aside":
      host.reply(order.id, () => run.aside(order.text));
      break;
  }
}
