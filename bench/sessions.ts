// Thousands of chats: what it takes to list them, to search them, and to read them all for the first search.
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createChat } from "../src/store/chats/open-chat.ts";
import { randomUuid } from "../src/store/chats/random-uuid.ts";
import { median, type Program, runOnce } from "./measure.ts";

export type SessionTimes = { chats: number; listMs: number; searchMs: number; firstSearchMs: number; createMs: number };

/** Wall time of whole commands, from their start to their end. */
export async function sessionTimes(folder: string, rounds: number, chats = 5000): Promise<SessionTimes> {
  const home = join(folder, "home");
  const workspace = join(folder, "work");
  mkdirSync(workspace, { recursive: true });
  makeChats(join(home, ".cursor"), chats);
  const cli = resolve(import.meta.dirname, "../dist/courser.cjs");
  const command = (...args: string[]): Program => ({
    command: process.execPath,
    args: [cli, ...args],
    cwd: workspace,
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
  });
  const time = async (program: Program) => {
    const { wallMs, exit, stderr } = await runOnce(program);
    if (exit !== 0) throw new Error(`${program.args.join(" ")} ended with ${exit}: ${stderr.slice(0, 500)}`);
    return wallMs;
  };
  const search = command("ls", "--format", "json", "--search", "connection refused");
  const firstSearchMs = await time(search);
  const times: Record<"list" | "search" | "create", number[]> = { list: [], search: [], create: [] };
  for (let round = 0; round < rounds; round++) {
    times.list.push(await time(command("ls", "--all", "--format", "json")));
    times.search.push(await time(search));
    times.create.push(await time(command("create-chat")));
  }
  return {
    chats,
    firstSearchMs,
    listMs: median(times.list),
    searchMs: median(times.search),
    createMs: median(times.create),
  };
}

const projects = 50;
const turns = 6;

/** One chat in each project is written, the others are copies of it: only their ids differ. */
function makeChats(configDir: string, count: number): void {
  for (let project = 0; project < projects; project++) {
    const place = { configDir, workspace: `/projects/project-${project}` };
    const chat = createChat(place, { id: randomUuid(), mode: "default", model: "Bench" });
    for (let turn = 0; turn < turns; turn++) {
      const id = `call-${turn}`;
      chat.record({ type: "user", text: words(20) });
      chat.append(
        { role: "user", parts: [{ type: "text", text: words(20) }] },
        { role: "assistant", parts: [{ type: "tool_call", id, name: "Shell", args: { command: words(4) } }] },
        { role: "user", parts: [{ type: "tool_result", id, text: words(200), isError: false }] },
        { role: "assistant", parts: [{ type: "text", text: words(150) }] },
      );
      if (project === 7 && turn === 3)
        chat.append({ role: "user", parts: [{ type: "text", text: "why was the connection refused?" }] });
      chat.record({ type: "done", text: "", durationMs: 1, apiDurationMs: 1 });
    }
    chat.close();
    const { folder } = chat.metadata;
    for (let copy = 1; copy < count / projects; copy++) {
      const other = join(dirname(folder), randomUuid());
      mkdirSync(other);
      for (const name of ["store.db", "meta.json"]) copyFileSync(join(folder, name), join(other, name));
    }
  }
}

let seed = 1;

/** The same words in every run: common ones often, rare ones seldom. */
function words(count: number): string {
  return Array.from({ length: count }, () => {
    seed = (seed * 48271) % 2147483647;
    const rank = Math.floor(5000 ** (seed / 2147483647));
    return `${"lorem ipsum dolor amet parse line file read".split(" ")[rank % 8]}${rank}`;
  }).join(" ");
}
