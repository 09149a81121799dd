// Commands that choose the model and the permission mode.
import type { PermissionMode, ReasoningEffort } from "../../protocol/run.ts";
import type { Desk } from "../desk.ts";
import { chooseModel, setEffort } from "./choose-model.ts";
import type { SlashCommand } from "./command.ts";
import { debugCommand } from "./debug.ts";
import { reopen } from "./resume-chat.ts";

export const modeNames: Readonly<Record<PermissionMode, string>> = {
  default: "agent",
  plan: "plan",
  ask: "ask",
  force: "run everything",
};

/** Model families, each resolved as --model would resolve its name. */
const modelFamilies = { opus: "Opus", sonnet: "Sonnet", haiku: "Haiku", gpt: "GPT", gemini: "Gemini", grok: "Grok" };

const familyCommands = Object.entries(modelFamilies).map(
  ([name, label]): SlashCommand => ({
    name,
    help: `Use ${label}, as --model ${name} does`,
    run: (desk) => chooseModel(desk, name),
  }),
);

export const modelAndModeCommands: readonly SlashCommand[] = [
  {
    name: "model",
    aliases: ["models"],
    operands: "[name]",
    help: "Choose the model; Tab sets its effort",
    run: chooseModel,
  },
  ...familyCommands,
  effortCommand("max-mode", "high", "High reasoning effort; again: the model's default"),
  effortCommand("fast", "low", "Low reasoning effort; again: the model's default"),
  {
    name: "plan",
    operands: "[prompt]",
    help: "Plan mode: read and plan, change nothing",
    run: (desk, rest) => switchMode(desk, "plan", rest),
  },
  {
    name: "ask",
    operands: "[prompt]",
    help: "Ask mode: questions and answers, change nothing",
    run: (desk, rest) => switchMode(desk, "ask", rest),
  },
  debugCommand,
  {
    name: "agent",
    operands: "[prompt]",
    help: "Back to agent mode",
    run: (desk, rest) => setMode(desk, "default", rest),
  },
  {
    name: "run-everything",
    aliases: ["auto-run", "yolo"],
    operands: "[on|off|status]",
    help: "Ask only about protected paths; deny rules still apply",
    run: runEverything,
  },
  {
    name: "auto-review",
    operands: "[on|off]",
    help: "Let a model review permission requests",
    needsIdle: true,
    run: autoReview,
  },
];

/** Makes a command that toggles a reasoning effort; the second use restores the model's default. */
function effortCommand(name: string, effort: ReasoningEffort, help: string): SlashCommand {
  return {
    name,
    operands: "[on|off]",
    help,
    async run(desk, rest) {
      const { request } = desk.conversation;
      if (rest !== "" && rest !== "on" && rest !== "off")
        return desk.complain(`'${rest}' is not one of on, off: /${name} [on|off]`);
      const isOn = rest === "" ? request.effort !== effort : rest === "on";
      await setEffort(desk, isOn ? effort : undefined);
      desk.say(
        isOn ? `${desk.conversation.info.model} now uses ${effort} effort.` : "Effort is back to the model's default.",
      );
    },
  };
}

/** Enters a mode, or leaves it if it is already active and no prompt is given. */
function switchMode(desk: Desk, mode: PermissionMode, prompt: string): void {
  const isLeft = desk.conversation.info.mode === mode && prompt === "";
  setMode(desk, isLeft ? "default" : mode, prompt);
}

export function setMode(desk: Desk, mode: PermissionMode, prompt = ""): void {
  desk.conversation.setMode(mode);
  if (prompt !== "") desk.submit(prompt);
}

async function runEverything(desk: Desk, rest: string): Promise<void> {
  const isOn = desk.conversation.info.mode === "force";
  const wanted = rest === "" ? (isOn ? "off" : "on") : rest;
  if (wanted === "status") return desk.say(`Run everything is ${isOn ? "on" : "off"}.`);
  if (wanted !== "on" && wanted !== "off")
    return desk.complain(`'${rest}' is not one of on, off, status: /run-everything [on|off|status]`);
  setMode(desk, wanted === "on" ? "force" : "default");
  desk.say(
    wanted === "on"
      ? "Everything runs without a question, but for deny rules and protected paths. /run-everything off ends it."
      : "Permission prompts are back on.",
  );
}

async function autoReview(desk: Desk, rest: string): Promise<void> {
  const { request } = desk.conversation;
  if (rest !== "" && rest !== "on" && rest !== "off")
    return desk.complain(`'${rest}' is not one of on, off: /auto-review [on|off]`);
  const isOn = rest === "" ? request.autoReview !== true : rest === "on";
  if (await reopen(desk, { ...request, autoReview: isOn }))
    desk.say(isOn ? "A model reviews permission requests; you are asked when it is in doubt." : "You are asked again.");
}

/** Returns the next mode in the cycle of agent, plan and ask. */
export function nextMode(mode: PermissionMode): PermissionMode {
  const order: readonly PermissionMode[] = ["default", "plan", "ask"];
  return order[(order.indexOf(mode) + 1) % order.length]!;
}
