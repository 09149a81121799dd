// Renders how a turn ended, in one line; a failure with its code, its reason, and what to do.
import { errorCodes } from "../../protocol/error-codes.ts";
import type { TurnEnding } from "../../protocol/run.ts";
import { costOfEnding } from "../../protocol/usage.ts";
import { programName } from "../../text/program-name.ts";
import { counted, dollars, duration } from "../../view/numbers.ts";
import { join, type Painted, type Palette, wholeLines, wrap } from "../painted.ts";

/** `waitedMs` is the time spent waiting for the user's answers, which counts for neither the model nor the tools. */
type EndingStyle = { changed: number; waitedMs: number; palette: Palette; width: number };

export function endingLines(ending: TurnEnding, { changed, waitedMs, palette, width }: EndingStyle): Painted[] {
  const cost = costOfEnding(ending) ?? 0;
  const facts = [
    duration(Math.max(0, ending.durationMs - waitedMs)),
    waitedMs >= 1000 ? `${duration(waitedMs)} waiting for you` : "",
    changed > 0 ? `${counted(changed, "file")} changed` : "",
    ending.denials && ending.denials.length > 0 ? `${counted(ending.denials.length, "call")} refused` : "",
    cost > 0 ? dollars(cost) : "",
  ].filter(Boolean);
  if (ending.type === "done") return wrap(palette.soft(`Done in ${facts.join(" · ")}`), width);
  if (ending.code === "INTERRUPTED") return wrap(palette.soft(`Interrupted after ${facts.join(" · ")}`), width);
  const [first = "", ...rest] = wholeLines(asSlashCommands(ending.message.trim()));
  if (ending.code !== undefined && Object.hasOwn(errorCodes, ending.code)) facts.push(ending.code);
  return [
    ...wrap(join(palette.bad("✗ "), palette.plain(first)), width, palette.plain("  ")),
    ...rest.flatMap((line) => wrap(palette.plain(`  ${line}`), width, palette.plain("  "))),
    palette.soft(`  Failed after ${facts.join(" · ")}`),
  ];
}

/** Slash commands that replace command-line commands in messages, since the user has no shell at hand. */
const twins: Readonly<Record<string, string>> = { login: "/login, then /model", logout: "/logout", models: "/model" };

function asSlashCommands(message: string): string {
  const shell = new RegExp(`(['"]?)(?:${programName()}|courser) (${Object.keys(twins).join("|")})\\b\\1`, "g");
  return message.replace(shell, (_, _quote, command: string) => twins[command]!);
}
