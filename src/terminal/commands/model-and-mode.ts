// Commands about who answers and what it may do.
import { findVendor, models, offlineModel } from "../../model/catalog.ts";
import type { PermissionMode } from "../../protocol/run.ts";
import { readKeys } from "../../store/auth.ts";
import { configDir } from "../../store/config-dir.ts";
import type { Desk } from "../desk.ts";
import type { SlashCommand } from "./command.ts";

export const modeNames: Readonly<Record<PermissionMode, string>> = {
  default: "agent",
  plan: "plan",
  ask: "ask",
  force: "run everything",
};

export const modelAndModeCommands: readonly SlashCommand[] = [
  { name: "model", operands: "[filter]", help: "Choose the model", group: "Model and mode", run: chooseModel },
  {
    name: "plan",
    operands: "[prompt]",
    help: "Plan mode: look and plan, change nothing",
    group: "Model and mode",
    run: (desk, rest) => switchMode(desk, "plan", rest),
  },
  {
    name: "ask",
    operands: "[prompt]",
    help: "Ask mode: questions and answers, change nothing",
    group: "Model and mode",
    run: (desk, rest) => switchMode(desk, "ask", rest),
  },
  {
    name: "agent",
    operands: "[prompt]",
    help: "Back to agent mode",
    group: "Model and mode",
    run: (desk, rest) => setMode(desk, "default", rest),
  },
  {
    name: "run-everything",
    aliases: ["auto-run", "yolo"],
    operands: "[on|off|status]",
    help: "Ask about nothing but protected paths; deny rules still hold",
    group: "Model and mode",
    run: runEverything,
  },
];

async function chooseModel(desk: Desk, filter: string): Promise<void> {
  const keys = readKeys(configDir(desk.env));
  const hasKey = (vendor: string) => {
    const row = findVendor(vendor);
    return row?.local || vendor in keys || row?.keyVariables.some((name) => desk.env[name]?.trim());
  };
  const current = desk.conversation.facts.model;
  const rows = [...models].sort((one, other) => Number(hasKey(other.vendor) ?? 0) - Number(hasKey(one.vendor) ?? 0));
  const items = [
    ...rows.map(({ id, name, vendor }) => ({
      value: id,
      label: id,
      detail: name,
      note: name === current ? "current" : hasKey(vendor) ? vendor : `${vendor}, no key`,
    })),
    { value: offlineModel.id, label: offlineModel.id, detail: "built in, needs no key", note: "" },
  ];
  const exact = items.find(({ value }) => value === filter);
  const chosen = exact?.value ?? (await desk.choose({ title: "Model", items, filter }));
  if (chosen === undefined) return;
  await desk.conversation.setModel(chosen);
  desk.say(`The model is ${chosen} from the next reply on.`);
}

/** A second time leaves the mode again. */
function switchMode(desk: Desk, mode: PermissionMode, prompt: string): void {
  const isLeft = desk.conversation.facts.mode === mode && prompt === "";
  setMode(desk, isLeft ? "default" : mode, prompt);
}

export function setMode(desk: Desk, mode: PermissionMode, prompt = ""): void {
  desk.conversation.setMode(mode);
  if (prompt !== "") desk.submit(prompt);
}

async function runEverything(desk: Desk, rest: string): Promise<void> {
  const isOn = desk.conversation.facts.mode === "force";
  const wanted = rest === "" ? (isOn ? "off" : "on") : rest;
  if (wanted === "status") return desk.say(`Run everything is ${isOn ? "on" : "off"}.`);
  if (wanted !== "on" && wanted !== "off")
    return desk.complain(`'${rest}' is not one of on, off, status: /run-everything [on|off|status]`);
  setMode(desk, wanted === "on" ? "force" : "default");
  desk.say(
    wanted === "on"
      ? "Everything runs without a question, but for deny rules and protected paths. /run-everything off ends it."
      : "Questions are asked again.",
  );
}

/** Agent, plan, ask, and round again. */
export function nextMode(mode: PermissionMode): PermissionMode {
  const order: readonly PermissionMode[] = ["default", "plan", "ask"];
  return order[(order.indexOf(mode) + 1) % order.length]!;
}
