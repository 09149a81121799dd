// `acp`: serves the Agent Client Protocol on stdin and stdout. Clients run `acp login` in a terminal for the user.
import { serveAcp } from "../../acp/index.ts";
import { exitCodeOf, UserError, usageError } from "../../protocol/error-codes.ts";
import { shortened } from "../../text/one-line.ts";
import { createDebug } from "../debug.ts";
import type { Invocation } from "../main.ts";
import { runHost, runRequest } from "../run-request.ts";
import { handleShutdown } from "../shutdown.ts";
import { openStdout, writeStderr } from "../stdout.ts";

export async function acp(invocation: Invocation): Promise<number> {
  const { line, name } = invocation;
  const [word, ...rest] = line.words;
  if (word === "login") {
    const { login } = await import("./login.ts");
    return login({ ...invocation, line: { ...line, command: "login", words: rest } });
  }
  if (word !== undefined) throw usageError(`'acp' takes no arguments but 'login'. A prompt is for: ${name} -p "…"`);

  if (process.stdin.isTTY)
    writeStderr(
      `An editor starts this and speaks the Agent Client Protocol with it; Ctrl+D ends it. For yourself: ${name}\n`,
    );
  const debug = createDebug(line.flags.has("debug"));
  const abort = new AbortController();
  const watch = handleShutdown(abort, invocation);
  const gone = new UserError("INTERRUPTED", "The client is gone.");
  const output = openStdout(() => abort.abort(gone));
  watch.taken = output.taken;
  const { workspace: _workspace, chat: _chat, ...template } = runRequest(invocation, "terminal");
  try {
    await serveAcp({
      input: process.stdin,
      output,
      template,
      host: { ...runHost(invocation), attended: () => true, ...(line.flags.has("debug") && { debug: debug.say }) },
      log: (message) => writeStderr(`${message}\n`),
      ...(line.flags.has("debug") && { debug: (text) => debug.say(shortened(text, 2000)) }),
      signal: abort.signal,
    });
    // A client that closed the input may not read the output either, so do not wait long for it.
    if (!abort.signal.aborted) abort.abort(gone);
    await output.flush(abort.signal);
  } finally {
    watch.stop();
    process.stdin.destroy();
  }
  const reason = abort.signal.reason as UserError;
  return reason === gone ? 0 : exitCodeOf(reason.code);
}
