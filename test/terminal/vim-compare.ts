// Compares the vim engine with the real one on random texts and keys: node scripts/run-ts.mjs test/terminal/vim-compare.ts
//   [--rounds N] [--seed N]. Needs vim with +eval. Run by hand: it is not installed everywhere.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lineStart } from "../../src/terminal/editor/moves.ts";
import { random as randomFrom } from "../protocol/random.ts";
import { typeVim, vimOn } from "./vim-kit.ts";

type Case = { text: string; line: number; column: number; keys: string };
type End = { text: string; line: number; column: number };

export function main(argv: readonly string[]): number {
  const option = (name: string, otherwise: number) => Number(argv[argv.indexOf(name) + 1] || otherwise);
  const rounds = argv.includes("--rounds") ? option("--rounds", 3000) : 3000;
  const seed = argv.includes("--seed") ? option("--seed", 1) : 1;
  const only = argv.includes("--keys") ? argv[argv.indexOf("--keys") + 1]! : "";
  const cases = randomCases(rounds, seed).filter(({ keys }) => keys.includes(only));
  const expected = inVim(cases);
  let wrong = 0;
  for (const [index, each] of cases.entries()) {
    const got = inOurs(each);
    const want = expected[index]!;
    if (JSON.stringify(got) === JSON.stringify(want)) continue;
    if (++wrong <= 15)
      console.log(`${JSON.stringify(each)}\n  vim  ${JSON.stringify(want)}\n  ours ${JSON.stringify(got)}`);
  }
  console.log(`${cases.length - wrong} of ${cases.length} as vim does (seed ${seed})`);
  return wrong === 0 ? 0 : 1;
}

export function inOurs({ text, line, column, keys }: Case): End {
  const start =
    text
      .split("\n")
      .slice(0, line - 1)
      .join("\n").length + (line > 1 ? 1 : 0);
  const { buffer } = typeVim(
    { ...vimOn(text, start + column - 1), vim: typeVim(vimOn("qqqq", 0), "fqrq").vim },
    `${keys}\x1b\x1b`,
  );
  const { cursor } = buffer;
  const before = buffer.text.slice(0, cursor);
  return { text: buffer.text, line: before.split("\n").length, column: cursor - lineStart(buffer.text, cursor) + 1 };
}

export function inVim(cases: readonly Case[]): End[] {
  const folder = mkdtempSync(join(tmpdir(), "vim-compare-"));
  try {
    writeFileSync(
      join(folder, "cases.json"),
      JSON.stringify(
        cases.map((each) => ({ ...each, keys: each.keys.replaceAll("\x7f", "\b"), lines: each.text.split("\n") })),
      ),
    );
    writeFileSync(
      join(folder, "run.vim"),
      `set sw=2 et nojs ul=1000 belloff=all
let out = []
for c in json_decode(join(readfile('${folder}/cases.json'), ''))
  enew!
  set ul=-1
  call setline(1, 'qqqq')
  normal! gg0v\x1bfqrq
  call setline(1, c.lines)
  set ul=1000
  call setreg('"', '', 'c')
  call cursor(c.line, c.column)
  silent! call feedkeys(c.keys . "\\<Esc>\\<Esc>", 'xt')
  call add(out, {'text': join(getline(1, '$'), "\\n"), 'line': line('.'), 'column': col('.')})
endfor
call writefile([json_encode(out)], '${folder}/out.json')
qa!
`,
    );
    spawnSync("vim", ["-u", "NONE", "-i", "NONE", "-N", "-n", "-es", "-S", join(folder, "run.vim")], {
      timeout: 300_000,
    });
    return (JSON.parse(readFileSync(join(folder, "out.json"), "utf8")) as End[]).map(({ text, line, column }) => ({
      text,
      line,
      column,
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const words = ["foo", "bar_1", "a.b", "x", "(", ")", "(p q)", '"q r"', "[1, 2]", "{ y }", "--", "Zed,", "  ", "e;f"];
const motions = [..."hjklwbeWBE0^${}%;,G_+-", "gg", "ge", "gE", "g_", "fo", "Fo", "t ", "T.", "f(", "tq"];
const objects = ["iw", "aw", "iW", "aW", 'i"', 'a"', "i(", "a(", "i[", "a[", "i{", "a{", "ip", "ap"];
const operators = ["d", "c", "y", ">", "<"];
const simple = [
  "x",
  "X",
  "D",
  "C",
  "s",
  "S",
  "Y",
  "p",
  "P",
  "J",
  "~",
  "u",
  "\x12",
  ".",
  "rz",
  "i",
  "I",
  "a",
  "A",
  "o",
  "O",
  "R",
];

function randomCases(rounds: number, seed: number): Case[] {
  const { below, pick } = randomFrom(seed);
  const count = () => (below(4) === 0 ? String(1 + below(4)) : "");
  // Harmless as commands: what they follow may have failed.
  const typed = () => pick(["", "web", "w", "e b"]);
  const line = () =>
    below(5) === 0
      ? ""
      : `${pick(["", "", "  "])}${Array.from({ length: 1 + below(5) }, () => pick(words)).join(pick([" ", " ", ""]))}`;
  const command = (): string => {
    switch (below(7)) {
      case 0:
      case 1:
        return count() + pick(motions);
      case 2: {
        const operator = pick(operators);
        const isObject = below(4) === 0;
        const target = isObject ? pick(objects) : below(4) === 0 ? operator : count() + pick(motions);
        return `${isObject ? "" : count()}${operator}${target}${operator === "c" ? `${typed()}\x1b` : ""}`;
      }
      case 3:
        return `${pick(["v", "V"])}${count()}${pick(motions)}${pick(["d", "y", ">", "<", "x", "J", "~", "rz", "cweb\x1b", "oy", "p", "u", "U"])}\x1b`;
      case 4:
        return pick(["p", "P", "u", "\x12", ".", "J", "2p"]);
      default: {
        const key = pick(simple);
        const inserts = "CsSiIaAoOR".includes(key);
        return `${"JS".includes(key) ? "" : count()}${key}${inserts ? `${"iIaAoO".includes(key) && below(3) === 0 ? "we\x7fb" : typed()}\x1b` : ""}`;
      }
    }
  };
  return Array.from({ length: rounds }, () => {
    // Of one line, `{` of this version goes to its end; later ones do not.
    const lines = Array.from({ length: 2 + below(4) }, line);
    const at = below(lines.length);
    return {
      text: lines.join("\n"),
      line: at + 1,
      column: 1 + below(Math.max(1, lines[at]!.length)),
      keys: Array.from({ length: 1 + below(3) }, command).join(""),
    };
  });
}
