// Lists the built-in tools in the order in which the model sees them, and finds the tool of a call.
import { askQuestion } from "./ask-question.ts";
import { awaitShell } from "./await.ts";
import { createPlan } from "./create-plan.ts";
import { deleteTool } from "./delete.ts";
import { edit } from "./edit.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { ls } from "./ls.ts";
import { read } from "./read.ts";
import { semSearch } from "./sem-search.ts";
import { shell } from "./shell.ts";
import { task } from "./task.ts";
import { todoWrite } from "./todos.ts";
import type { Tool } from "./tool.ts";
import { webFetch } from "./web-fetch.ts";
import { webSearch } from "./web-search.ts";
import { write } from "./write.ts";

export const builtInTools: readonly Tool[] = [
  ls,
  read,
  write,
  edit,
  deleteTool,
  glob,
  grep,
  semSearch,
  shell,
  awaitShell,
  todoWrite,
  webFetch,
  webSearch,
  task,
  askQuestion,
  createPlan,
];

/** Finds a tool by exact name, then ignoring case by name, wire name and alias, in this order. */
export function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  const wanted = name.toLowerCase();
  return (
    tools.find((tool) => tool.name === name) ??
    tools.find((tool) => tool.name.toLowerCase() === wanted) ??
    tools.find((tool) => !tool.mcp && tool.wire.toLowerCase() === wanted) ??
    tools.find((tool) => tool.aliases?.some((alias) => alias.toLowerCase() === wanted))
  );
}
