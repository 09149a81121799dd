// The table of `worker` commands, with the original's names. The parser reads it at every start, so it imports nothing heavy.
import { flag } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const own = [
  flag("Fleet", "--pool <name>", "Take runs of this pool (default: default)"),
  flag("Fleet", "--label <key=value>...", "A label of this worker (repeatable)"),
  flag("Fleet", "--name <name>", "Name of the worker (default: host name and process id)"),
  flag(
    "Fleet",
    "--data-dir <path>",
    "Directory for workspaces and cached repositories (default: ~/.cache/courser/worker)",
  ),
];

export const workerCommands: readonly InnerCommand[] = [
  {
    name: "start",
    summary: "Take runs from the fleet and execute them",
    flags: [
      ...own,
      flag("Fleet", "--concurrency <n>", "Maximum number of runs at once (default: 1)"),
      flag("Fleet", "--single-use", "Execute one run, then exit with its exit code"),
      flag("Fleet", "--idle-release-timeout <seconds>", "Exit after this long without a run (default: never)"),
      flag(
        "Fleet",
        "--management-addr <host:port>",
        "Serve /healthz, /readyz and /metrics at this address (default host: 127.0.0.1)",
      ),
      flag("Fleet", "--grace <seconds>", "How long runs may take to finish after SIGTERM (default: 25)"),
      flag("Fleet", "--keep-failed", "Keep the workspaces of failed runs"),
      flag("Fleet", "--cache-size <gigabytes>", "Keep at most this much of the repositories it fetched (default: 20)"),
      flag("Fleet", "--cache-days <days>", "Remove a fetched repository after this long without a run (default: 30)"),
      flag("Fleet", "--lease <lease>", "A run leased to this worker", { hidden: true }),
      flag("Fleet", "--lease-time <seconds>", "How long a silent worker keeps its runs (default: 15)", {
        hidden: true,
      }),
    ],
    uses: ["fleet"],
    examples: [
      "worker start --fleet nats://127.0.0.1:4222 --pool gpu --label os=linux --concurrency 4",
      "worker start --single-use --idle-release-timeout 60",
    ],
    load: async () => (await import("./start.ts")).startWorker,
  },
  {
    name: "debug",
    summary: "Check what a worker needs: the connection to the fleet, keys, sandbox, agent CLIs, disk",
    flags: [...own, flag("Fleet", "--json", "Print JSON")],
    uses: ["fleet"],
    examples: ["worker debug --fleet nats://127.0.0.1:4222", "worker debug --json"],
    load: async () => (await import("./debug.ts")).debugWorker,
  },
];
