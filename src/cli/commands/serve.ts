// `serve`: runs the service on this machine. Prints its address; the token is in serve.json.
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { usageError } from "../../protocol/error-codes.ts";
import type { Fleet } from "../../serve/fleet.ts";
import { runService } from "../../serve/service.ts";
import { configDir } from "../../store/config-dir.ts";
import { realPathOrSame } from "../../store/json-file.ts";
import { serviceFile } from "../../store/service-file.ts";
import { flagText } from "../flags.ts";
import { windUpMs } from "../fleet-watch.ts";
import type { Invocation } from "../main.ts";
import { handleShutdown } from "../shutdown.ts";
import { openStdout, withoutSecrets } from "../stdout.ts";
import { refuseAgents } from "./refuse-agents.ts";
import { fleetUrl, launchOf, withFleet } from "./runs/context.ts";

const loopback = ["127.0.0.1", "localhost"];
const shortestPassword = 16;
/** The folder to which the build writes the studio's page. */
const pageDir = fileURLToPath(new URL("../studio", import.meta.url));

export function serve(invocation: Invocation): Promise<number> {
  refuseAgents(invocation, "who can reach this machine");
  return serveUntilStopped(invocation, ({ host, port }) => {
    const address = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
    const url = fleetUrl(invocation);
    const what = url === undefined ? "" : ` runs of ${withoutSecrets(url)}`;
    return `Serving${what} on ${address}, token in ${serviceFile(configDir(invocation.env), url)}\nThe API: /openapi.json. The page: ${invocation.name} studio. Ctrl+C stops the service; runs continue.\n`;
  });
}

/** Runs the service until a signal stops it. `startedMessage` returns the text that is printed once it listens. */
export async function serveUntilStopped(
  invocation: Invocation,
  startedMessage: (at: { host: string; port: number; token: string }) => string,
): Promise<number> {
  keepSmall();
  const { flags } = invocation.line;
  const port = parsePort(flagText(flags, "port"));
  const host = flagText(flags, "host") ?? "127.0.0.1";
  const password = passwordFor(host, invocation);
  const token = givenToken(invocation);
  const abort = new AbortController();
  const watch = handleShutdown(abort, { env: invocation.env, graceMs: windUpMs, onWatched: keepSmall });
  const launch = launchOf(invocation);
  const stdout = openStdout();
  const serveRuns = (fleet: Fleet, end: AbortSignal) =>
    runService(
      { ...launch, fleet, version: invocation.version, pageDir, startedIn: realPathOrSame(process.cwd()) },
      {
        host: loopback.includes(host) ? "127.0.0.1" : host,
        port,
        ...(password !== undefined && { password }),
        ...(token !== undefined && { token }),
        untilIdle: flags.has("until-idle"),
        signal: AbortSignal.any([abort.signal, end]),
        onListening: (at) => stdout.write(startedMessage(at)),
      },
    ).then(() => end.throwIfAborted());
  await withFleet(invocation, serveRuns, { isServer: true }).finally(() => watch.stop());
  return 0;
}

/** Reduces memory use: a service mostly waits, so it uses a small young generation and collects garbage early. */
function keepSmall(): void {
  setFlagsFromString("--heap-growing-percent=25");
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** Services of one fleet may share a token, so that a client can use any of them. */
function givenToken({ env }: Invocation): string | undefined {
  const token = env["COURSER_SERVE_TOKEN"];
  delete env["COURSER_SERVE_TOKEN"]; // hide the token from child processes
  if (token === undefined || token === "") return undefined;
  if (/^[\w-]{32,}$/.test(token)) return token;
  throw usageError(
    "COURSER_SERVE_TOKEN must have 32 letters, digits, - or _ or more. To make one: openssl rand -hex 32",
  );
}

function parsePort(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usageError(`--port '${text}' is not a port. Example: --port 4096`);
}

/** Returns the password. Remote access needs a flag and a password, since it allows running commands. */
function passwordFor(host: string, { line: { flags }, env }: Invocation): string | undefined {
  if (loopback.includes(host)) return undefined;
  if (!flags.has("allow-remote"))
    throw usageError(
      `--host ${host} lets others reach the service, and through it this machine. If that is meant: --allow-remote, with a password in COURSER_SERVE_PASSWORD. A tunnel is safer: ssh -L 4096:127.0.0.1:4096`,
    );
  const password = env["COURSER_SERVE_PASSWORD"] ?? "";
  delete env["COURSER_SERVE_PASSWORD"]; // hide the password from child processes
  if (password.length >= shortestPassword) return password;
  throw usageError(
    `--allow-remote needs a password of ${shortestPassword} characters or more in COURSER_SERVE_PASSWORD.`,
  );
}
