// A question of every kind.
import type { Question } from "../../src/studio/components/index.ts";
import { diffString } from "./sample-calls.ts";

export const questions: Question[] = [
  {
    ...{ id: "q1", hash: "h1", type: "permission", callId: "asked", tool: "shell" },
    args: { command: "npm test -- upload --repeat 50" },
    needs: [{ kind: "Shell", target: "npm test -- upload --repeat 50" }],
    reasons: ["No allow rule covers npm test."],
    rules: ["Shell(npm test)"],
  },
  {
    ...{ id: "q2", hash: "h2", type: "permission", callId: "none", tool: "edit" },
    ...{
      args: { path: "src/upload/store.ts" },
      needs: [],
      reasons: ["No Write rule covers src/upload/store.ts."],
      diff: diffString,
    },
  },
  {
    ...{ id: "q3", hash: "h3", type: "choices", title: "Which database?" },
    questions: [
      {
        id: "a",
        prompt: "Which database?",
        options: [
          { id: "1", label: "SQLite" },
          { id: "2", label: "Postgres" },
        ],
        allowMultiple: false,
      },
    ],
  },
  {
    id: "q4",
    hash: "h4",
    type: "plan",
    name: "Fix the race",
    text: "1. Await the stream\n2. Close it",
    file: "plan.md",
  },
  { id: "q5", hash: "h5", type: "trust", workspace: "/home/ada/src/api" },
  { id: "q6", hash: "h6", type: "server", name: "charts", file: ".cursor/mcp.json", start: "node charts.js" },
  {
    ...{ id: "q7", hash: "h7", type: "hooks" },
    files: [{ file: ".cursor/hooks.json", hooks: [{ event: "stop", command: "./notify.sh" }] }],
  },
];
