// Calls in the shapes of older versions.
import { expect, test } from "vitest";
import { describeCommand } from "../../src/policy/parse/shell.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { inProfile } from "../../src/protocol/profile-shapes.ts";
import { profileNames, profileOf } from "../../src/protocol/profiles.ts";

const command = `run plain 'raw' "quoted" $'ansi' 12 $NAME \${NAME} $(date) a"b" > out.txt`;
const start = {
  type: "tool_start",
  callId: "1",
  tool: "shell",
  args: { command, ...describeCommand(command) },
  modelCallId: "m",
  startedAt: 1,
  at: 1,
} as AgentEvent;

const wordTypes = (event: AgentEvent | undefined) =>
  (event as any).args.parsingResult.executableCommands.flatMap(({ args }: any) => args.map(({ type }: any) => type));

test.each(profileNames)("the words of a command are word, string or number in the profile %s", (name) => {
  expect(wordTypes(inProfile(start, profileOf(name)))).toEqual(
    "word string string string number word word word word".split(" "),
  );
});

test("today's version names words as a syntax tree does", () => {
  expect(wordTypes(inProfile(start, profileOf(undefined)))).toEqual(
    "word raw_string string ansi_c_string number simple_expansion expansion command_substitution concatenation".split(
      " ",
    ),
  );
});
