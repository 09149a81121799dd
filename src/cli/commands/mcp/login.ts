// `mcp login` and `mcp logout`: get and delete the tokens of servers that require authorization.
import { logIn } from "../../../agent/mcp/login.ts";
import { isSafeToOpen } from "../../../agent/mcp/oauth.ts";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import { forgetLogin } from "../../../store/mcp-logins.ts";
import { resolveServer, VariableProblem } from "../../../store/mcp-variables.ts";
import { visible } from "../../../text/visible.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { openBrowser } from "../../open-browser.ts";
import { writeStderr } from "../../stdout.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { listenForCallback, usualPort } from "./callback.ts";
import { contextOf, type McpContext, requireApproval, serverNamed } from "./context.ts";

export async function login(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "their logins");
  const context = contextOf(invocation);
  const { server, filled } = remoteNamed(context, words);
  const callback = await listenForCallback(redirectPort(invocation));
  const state = process.getBuiltinModule("node:crypto").randomUUID();
  const answered = callback.answer(state);
  answered.catch(() => {}); // awaited below, unless the login fails before
  try {
    const how = await logIn(server, filled, {
      env: invocation.env,
      configDir: context.configDir,
      version: invocation.version,
      interaction: { redirectUrl: callback.url, state, open: (url) => showLoginUrl(url, callback.url, invocation) },
      answer: () => answered,
    });
    if (wantsJson(invocation)) return await answerJson({ name: server.name, loggedIn: true, how });
    const text = how === "known" ? `${server.name} is already logged in` : `✓ Logged in to ${server.name}`;
    return await answer(visible(`${text} (${filled.url.origin})\n`));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError("MCP_UNREACHABLE", `The login to ${server.name} failed: ${(error as Error).message}`);
  } finally {
    callback.close();
  }
}

export async function logout(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "their logins");
  const context = contextOf(invocation);
  const { server, filled } = remoteNamed(context, words);
  const had = forgetLogin(context.configDir, filled.url);
  if (wantsJson(invocation)) return answerJson({ name: server.name, loggedIn: false, hadLogin: had });
  return answer(visible(had ? `✓ Logged out of ${server.name}\n` : `There is no login to ${server.name} to remove.\n`));
}

/** Refuses an unapproved server of the project: it is sent no request, not even one for its login page. */
function remoteNamed(context: McpContext, words: readonly string[]) {
  const named = serverNamed(context, words);
  requireApproval(named, context.program);
  const { server } = named;
  const { name } = server;
  try {
    if (server.problem !== undefined) throw new VariableProblem(server.problem);
    const filled = resolveServer(server, context);
    if (filled.kind === "url") return { server, filled };
  } catch (error) {
    if (!(error instanceof VariableProblem)) throw error;
    throw new UserError(
      "CONFIG_INVALID",
      `${server.file}: the MCP server ${name} cannot be reached: ${error.message}.`,
    );
  }
  throw usageError(`${name} is a command that is started here: it has no address to log in to.`);
}

function redirectPort({ line: { flags } }: Invocation): number {
  const text = flagText(flags, "port");
  if (text === undefined) return usualPort;
  if (/^\d+$/.test(text) && Number(text) < 65_536) return Number(text);
  throw usageError(`--port '${text}' is not a port number. Example: --port 41800`);
}

/** Prints the login URL to stderr, since stdout is for the command's result. */
function showLoginUrl(url: URL, callback: string, { env }: Invocation): void {
  writeStderr(`Log in here:\n\n  ${url.href}\n\n`);
  if (env["SSH_CONNECTION"]) {
    const port = new URL(callback).port;
    writeStderr(
      `Over SSH, first forward the port to your own machine: ssh -L ${port}:127.0.0.1:${port} <this machine>\n\n`,
    );
    return;
  }
  if (isSafeToOpen(url)) openBrowser(url.href, env);
}
