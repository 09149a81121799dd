// The project's own scripts: tests, build, and what else it can run.
import { shellWord } from "../moving.ts";
import type { Pattern } from "../patterns.ts";

const RUN = "run|execute|start|launch|do|kick_off|fire_up|rerun|re-run|trigger";

export const scriptRows: Pattern[] = [
  [
    `${RUN} [all] [the|my|our] [unit|project's|automated] tests|test|test_suite`,
    () => [{ do: "script", name: "test" }],
  ],
  [`${RUN} the|my|our [npm] WORD script|task`, ({ word }) => [{ do: "script", name: word }]],
  [`${RUN} the npm script [called|named] KEY`, ({ key }) => [{ do: "script", name: key }]],
  ["build it|everything", () => [{ do: "script", name: "build" }]],
  [
    "use node|python3|python|bash to run|execute FILE",
    ({ file }, _scene, words) => [
      { do: "run", command: `${/^use (\w+)/i.exec(words)![1]!.toLowerCase()} ${shellWord(file)}` },
    ],
  ],
  [`${RUN} the|my|our build`, () => [{ do: "script", name: "build" }]],
  ["do|does the|my|our tests|test pass|work|succeed|run", () => [{ do: "script", name: "test" }]],
  ["are all [the|my|our] tests passing|green|ok|okay", () => [{ do: "script", name: "test" }]],
  ["are the|my|our tests passing|green|ok|okay", () => [{ do: "script", name: "test" }]],
  ["build the|this|my|our project|app|code|package", () => [{ do: "script", name: "build" }]],
  [`${RUN} the|my|our lint|linter`, () => [{ do: "script", name: "lint" }]],
];
