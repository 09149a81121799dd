// Lines that are continued inside of operators, keywords and names: what bash joins, the parser may read as something else.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "../../src/policy/decide.ts";
import { splitToken } from "../../src/policy/parse/parse-check.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
let place: string;
beforeAll(() => {
  fixture = makeFixture();
  place = mkdtempSync(join(tmpdir(), "courser-split-"));
  mkdirSync(join(place, "bin"));
  writeFileSync(join(place, "bin/zap"), '#!/bin/sh\n: > "${0%/*}/../zapped"\n', { mode: 0o755 });
});
afterAll(() => {
  removeFixture(fixture);
  rmSync(place, { recursive: true, force: true });
});

async function forced(command: string): Promise<string> {
  const situation = situationOf(fixture, { mode: "force", rules: rulesOf({ deny: ["Shell(zap)"] }) });
  return (await decide([{ kind: "Shell", target: command }], situation)).verdict;
}

/** Does bash run what comes behind? */
function reaches(command: string): boolean {
  const env = { PATH: `${join(place, "bin")}:${process.env["PATH"]}` };
  try {
    execFileSync("bash", ["-c", command], { cwd: place, env, stdio: "ignore" });
  } catch {
    // Many of these fail in the end.
  }
  const happened = readdirSync(place).includes("zapped");
  rmSync(join(place, "zapped"), { force: true });
  return happened;
}

describe("lines continued with a backslash", () => {
  it.each([
    ["or", "false |\\\n| zap"],
    ["and, behind a comment that a joined line would swallow", "ls #\\\ntrue &\\\n& zap"],
    ["end of a case", "case x in x) ls;\\\n& y) zap;; esac"],
    ["here-string", "bash <\\\n<< zap"],
    ["process substitution", "cat <\\\n(zap)"],
    ["command substitution", "echo $\\\n(zap)"],
    ["arithmetic", "(\\\n( $(zap) ))"],
    ["array", "x=\\\n($(zap))"],
    ["redirect of both outputs", "ls &\\\n> out; zap"],
    ["keyword", "ls #\\\ni\\\nf true; then zap; fi"],
    ["keyword in the middle", "for x i\\\nn a; do zap; done"],
    ["test", "[\\\n[ -n x ]\\\n] && zap"],
    ["end of a here-document", "cat <<EOF\nEO\\\nF\nzap\nEOF"],
    ["end of a here-document behind another", "cat <<'E'\nx\\\nE\ncat <<EOF\nEO\\\nF\nzap\nE\nEOF"],
    ["variable", "xy=zap; x=l; $x\\\ny"],
    ["variable in braces", "xy=zap; x=l; ${x\\\ny}"],
    ["name of a variable", "x\\\ny=zap; $xy"],
  ])(
    "a command with a line continuation inside an operator, keyword or name never runs unasked: %s",
    async (_, command) => {
      expect(reaches(command), "bash runs it").toBe(true);
      expect(await forced(command)).not.toBe("allow");
    },
  );

  it.each([
    ["between words", "ls \\\n  -l \\\n  src"],
    ["behind an operator", "ls |\\\n  sort &&\\\necho done"],
    ["before a group", "ls &&\\\n(cd src; ls)"],
    ["inside a text", 'git commit -m "first line\\\nsecond; if so"'],
    ["inside a word", "echo lo\\\nng"],
    ["in a here-document", "cat <<EOF\nRUN a && \\\n    b\nEOF"],
    ["behind a comment", "ls # all of it \\\necho next"],
  ])("an ordinary line continuation in a command is parsed: %s", async (_, command) => {
    expect(await forced(command)).toBe("allow");
  });
});

describe("tokens split by a continuation", () => {
  it.each([
    "echo $x\\\ny",
    "echo ${x\\\ny}",
    "x\\\ny=1",
    "x\\\ny+=1",
    "ls |\\\n| ls",
    "ls; i\\\nf ls",
    "cat <<EOF\nEO\\\nF\nEOF",
  ])("the split token %j is found", (source) => {
    expect(splitToken(source)).toEqual(expect.any(String));
  });

  it.each(["ls \\\n  -l", "ls x\\\ny", "ls |\\\n  wc", "ls fi\\\nx", "cat <<EOF\nE\\\nO\nEOF", "ls\nfi"])(
    "the line %j contains no split token",
    (source) => {
      expect(splitToken(source)).toBeUndefined();
    },
  );
});
