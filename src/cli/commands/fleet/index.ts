// The table of `fleet` commands, for operators. The parser reads it at every start, so it imports nothing heavy.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const limits = [
  flag("Fleet", "--keep-days <days>", "Remove logs and files of runs after this long"),
  flag("Fleet", "--max-size <gigabytes>", "Largest size of the logs, and of the files; the oldest make room"),
  flag("Fleet", "--runs-per-sender <n>", "Most runs at once of one sender in one pool, 0 for any number; others wait"),
  flag("Fleet", "--cost-per-sender <usd>", "Begin no more runs of a sender whose runs cost so much today; 0: no limit"),
];

export const fleetCommands: readonly InnerCommand[] = [
  {
    name: "status",
    summary: "Show the queue, the workers and the streams of a fleet",
    flags: [textOrJson, flag("Fleet", "--metrics", "Print the metrics for Prometheus")],
    uses: ["fleet"],
    examples: ["fleet status", "fleet status --metrics > /var/lib/node_exporter/courser.prom"],
    load: async () => (await import("./status.ts")).showStatus,
  },
  {
    name: "init",
    summary: "Create the streams of a fleet, with their limits",
    flags: limits,
    uses: ["fleet"],
    examples: ["fleet init --fleet 'tls://build-admin:…@a,b,c?replicas=3' --keep-days 14 --max-size 100"],
    load: async () => (await import("./limits.ts")).changeLimits,
  },
  {
    name: "limits",
    summary: "Show or change what a fleet keeps, and what each sender may have",
    flags: limits,
    uses: ["fleet"],
    examples: ["fleet limits", "fleet limits --keep-days 14 --max-size 100 --runs-per-sender 20"],
    load: async () => (await import("./limits.ts")).changeLimits,
  },
];
