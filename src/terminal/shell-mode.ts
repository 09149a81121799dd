// Shell mode: runs the user's own command in their shell, limited to 30 seconds. The model does not see it.
import { Supervisor } from "../process/supervisor.ts";
import { runningFor } from "../view/numbers.ts";
import type { App } from "./app.ts";
import { join, linesOf, nothing, type Painted, spread } from "./painted.ts";
import { overwritten } from "./transcript/card.ts";
import { layoutWidth } from "./view.ts";

const timeoutMs = 30_000;
const liveLines = 8;
/** How many characters of output are kept to show its last lines while a command runs. */
const maxTail = 16_384;
/** The maximum number of lines shown. All output can be redirected to a file. */
const maxLines = 400;

/** The last command of each app. Like in a shell, commands run one after the other. */
const last = new WeakMap<App, Promise<void>>();

export function runShellCommand(app: App, command: string): Promise<void> {
  const before = last.get(app) ?? Promise.resolve();
  const run = before.catch(() => {}).then(() => (command.trim() === "" ? undefined : runNow(app, command)));
  last.set(app, run);
  return run;
}

async function runNow(app: App, command: string): Promise<void> {
  const { palette } = app;
  // Rules that even --force cannot override also apply to commands typed here.
  const { code, text } = await app.command(["permissions", "check", `Shell: ${command}`, "--force"]);
  if (code === 4) return app.complain(`This command is denied.\n${text.split("\n").slice(1).join("\n").trimEnd()}`);
  const startedAt = Date.now();
  let output = "";
  const abort = new AbortController();
  const head = (right: Painted, columns: number) =>
    spread(
      join(palette.plain("  "), palette.bold("!      "), palette.plain(linesOf(command)[0]!)),
      right,
      layoutWidth(columns),
    );
  const bar = (line: string) => join(palette.soft("         │ "), palette.withColours(line));
  app.setLive(
    (columns) => [
      nothing, // add an empty line as between blocks, so that the end of the command moves no line
      head(palette.soft(`${runningFor(Date.now() - startedAt)} · esc stops`), columns),
      ...overwritten(output.slice(-maxTail).trimEnd()).slice(-liveLines).map(bar),
    ],
    () => abort.abort(),
  );
  const supervisor = new Supervisor({
    command: [app.env["SHELL"] || "/bin/sh", "-c", command],
    cwd: app.conversation.request.workspace,
    env: app.env,
    timeoutMs,
    graceMs: 500,
    signal: abort.signal,
    leftovers: "group",
    onOutput: (_stream, chunk) => {
      if (output.length < 4_000_000) output += chunk.toString("utf8");
      app.redraw();
    },
  });
  const end = await supervisor.ended;
  app.setLive(undefined);
  const lines = overwritten(output.trimEnd());
  const shown = lines.length > maxLines ? lines.slice(-maxLines) : lines;
  const outcome =
    end.stopped === "timedOut"
      ? palette.bad("timed out after 30 s")
      : abort.signal.aborted
        ? palette.warn("stopped")
        : end.exitCode === 0
          ? palette.soft(`${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
          : palette.bad(end.failure ? "not started" : `exit ${end.exitCode ?? end.signal}`);
  app.commit([
    head(outcome, app.size.columns),
    ...(lines.length > shown.length ? [palette.soft(`         … ${lines.length - shown.length} lines before`)] : []),
    ...(output.trim() === "" ? [] : shown.map(bar)),
  ]);
}
