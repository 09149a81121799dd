// The commands that make agents testable: replay, fake, conformance, eval.
import { flag, textOrJson } from "../flags.ts";
import type { Command } from "./index.ts";

const faultNames = [
  "hang",
  "hang-at-end",
  "crash",
  "cut-line",
  "noise",
  "two-results",
  "no-result",
  "slow",
  "wrong-exit",
  "unpaired",
  "other-text",
  "other-session",
];

export const testCommands: readonly Command[] = [
  {
    name: "replay",
    ours: true,
    uses: ["output-format", "stream-partial-output", "replay-tools", "model", "force", "trust", "workspace"],
    operands: "<file> [prompt...]",
    summary: "Show a recorded run, or continue it from one of its steps with a real model",
    flags: [
      flag("Proof", "--until <step>", "Stop after this request to the model"),
      flag("Proof", "--speed <factor>", "1: real time, 2: twice as fast (default: no pauses)"),
      flag("Proof", "--from-step <step>", "Replay up to this step, then send the prompt to a real model"),
    ],
    examples: [
      "replay run.jsonl",
      "replay run.jsonl --speed 2",
      'replay run.jsonl --from-step 2 --model gpt-5 "do it differently"',
    ],
    load: async () => (await import("./replay.ts")).replay,
  },
  {
    name: "fake",
    ours: true,
    uses: ["print", "output-format", "stream-partial-output", "resume", "force"],
    operands: "[prompt...]",
    summary: "Act as a cursor-agent that plays a recording or a script, with faults on demand",
    flags: [
      flag("Proof", "--profile <version>", "Stream version to emit: 2025.10, 2026.02 or 2026.09 (default)", {
        choices: ["2025.10", "2026.02", "2026.09"],
      }),
      flag("Proof", "--from <file>", "A recording or a script to play (default: a sample)"),
      flag("Proof", "--fault <name>", `Fault to inject: ${faultNames.join(", ")}`, { choices: faultNames }),
    ],
    examples: [
      'fake -p --output-format stream-json "hi"',
      'fake --profile 2025.10 --from run.jsonl --fault cut-line -p --output-format stream-json "hi"',
    ],
    load: async () => (await import("./fake.ts")).fake,
  },
  {
    name: "conformance",
    ours: true,
    operands: "<command...>",
    summary: "Black-box test any cursor-agent-like CLI, rule by rule",
    flags: [
      flag("Output", "--format <format>", "text (default), json or junit", { choices: ["text", "json", "junit"] }),
      flag("Proof", "--rule <id>...", "Only these rules or groups (repeatable)"),
      flag("Limits", "--timeout <seconds>", "Timeout for each run in seconds (default: 60)"),
    ],
    examples: ["conformance -- cursor-agent", "conformance --format junit -- courser --model offline > report.xml"],
    load: async () => (await import("./conformance.ts")).conformance,
  },
  {
    name: "eval",
    ours: true,
    uses: [
      "model",
      "effort",
      "api-key",
      "endpoint",
      "endpoint-type",
      "sandbox",
      "max-turns",
      "max-cost",
      "price",
      "replay-on-mismatch",
      "fleet",
      "pool",
      "label",
      "priority",
      "on-worker-loss",
    ],
    operands: "<taskdir...>",
    summary: "Run an agent on tasks in Harbor's format, and verify the results",
    flags: [
      flag("Proof", "--attempts <number>", "Attempts per task (default: 1)"),
      flag("Proof", "--concurrency <number>", "Attempts to run in parallel (default: number of cores, at most 4)"),
      flag(
        "Proof",
        "--agent <agent>",
        "Agent to run: cli (default), oracle (the task's solution) or noop (does nothing)",
        {
          choices: ["cli", "oracle", "noop"],
        },
      ),
      flag("Proof", "--oracle", "Same as --agent oracle"),
      flag("Proof", "--check", "Check the tasks themselves: the solution must pass, doing nothing must fail"),
      flag("Proof", "--save-recordings", "Save a recording of each attempt that passes in its task directory"),
      flag("Proof", "--keep", "Do not delete the directories of the attempts, and print their paths"),
      flag(
        "Output",
        "-o, --output <directory>",
        "Write results.json, junit.xml, preds.jsonl, streams and patches to this directory",
      ),
      flag("Output", "--junit <file>", "Write the results as JUnit"),
      flag("Output", "--preds <file>", "Write the patches as SWE-bench predictions"),
      textOrJson,
    ],
    examples: [
      "eval tasks --model sonnet --attempts 3 --output results",
      "eval tasks --check",
      "eval tasks --model replay --junit eval.xml",
    ],
    load: async () => (await import("./eval.ts")).evalTasks,
  },
];
