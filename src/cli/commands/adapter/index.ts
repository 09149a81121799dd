// The table of `adapter` commands. Help, the parser and the dispatcher read it.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const ofDoctor = [
  textOrJson,
  flag(
    "Run",
    "--style <style>",
    "How it gets the prompt (default: argument with -p or --print, else turn JSON on stdin)",
    { choices: ["argument", "stdin"] },
  ),
  flag("Run", "--no-headless-flags", "Do not pass --approve-mcps --force before the prompt"),
  flag("Limits", "--timeout <seconds>", "Timeout for each run in seconds (default: 30)"),
];

export const adapterCommands: readonly InnerCommand[] = [
  {
    name: "doctor",
    summary: "Run a CLI as the adapter would, and say what is wrong with it",
    operands: "<command...>",
    flags: ofDoctor,
    examples: [
      "adapter doctor -- agent auto --stream-json",
      "adapter doctor -- agent -p --output-format stream-json --stream-partial-output",
      "adapter doctor --format json -- ./my-cli",
    ],
    load: async () => (await import("./doctor.ts")).doctor,
  },
];
