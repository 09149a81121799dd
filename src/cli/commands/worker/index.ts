// The table of `worker` commands, spelled as the original's. Read by the parser at every start, so nothing heavy is here.
import { flag } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const name = flag("Fleet", "--name <name>", "What the worker is called (default: this machine's name and the process)");
const dataDir = flag(
  "Fleet",
  "--data-dir <path>",
  "Where workspaces and repositories are kept (default: ~/.cache/courser/worker)",
);
const uses = ["fleet", "pool", "label"];

export const workerCommands: readonly InnerCommand[] = [
  {
    name: "start",
    summary: "Take runs as they come, and carry them out",
    flags: [
      name,
      flag("Fleet", "--concurrency <n>", "Most runs at once (default: 1)"),
      flag("Fleet", "--single-use", "Exit after one run, as it ended"),
      flag("Fleet", "--idle-release-timeout <seconds>", "Exit after so long without a run (default: never)"),
      flag(
        "Fleet",
        "--management-addr <host:port>",
        "Serve /healthz, /readyz and /metrics there; without a host on 127.0.0.1",
      ),
      flag("Fleet", "--grace <seconds>", "After SIGTERM, runs may end by themselves for so long (default: 25)"),
      dataDir,
      flag("Fleet", "--keep-failed", "Keep the workspaces of runs that failed"),
      flag("Fleet", "--lease <lease>", "A run that was taken for this worker", { hidden: true }),
      flag("Fleet", "--lease-time <seconds>", "A worker that is silent for so long has lost its runs", {
        hidden: true,
      }),
    ],
    uses,
    examples: [
      "worker start --fleet nats://127.0.0.1:4222 --pool gpu --label os=linux --concurrency 4",
      "worker start --single-use --idle-release-timeout 60",
    ],
    load: async () => (await import("./start.ts")).startWorker,
  },
  {
    name: "debug",
    summary: "Check everything that a worker needs: the way to the fleet, keys, sandbox, agent CLIs, disk",
    flags: [name, dataDir, flag("Fleet", "--json", "As JSON")],
    uses,
    examples: ["worker debug --fleet nats://127.0.0.1:4222", "worker debug --json"],
    load: async () => (await import("./debug.ts")).debugWorker,
  },
];
