// `/tasks`: lists background commands with the newest line of each, and shows the output on demand.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { oneLine } from "../../text/one-line.ts";
import type { Desk } from "../desk.ts";
import { wholeLines, wrap } from "../painted.ts";
import type { SlashCommand } from "./command.ts";

export const tasksCommand: SlashCommand = {
  name: "tasks",
  aliases: ["bashes"],
  help: "Commands in the background and what they print",
  isBeside: true,
  run: showTasks,
};

const maxBytes = 65_536;

async function showTasks(desk: Desk): Promise<void> {
  const tasks = (await desk.conversation.run?.backgroundCommands?.()) ?? [];
  if (tasks.length === 0) return desk.say("No command runs in the background. Ctrl+B twice moves one there.");
  const chosen = await desk.choose({
    title: "In the background",
    items: tasks.map((task) => ({
      value: task,
      label: oneLine(task.command, 60),
      detail: wholeLines(endOfFile(task.outputFile)).at(-1) ?? "",
      note: task.status === "exited" ? `exit ${task.exitCode ?? "by a signal"}` : task.status,
    })),
    enter: "shows its output",
  });
  if (!chosen) return;
  const lines = wholeLines(endOfFile(chosen.outputFile));
  await desk.page(chosen.command, (columns) => lines.flatMap((line) => wrap(desk.palette.withColours(line), columns)));
}

function endOfFile(file: string): string {
  let handle: number | undefined;
  try {
    handle = openSync(file, "r");
    const { size } = fstatSync(handle);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    readSync(handle, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8");
  } catch {
    return ""; // the task has printed nothing yet
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
