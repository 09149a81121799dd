// Commands under --force: each line of under-force/*.txt is one, with the answer that it gets.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { decide } from "../../src/policy/decide.ts";
import { builtInRules } from "../../src/store/settings.ts";
import { makeRepository, removeFixture, rulesOf, situationOf } from "./fixture.ts";

/** `!`: denied. `-`: not allowed. `+`: allowed. */
const fits: Record<string, (verdict: string) => boolean> = {
  "!": (verdict) => verdict === "deny",
  "-": (verdict) => verdict !== "allow",
  "+": (verdict) => verdict === "allow",
};

/** The kernel's clock for files goes in steps. */
const clockStepMs = 20;

/**
 * Lines are `! command`, `- command`, `+ command`; before them `= file :: text` is there when the run begins, `^ file :: text`
 * is written by it, `~ link :: target` is a link, and `@ rule || rule` says which deny rules hold from there on.
 */
export async function wrongLines(file: string): Promise<{ wrong: string[]; count: number }> {
  const fixture = makeRepository();
  try {
    const lines = readFileSync(join(import.meta.dirname, "under-force", `${file}.txt`), "utf8").split("\n");
    const place = (path: string) => {
      const whole = join(path.startsWith("~/") ? fixture.home : fixture.workspace, path.replace(/^~\//, ""));
      mkdirSync(dirname(whole), { recursive: true });
      return whole;
    };
    const parts = (line: string) => line.slice(2).split(" :: ") as [string, string];
    for (const line of lines.filter((each) => each.startsWith("= "))) {
      const [path, text] = parts(line);
      writeFileSync(place(path), unescaped(text), { mode: 0o755 });
    }
    for (const [path, target] of lines.filter((each) => each.startsWith("~ ")).map(parts))
      symlinkSync(target, place(path));
    await setTimeout(clockStepMs);
    const startedAt = Date.now();
    await setTimeout(clockStepMs);
    let deny: string[] = [];
    let count = 0;
    const wrong: string[] = [];
    for (const line of lines) {
      const test = fits[line[0] ?? ""];
      if (line.startsWith("@")) deny = line.slice(2).split(" || ").filter(Boolean);
      if (line.startsWith("^ ")) writeFileSync(place(parts(line)[0]), unescaped(parts(line)[1]), { mode: 0o755 });
      if (!test || line[1] !== " ") continue;
      count++;
      const target = unescaped(line.slice(2)).replaceAll("{WS}", fixture.workspace).replaceAll("{HOME}", fixture.home);
      const rules = [...rulesOf({ deny }), ...builtInRules(join(fixture.home, ".cursor"))];
      const situation = situationOf(fixture, { mode: "force", interactive: false, rules, startedAt });
      const { verdict, reasons } = await decide([{ kind: "Shell", target }], situation);
      if (!test(verdict)) wrong.push(`[${deny.join(", ")}] ${verdict}: ${target}  (${reasons[0]})`);
    }
    return { wrong, count };
  } finally {
    removeFixture(fixture);
  }
}

function unescaped(text: string): string {
  return text.replace(/\\(n|t|0(?!\d))/g, (_, letter: string) => ({ n: "\n", t: "\t", 0: "\0" })[letter]!);
}
