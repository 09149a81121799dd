// Words that mean something on the screen: those that leave it, and commands of the shell that are called otherwise here.
import { afterEach, expect, it } from "vitest";
import { readTyped } from "../../src/terminal/commands/index.ts";
import { createPalette, plainText } from "../../src/terminal/painted.ts";
import { endingLines } from "../../src/terminal/transcript/ending.ts";
import { setProgramName } from "../../src/text/program-name.ts";

afterEach(() => setProgramName("courser"));

it.each(["exit", "quit", " exit ", "/exit", "/quit"])("the line %j typed in the terminal leaves it", (typed) => {
  expect(readTyped(typed, [])).toMatchObject({ type: "command", command: { name: "quit" } });
});

it.each(["exit the loop early", "Exit", "quit smoking", "exit()", "fix\nexit"])(
  "the line %j typed in the terminal is a prompt",
  (typed) => {
    expect(readTyped(typed, []).type).toBe("prompt");
  },
);

it.each([
  ["courser", "To connect a real model: courser login", "To connect a real model: /login"],
  ["agent", "Please run 'agent login'. It said no.", "Please run /login. It said no."],
  ["agent", "No key: export KEY=x, or 'agent login openai'.", "No key: export KEY=x, or /login openai."],
  ["cursor-agent", "List the models with: cursor-agent models", "List the models with: /model"],
  ["courser", "The chat: courser ls --all", "The chat: courser ls --all"],
])("as %s, an error message names slash commands: %s", (name, message, shown) => {
  setProgramName(name);
  const ending = { type: "fail", message, code: "OFFLINE_LIMIT", durationMs: 1 } as never;
  const lines = endingLines(ending, {
    changed: 0,
    palette: createPalette({ depth: 24, dark: true }),
    width: 200,
  });
  expect(plainText(lines[0]!)).toBe(`✗ ${shown}`);
});
