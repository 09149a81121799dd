// An option that executes is allowed where the rule names it, as a word of its own; a wider rule does not cover it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "../../src/policy/decide.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

const rows: [pattern: string, command: string, verdict: string][] = [
  ["fd:--exec *", "fd --exec ls", "allow"],
  ["fd:*", "fd --exec ls", "ask"],
  ["fd:* --exec-batch", "fd --exec ls --exec-batch", "ask"],
  // By the whole name of an option that is given short, and by the option as it is given.
  ["git push --receive-pack=*", "git push --receive-pack=x", "allow"],
  ["git:push *--receive-pack*", "git push --receive=x --receive-pack", "allow"],
  ["git push --receive=x", "git push --receive=x", "allow"],
  ["tar:-xIgzip *", "tar -xIgzip -f a", "allow"],
  ["tar:* -I *", "tar -x -I gzip -f a", "allow"],
  ["tar:*", "tar -x -I gzip -f a", "ask"],
  ["npm:--script-shell=*", "npm --script-shell=x test", "allow"],
  // Each dangerous option must be named.
  ["npm:* --editor=*", "npm --script-shell=x --editor=y", "ask"],
  ["npm:--script-shell=* --editor=*", "npm --script-shell=x --editor=y", "allow"],
  // Part of another word is not a name.
  ["npm:*x--script-shell=*", "npm --script-shell=x x--script-shell=y", "ask"],
  ["npm:*--script-shells=*", "npm --script-shell=x --script-shells=y", "ask"],
  ["npm:*x--script-shell=* --script-shell=*", "npm x--script-shell=x --script-shell=y", "allow"],
  ["perl -e", "perl -e 1", "allow"],
  ["perl:* -e", "perl -E 1 -e", "ask"],
  ["npm config set", "npm config set a b", "allow"],
  ["npm config", "npm config set a b", "ask"],
  ["git:* config *", "git -C src config a.b c", "ask"],
  ["crontab", "crontab ''", "ask"],
  ["npx -p x", "npx -p x ls", "allow"],
  ["npx:--package=* ls", "npx --package=x ls", "allow"],
  ["xargs:-a * ls", "xargs -a x ls", "allow"],
];

describe("options named by rules", () => {
  let fixture: Fixture;
  beforeAll(() => {
    fixture = makeFixture();
  });
  afterAll(() => removeFixture(fixture));

  it.each(rows)("the rule Shell(%s) decides about the command %s: %s", async (pattern, command, verdict) => {
    const rules = rulesOf({ allow: [`Shell(${pattern})`, "Shell(ls)"] });
    const decided = await decide([{ kind: "Shell", target: command }], situationOf(fixture, { rules }));
    expect(decided.verdict).toBe(verdict);
  });
});
