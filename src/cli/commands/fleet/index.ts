// The table of `fleet` commands, for who operates one. Read by the parser at every start, so nothing heavy is here.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const limits = [
  flag("Fleet", "--keep-days <days>", "Remove logs and files of runs after this long"),
  flag("Fleet", "--max-size <gigabytes>", "Largest size of the logs, and of the files; the oldest make room"),
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
    summary: "Show or change how long and how much a fleet keeps",
    flags: limits,
    uses: ["fleet"],
    examples: ["fleet limits", "fleet limits --keep-days 14 --max-size 100"],
    load: async () => (await import("./limits.ts")).changeLimits,
  },
];
