// `/goal`: after each turn the agent continues by itself until it says that the goal is reached, or the user stops it.
import type { TurnEnding } from "../../protocol/run.ts";
import type { Desk } from "../desk.ts";
import type { SlashCommand } from "./command.ts";

/** The number of turns after which the goal pauses, so that the user can check the progress. */
const maxTurns = 20;
const reached = "GOAL REACHED";

export type Goal = { text: string; turns: number };

export const goalCommand: SlashCommand = {
  name: "goal",
  operands: "<objective>|stop",
  help: "Keep working until the objective is reached",
  run(desk, rest) {
    const { goal } = desk;
    if (rest === "" && goal) return desk.say(`The goal: ${goal.text} (turn ${goal.turns} of ${maxTurns}).`);
    if (rest === "") return desk.complain("An objective is missing: /goal <objective>");
    if (rest === "stop" || rest === "off") {
      desk.setGoal(undefined);
      return desk.say("The goal was dropped.");
    }
    desk.setGoal({ text: rest, turns: 1 });
    desk.submit(
      `${rest}\n\nWork until this is done. When it is done and you have checked it, end your answer with the line ${reached}.`,
    );
  },
};

/** Returns the goal to continue with, or undefined if it is reached, the turn failed or was interrupted, or it took too many. */
export function goalAfter(goal: Goal, ending: TurnEnding, desk: Desk): Goal | undefined {
  if (ending.type === "fail") {
    desk.say("The goal is paused: the turn failed. /goal <objective> starts again.");
    return undefined;
  }
  if (ending.text.trimEnd().endsWith(reached)) {
    desk.say(`The goal is reached after ${goal.turns} ${goal.turns === 1 ? "turn" : "turns"}.`);
    return undefined;
  }
  if (goal.turns >= maxTurns) {
    desk.say(`The goal was not reached in ${maxTurns} turns. Check what was done, then /goal again.`);
    return undefined;
  }
  desk.submit(
    `Go on with the goal: ${goal.text}\nEnd your answer with the line ${reached} once it is done and checked.`,
  );
  return { ...goal, turns: goal.turns + 1 };
}
