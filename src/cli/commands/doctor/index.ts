// `doctor`: checks that everything a run needs is present. Each finding says what to type next. Exits 0 iff a run can start.
import { visible } from "../../../text/visible.ts";
import type { Invocation } from "../../main.ts";
import { withoutSecrets } from "../../stdout.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { type Check, checks } from "./checks.ts";
import { contextOf } from "./context.ts";

/** `problem` means that no run can start, or not as configured. `next` is what to type. */
export type Finding = { level: "ok" | "warning" | "problem"; message: string; next?: string };

const signs = { ok: "✓", warning: "!", problem: "✗" };

export function doctor(invocation: Invocation): Promise<number> {
  return printFindings(invocation, checks, { isJson: wantsJson(invocation) });
}

/** Prints the doctor's findings. `details` are additional fields of the JSON output. */
export async function printFindings(
  invocation: Invocation,
  checks: Readonly<Record<string, Check>>,
  { isJson, details = {} }: { isJson: boolean; details?: object },
): Promise<number> {
  const context = contextOf(invocation);
  const found: (Finding & { area: string })[] = [];
  for (const [area, check] of Object.entries(checks)) {
    try {
      for (const finding of await check(context)) found.push({ area, ...finding });
    } catch (error) {
      found.push({ area, level: "problem", message: (error as Error).message });
    }
  }
  const usable = !found.some(({ level }) => level === "problem");
  const exitCode = isJson
    ? await answerJson(JSON.parse(withoutSecrets(JSON.stringify({ usable, ...details, findings: found }))) as object)
    : await answer(withoutSecrets(visible(report(found, usable))));
  return exitCode || (usable ? 0 : 1);
}

function report(found: readonly (Finding & { area: string })[], usable: boolean): string {
  const width = Math.max(...found.map(({ area }) => area.length));
  const lines = found.flatMap(({ area, level, message, next }, index) => {
    const name = found[index - 1]?.area === area ? "" : area;
    const [first = "", ...rest] = message.split("\n");
    const indent = " ".repeat(width + 4);
    return [
      `${signs[level]} ${name.padEnd(width)}  ${first}`,
      ...rest.filter((line) => line.trim() !== "").map((line) => `${indent}${line.trim()}`),
      ...(next === undefined ? [] : [`${indent}→ ${next}`]),
    ];
  });
  const counted = (wanted: Finding["level"]) => {
    const count = found.filter(({ level }) => level === wanted).length;
    return count === 0 ? undefined : `${count} ${wanted}${count === 1 ? "" : "s"}: see ${signs[wanted]} above.`;
  };
  const warnings = counted("warning");
  const end = usable ? `Ready${warnings ? `, with ${warnings}` : "."}` : counted("problem");
  return `${lines.join("\n")}\n\n${end}\n`;
}
