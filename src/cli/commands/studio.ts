// `studio`: opens the page for all sessions and runs of this machine in the browser. Uses the running service, or starts one.
import { configDir } from "../../store/config-dir.ts";
import { serviceFile } from "../../store/service-file.ts";
import type { Invocation } from "../main.ts";
import { openBrowser } from "../open-browser.ts";
import { writeStderr } from "../stdout.ts";
import { answer } from "./answer.ts";
import { refuseAgents } from "./refuse-agents.ts";
import { fleetUrl } from "./runs/context.ts";
import { serveUntilStopped } from "./serve.ts";

export async function studio(invocation: Invocation): Promise<number> {
  refuseAgents(invocation, "who can reach this machine");
  const { flags } = invocation.line;
  const { runningService } = await import("../../serve/service.ts");
  const running = flags.has("port")
    ? undefined
    : await runningService(serviceFile(configDir(invocation.env), fleetUrl(invocation)));
  if (!running)
    return serveUntilStopped(invocation, (at) =>
      pageAddress(at, invocation, "Ctrl+C stops the service; runs continue."),
    );
  if (running.version !== invocation.version)
    writeStderr(
      `The service that runs is version ${running.version}. To use this one (${invocation.version}), stop it first: kill ${running.pid}\n`,
    );
  return answer(pageAddress(running, invocation, `The service that runs already is used (process ${running.pid}).`));
}

/** Puts the token after `#`, which browsers do not send to the server; the page reads it once. */
function pageAddress(
  { port, token }: { port: number; token: string },
  { line, env }: Invocation,
  rest: string,
): string {
  const page = `http://127.0.0.1:${port}/`;
  const isOpen = !line.flags.has("no-open") && openBrowser(`${page}#token=${token}`, env);
  const where = isOpen
    ? `The studio is open in your browser: ${page}`
    : `Open the studio in your browser:\n\n  ${page}#token=${token}\n\nAnyone with this address can act as you.`;
  return `${where}${isOpen ? "\n" : " "}${rest}\n`;
}
