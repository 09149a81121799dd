// Flags of `serve` and `batch`: read by the parser at every start, so nothing heavy is here.
import { flag, textOrJson } from "../flags.ts";

const port = flag("General", "--port <port>", "Port to listen on (default: a free one)");

export const studioFlags = [port, flag("General", "--no-open", "Print the address instead of opening a browser")];

export const serveFlags = [
  port,
  flag("General", "--host <address>", "Address to listen on (default: 127.0.0.1); others need --allow-remote"),
  flag(
    "General",
    "--allow-remote",
    "Let --host be an address that others can reach; needs a password in COURSER_SERVE_PASSWORD",
  ),
  flag("General", "--until-idle", "Exit when no run is left and nobody has asked for a while"),
];

export const batchFlags = [
  flag(
    "Output",
    "--output <file>",
    "Where results go, a JSON line a run (default: stdout); what is there is not done again",
  ),
  flag("Run", "--concurrency <n>", "How many runs at once (default: 4; with --fleet 100)"),
  flag("Run", "--retry-failed", "Also run those again that failed before"),
  flag("Limits", "--max-cost <usd>", "Begin no more runs when all together have cost so much"),
  textOrJson,
];
