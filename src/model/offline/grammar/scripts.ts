// Commands: the project's own scripts, and questions that a command answers.

import { isReadingCommand } from "../commands.ts";
import { shellWord } from "../moving.ts";
import { literalOf } from "../quotes.ts";
import { run } from "../running.ts";
import type { ParsedSteps, PromptContext } from "../steps.ts";
import type { Row } from "./rows.ts";

const script = (name: string): ParsedSteps => [{ do: "script", name }];

/** "what does `ls` print?": asked about, so only what reads is run. */
function looked(command: string, scene: PromptContext): ParsedSteps {
  const text = literalOf(scene.masked, command)?.text ?? command;
  return isReadingCommand(text) ? run(command, scene, "run") : undefined;
}

/** "the output of ls -la" */
function outputOf(command: string, scene: PromptContext): ParsedSteps {
  const literal = literalOf(scene.masked, command);
  return literal?.kind === "code" || isReadingCommand(literal?.text ?? command)
    ? run(command, scene, "run")
    : undefined;
}

function entered(scene: PromptContext, folder: string): ParsedSteps {
  scene.directory = folder;
  return [];
}

const commandRows: Row[] = [
  [
    `where am i
    which|what directory|folder am_i|are_we in
    what|what's|what_is|which_is [is] [the|my] [path_of_the] current|working|current_working directory|folder|dir [path|name]
    print|show|show_me|tell_me [the|my] [path_of_the] working|current_working directory|folder|dir [path|name]`,
    () => [{ do: "run", command: "pwd" }],
  ],
  [
    "what|what's|what_is [is] [the] [current] date|time|day [and_time] [is_it|is_today|today|now|right_now]*",
    () => [{ do: "run", command: "date" }],
  ],
  [
    `what does|would|will [<running>]* REST
    what happens|comes_out|do_you_get|do_i_get|do_we_get if|when you|i|we run|execute [the_command] REST`,
    ({ rest }, scene) =>
      looked(rest.replace(/\s+(?:print|output|return|show|say|give|produce|do)(?:\s+(?:here|now|out))?$/i, ""), scene),
  ],
  ["[<show>] [the] output|result|results of|from|for [<running>]* REST", ({ rest }, scene) => outputOf(rest, scene)],
  [
    "<write> the output|result|results of|from [<running>]* ANCHOR to|into|in|as FILE",
    ({ anchor, file }, scene) => {
      const shown = outputOf(anchor, scene);
      return shown && [...shown, { do: "write", path: file, content: { previous: true } }];
    },
  ],
  ["cd|change_into|go_into|enter FOLDER", ({ folder }, scene) => entered(scene, folder)],
];

export const scriptRows: Row[] = [
  ...commandRows,
  [
    `<run> [all] [the|my|our] [unit|project's|automated] tests|test|test_suite
    do|does the|my|our tests|test pass|work|succeed|run
    are all [the|my|our] tests passing|green|ok|okay
    are the|my|our tests passing|green|ok|okay`,
    () => script("test"),
  ],
  [
    `build it|everything
    <run> the|my|our build
    build the|this|my|our project|app|code|package`,
    () => script("build"),
  ],
  ["<run> the|my|our lint|linter", () => script("lint")],
  ["<run> the|my|our [npm] WORD script|task", ({ word }) => script(word)],
  ["<run> the npm script [<called>] KEY", ({ key }) => script(key)],
  [
    "use node|python3|python|bash to run|execute FILE",
    ({ file }, _, words) => [
      { do: "run", command: `${/^use (\w+)/i.exec(words)![1]!.toLowerCase()} ${shellWord(file)}` },
    ],
  ],
];
