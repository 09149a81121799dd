// Flags of `serve` and `batch`. The parser reads them at every start, so this file imports nothing heavy.
import { flag, textOrJson } from "../flags.ts";

const port = flag("General", "--port <port>", "Port to listen on (default: a free one)");

export const studioFlags = [port, flag("General", "--no-open", "Print the address instead of opening a browser")];

export const serveFlags = [
  port,
  flag("General", "--host <address>", "Address to listen on (default: 127.0.0.1); others need --allow-remote"),
  flag(
    "General",
    "--allow-remote",
    "Allow a --host that other machines can reach; needs a password in COURSER_SERVE_PASSWORD",
  ),
  flag("General", "--until-idle", "Exit when no runs are left and no request has arrived for a while"),
];

export const batchFlags = [
  flag(
    "Output",
    "--output <file>",
    "Results file, one JSON line per run (default: stdout); finished runs in it are skipped",
  ),
  flag("Run", "--concurrency <n>", "Number of parallel runs (default: 4; with --fleet 100)"),
  flag("Run", "--retry-failed", "Also rerun those that failed before"),
  flag("Limits", "--max-cost <usd>", "Start no more runs once they have cost this much in total"),
  textOrJson,
];
