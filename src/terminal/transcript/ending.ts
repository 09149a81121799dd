// Renders how a turn ended, in one line; a failure with its code, its reason, and what to do.
import { errorCodes } from "../../protocol/error-codes.ts";
import type { TurnEnding } from "../../protocol/run.ts";
import { costOfEnding } from "../../protocol/usage.ts";
import { counted, dollars, duration } from "../../view/numbers.ts";
import { asSlashCommands } from "../notes.ts";
import { join, type Painted, type Palette, wholeLines, wrap } from "../painted.ts";

type EndingStyle = { changed: number; palette: Palette; width: number };

export function endingLines(ending: TurnEnding, { changed, palette, width }: EndingStyle): Painted[] {
  const { waitedMs = 0 } = ending;
  const cost = costOfEnding(ending) ?? 0;
  const parts = [
    duration(Math.max(0, ending.durationMs - waitedMs)),
    waitedMs >= 1000 ? `${duration(waitedMs)} waiting for you` : "",
    changed > 0 ? `${counted(changed, "file")} changed` : "",
    ending.denials && ending.denials.length > 0 ? `${counted(ending.denials.length, "call")} refused` : "",
    cost > 0 ? dollars(cost) : "",
  ].filter(Boolean);
  if (ending.type === "done") return wrap(palette.soft(`Done in ${parts.join(" · ")}`), width);
  if (ending.code === "INTERRUPTED") return wrap(palette.soft(`Interrupted after ${parts.join(" · ")}`), width);
  const [first = "", ...rest] = wholeLines(asSlashCommands(ending.message.trim()));
  if (ending.code !== undefined && Object.hasOwn(errorCodes, ending.code)) parts.push(ending.code);
  return [
    ...wrap(join(palette.bad("✗ "), palette.plain(first)), width, palette.plain("  ")),
    ...rest.flatMap((line) => wrap(palette.plain(`  ${line}`), width, palette.plain("  "))),
    palette.soft(`  Failed after ${parts.join(" · ")}`),
  ];
}
