// The tables of `runs` commands and of `persist` commands, which are the same under the original CLI's names.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const list: InnerCommand = {
  name: "list",
  summary: "List background runs",
  flags: [flag("Sessions", "-a, --all", "Include runs that ended long ago"), textOrJson],
  load: async () => (await import("./list.ts")).listRuns,
};

const attach: InnerCommand = {
  name: "attach",
  summary: "Show a run, answer its questions, send messages",
  operands: "[run]",
  examples: ["runs attach", "runs attach 0bae"],
  load: async () => (await import("./attach.ts")).attach,
};

const stop: InnerCommand = {
  name: "stop",
  summary: "Stop runs",
  operands: "<run...>",
  load: async () => (await import("./stop.ts")).stopRuns,
};

export const runCommands: readonly InnerCommand[] = [
  list,
  attach,
  {
    name: "logs",
    summary: "Print what happened in a run",
    operands: "[run]",
    flags: [flag("Sessions", "--follow", "Follow until the run ends"), textOrJson],
    examples: ["runs logs 0bae --follow", "runs logs 0bae --format json"],
    load: async () => (await import("./logs.ts")).showLog,
  },
  {
    name: "show",
    summary: "Show one run: its directory, worker, cost and result",
    operands: "[run]",
    flags: [textOrJson],
    load: async () => (await import("./show.ts")).showRun,
  },
  {
    name: "patch",
    summary: "Print the changes of a fleet run, for git apply",
    operands: "[run]",
    uses: ["workspace"],
    flags: [flag("Sessions", "--apply", "Apply them in this directory instead")],
    examples: ["runs patch 0bae | git apply", "runs patch 0bae --apply"],
    load: async () => (await import("./patch.ts")).showPatch,
  },
  stop,
  {
    name: "answer",
    summary: "Answer the questions of runs",
    operands: "[run]",
    flags: [
      flag("Sessions", "--question <id>", "Answer only this question"),
      flag("Sessions", "-y, --yes", "Answer yes"),
      flag("Sessions", "--always", "Answer yes to this and the same request until the run ends"),
      flag("Sessions", "--no [reason]", "Answer no"),
      textOrJson,
    ],
    examples: ["runs answer", "runs answer 0bae --yes", 'runs answer 0bae --no "use the other file"'],
    load: async () => (await import("./answer-run.ts")).answerRun,
  },
];

export const persistCommands: readonly InnerCommand[] = [list, attach, stop];
