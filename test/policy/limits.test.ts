import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "../../src/policy/decide.ts";
import { parseShell } from "../../src/policy/parse/shell.ts";
import { type Fixture, makeFixture, removeFixture, situationOf } from "./fixture.ts";

const nested = (depth: number) => `${"$(".repeat(depth)}a${")".repeat(depth)}`;
const unfinished = "case a in a) ;; a) ;; a) ;; esac; ";

describe("limits before parsing", () => {
  it.each<[string, number, (count: number) => string]>([
    ["characters", 128 * 1024, (count) => `ls ${"x".repeat(count - 3)}`],
    ["substitutions", 300, (count) => `ls ${"$(a) ".repeat(count)}`],
    ["process substitutions for reading", 300, (count) => `ls ${"<(a) ".repeat(count)}`],
    ["process substitutions for writing", 300, (count) => `ls ${">(a) ".repeat(count)}`],
    ["old arithmetic", 300, (count) => `ls ${"$[1] ".repeat(count)}`],
    ["backticks", 300, (count) => `ls ${"`a` ".repeat(Math.floor(count / 2))}${count % 2 ? "`a" : ""}`],
    ["here-documents", 300, (count) => `cat ${"<<E ".repeat(count)}\n${"E\n".repeat(count)}`],
    ["levels", 150, (count) => `ls ${nested(count)}`],
    [
      "levels around others",
      150,
      (count) => `ls ${"$(".repeat(99)}${"$(a) ".repeat(9)}${nested(count - 99)}${")".repeat(99)}`,
    ],
    ["levels behind others", 150, (count) => `ls $(a) <(a) >(a) ${nested(count)}`],
    ["levels behind brackets that close nothing", 150, (count) => `${unfinished}ls ${nested(count)}`],
    ["braces at the start", 300, (count) => "{".repeat(count)],
    ["braces in a word", 300, (count) => `ls {a } {b\t{c\n${"{".repeat(count)}`],
    ["words", 3000, (count) => `ls${" a".repeat(count)}`],
    ["words behind tabs", 3000, (count) => `ls${"\ta".repeat(count)}`],
    ["commands", 500, (count) => "a;".repeat(count)],
    ["commands on lines", 500, (count) => "a\n".repeat(count)],
    ["commands in the background", 500, (count) => "a&".repeat(count)],
    ["commands in pipes", 500, (count) => `a${"|a".repeat(count)}`],
  ])("a shell line is checked against a limit before it is parsed: %s", (what, most, make) => {
    const { errors } = parseShell(make(most));
    // A line of 500 separators holds a command more.
    if (what !== "commands in pipes") expect(errors.join()).not.toMatch(/more than|longer than|too long/);
    expect(parseShell(make(most + 1))).toMatchObject({
      errors: [expect.stringMatching(/more than|longer than/)],
      commands: [],
    });
  });

  it("limits on shell lines are counted per word, outside quotes", () => {
    expect(parseShell(`ls ${"'a' \"b\" \\c ".repeat(400)}`).errors).toEqual([]);
    expect(parseShell(`ls ${"{a,b} ".repeat(400)}`).errors).toEqual([]);
    expect(parseShell(`ls ${"$(a)".repeat(299)}`).errors).toEqual([]);
    expect(parseShell(`ls '${"a ".repeat(4000)}' "${'a; \\" '.repeat(4000)}" \\'a`).errors).toEqual([]);
  });
});

describe("limits of parsing", () => {
  it.each<[string, number, (count: number) => string]>([
    ["words behind a here-document", 3000, (count) => `cat <<E${" a".repeat(count)}\nE`],
    ["redirects", 3000, (count) => `ls${">a".repeat(count)}`],
    ["commands in quotes", 500, (count) => `ls "$(${"a;".repeat(count - 1)})"`],
    ["characters of arithmetic", 4000, (count) => `ls $((${"1".repeat(count - 5)}))`],
    ["characters of arithmetic far behind", 4000, (count) => `ls ${"a".repeat(9000)} $((${"1".repeat(count - 5)}))`],
  ])("a shell line is checked against a limit while it is parsed: %s", (_, most, make) => {
    expect(parseShell(make(most)).errors).toEqual([]);
    expect(parseShell(make(most + 1)).errors).toHaveLength(1);
  });

  it("the number of parts of a shell word is limited", () => {
    expect(parseShell(`ls "${"$a".repeat(10_000)}"`).errors).toEqual([]);
    expect(parseShell(`ls "${"$a".repeat(14_000)}"`).errors).toHaveLength(1);
  });

  it("the number of pipe members whose input is followed is limited", () => {
    const last = (count: number) => parseShell(`a${"|a".repeat(count - 1)}`).commands.at(-1)!;
    expect(last(50).upstream!()).toHaveLength(49);
    expect(last(51).upstream).toBeUndefined();
    expect(last(51).piped).toBe(true);
  });
});

describe("commands beyond the limits", () => {
  let fixture: Fixture;
  beforeAll(() => {
    fixture = makeFixture();
  });
  afterAll(() => removeFixture(fixture));

  const aliases = (count: number) => "git -c alias.a='!ls' a; ".repeat(count);
  it.each([
    ["commands", `${"true;".repeat(700)}touch .envrc`],
    ["words", `true ${"a ".repeat(4000)}; touch .envrc`],
    ["substitutions", `echo ${"$(ls) ".repeat(400)}; touch .envrc`],
    ["arithmetic", `echo $((1${"+1".repeat(3000)}+$(touch .envrc; echo 1)))`],
    ["commands in options", `${aliases(70)}git -c alias.x='!touch .envrc' x`],
    ["unknown options", `env --what ${"a ".repeat(80)}touch .envrc`],
    ["wrappers", `${"env ".repeat(20)}touch .envrc`],
    ["a name that holds a blank of another alphabet", `bash -c 'ls\u00a0;git -c alias.x="!touch .envrc" x'`],
  ])(
    "a command that exceeds the limits of the analysis does not run unasked, even with --force: %s",
    async (_, command) => {
      const situation = situationOf(fixture, { mode: "force" });
      expect((await decide([{ kind: "Shell", target: command }], situation)).verdict).toBe("ask");
    },
  );

  it("shell lines of ordinary length do not exceed the parser's limits", async () => {
    const situation = situationOf(fixture, { mode: "force" });
    const command = `${aliases(20)}${"true;".repeat(300)}env ${"A=1 ".repeat(30)}ls`;
    expect((await decide([{ kind: "Shell", target: command }], situation)).verdict).toBe("allow");
  });
});
