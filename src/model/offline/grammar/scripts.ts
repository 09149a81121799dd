// The project's own scripts: tests, build, and what else it can run.
import { shellWord } from "../moving.ts";
import type { ParsedSteps } from "../steps.ts";
import type { Row } from "./rows.ts";

const script = (name: string): ParsedSteps => [{ do: "script", name }];

export const scriptRows: Row[] = [
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
