// How long a decision takes: everyday commands, and lines that were written to make it long.
import { performance } from "node:perf_hooks";
import { decide, type Situation } from "../src/policy/decide.ts";
import { everydayCommands, everydayRules } from "../test/policy/everyday.ts";
import { makeFixture, removeFixture, rulesOf, situationOf } from "../test/policy/fixture.ts";
import { median } from "./measure.ts";

export type PolicyTimes = {
  /** Median over the everyday commands. */
  everydayMs: number;
  /** The slowest of the hostile lines, and which it is. */
  hostileMs: number;
  slowest: string;
  byShape: Record<string, number>;
};

const size = 60_000;
const filled = (piece: string, end = "") => piece.repeat(Math.floor(size / piece.length)) + end;

/** Each of about 60 kB, and each the worst that one part of the way could meet. */
export const hostileLines: Record<string, string> = {
  words: `ls ${filled("a ")}`,
  statements: filled("ls;"),
  pipes: `${filled("ls|")}ls`,
  substitutions: `echo ${filled("$(ls) ")}`,
  "open substitutions": `echo ${filled("$(")}`,
  nested: `${"echo $(".repeat(900)}ls${")".repeat(900)}`,
  "nested quotes": `${'echo "$('.repeat(900)}ls${')"'.repeat(900)}`,
  backticks: `echo ${filled("`ls` ")}`,
  arithmetic: `echo $((1${filled("+1")}))`,
  "here-document": `cat <<E\n${filled("$(ls) $x ${y:-z}\n")}E`,
  "here-documents": `${filled("cat <<E\nE\n")}`,
  braces: `echo ${filled("{a,b}")}`,
  "braces apart": `echo ${filled("{a,b}c ")}`,
  subshells: `${"(".repeat(2000)}ls${")".repeat(2000)}`,
  groups: `${"{ ".repeat(2000)}ls;${" }".repeat(2000)}`,
  wrappers: `${filled("env ")}ls`,
  "unknown options": `${"env --what ".repeat(5000)}ls`,
  shells: `sh -c '${filled("ls; ")}'`,
  "xargs chain": filled("ls | xargs "),
  redirects: `ls ${filled("> a ")}`,
  "different redirects": `ls ${Array.from({ length: 8000 }, (_, index) => `>f${index}`).join(" ")}`,
  "different files": `touch ${Array.from({ length: 8000 }, (_, index) => `f${index}`).join(" ")}`,
  directories: filled("cd a; "),
  variables: filled("x=$x$x; "),
  loops: `${Array.from({ length: 12 }, (_, index) => `for v${index} in ${`$v${index + 1} `.repeat(400)}; do `).join("")}touch $v0${"; done".repeat(12)}`,
  "deep names": `touch ${filled("a/")}`,
  stars: `cat ${filled("*")}`,
  globs: `cat ${filled("a*b?[c] ")}`,
  quotes: `echo ${filled("'a'\"b\"")}`,
  unicode: `echo ${filled("ä\u200b ")}`,
  awk: `awk '${filled("/a/{print $1}\n")}'`,
  sed: `sed '${filled("s/a/b/;")}'`,
  "find -exec": `find . ${filled("-exec ls {} ; ")}`,
  // Just inside of the limits, where all of the work is done.
  "long words": `ls ${"abcdefghijklmnopqrs ".repeat(2900)}`,
  "long statements": `ls ${"a".repeat(110)}; `.repeat(490),
  "long substitutions": `echo ${`$(ls ${"a".repeat(190)}) `.repeat(290)}`,
  "long here-document": `cat <<E\n${`$(ls ${"a".repeat(190)}) text\n`.repeat(290)}E`,
  "quoted here-document": `cat > f <<'E'\n${filled("$(rm -rf x); `y`\n").slice(0, 20_000)}${filled("text of a file\n").slice(0, 40_000)}\nE`,
  "many files": `touch ${Array.from({ length: 2900 }, (_, index) => `file${index}`).join(" ")}`,
  "an unknown program": `frobnicate ${Array.from({ length: 2900 }, (_, index) => `.gitx/f${index}`).join(" ")}`,
  "blanks in a text": `frobnicate '${" ".repeat(size)}rm'`,
  "a long word": `frobnicate ${"a".repeat(size)}`,
  "digits for sed": `sed ${"0".repeat(size)} a`,
  "slashes before a variable": `touch ${"a/".repeat(size / 2)}$x`,
  code: `python3 -c '${Array.from({ length: 5000 }, (_, index) => `.gitx/${index}`).join(" ")}'`,
  "git options": `git ${filled("-c a=b ")}status`,
};

export async function policyTimes(rounds = 11): Promise<PolicyTimes> {
  const fixture = makeFixture();
  try {
    const everyday = situationOf(fixture, { rules: rulesOf(everydayRules()) });
    const times: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const spent: number[] = [];
      for (const { command } of everydayCommands()) spent.push(await timed(command, everyday));
      // The first round is the compiler's.
      if (round > 0) times.push(median(spent));
    }
    const byShape: Record<string, number> = {};
    for (const [name, line] of Object.entries(hostileLines)) {
      const both = [
        everyday,
        situationOf(fixture, { mode: "force", rules: rulesOf({ deny: ["Shell(rm)", "Shell(git push)"] }) }),
      ];
      const spent: number[] = [];
      for (let round = 0; round < 3; round++) for (const situation of both) spent.push(await timed(line, situation));
      byShape[name] = median(spent);
    }
    const [slowest, hostileMs] = Object.entries(byShape).sort((a, b) => b[1] - a[1])[0]!;
    return { everydayMs: median(times), hostileMs, slowest, byShape };
  } finally {
    removeFixture(fixture);
  }
}

async function timed(target: string, situation: Situation): Promise<number> {
  const started = performance.now();
  await decide([{ kind: "Shell", target }], situation);
  return performance.now() - started;
}

/** By itself: every shape. */
export async function main(): Promise<number> {
  const { everydayMs, byShape } = await policyTimes();
  for (const [name, ms] of Object.entries(byShape).sort((a, b) => b[1] - a[1]))
    console.log(`${ms.toFixed(1).padStart(8)} ms  ${name}`);
  console.log(`${everydayMs.toFixed(3).padStart(8)} ms  everyday, median`);
  return 0;
}
