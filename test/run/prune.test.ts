// Old chats: which are deleted, how often that is looked at, and from which size on people are told how much space they take.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { unknownServer } from "../../src/run/mcp-plan.ts";
import { chatsToPrune, dayMs, pruneChats, pruneDaily } from "../../src/run/prune-chats.ts";
import { bytesIn } from "../../src/store/chats/disk-use.ts";
import { createChat } from "../../src/store/chats/open-chat.ts";
import { randomUuid } from "../../src/store/chats/random-uuid.ts";

let configDir: string;
beforeEach(() => {
  configDir = mkdtempSync(join(tmpdir(), "courser-prune-"));
});
afterEach(() => rmSync(configDir, { recursive: true, force: true }));

const marker = (name: string) => join(configDir, "courser", name);
const say = () => {
  const said: string[] = [];
  return { said, notice: (message: string) => void said.push(message) };
};

/** A chat whose last message is so many days old. */
function chatOf(days: number, title?: string): string {
  const chat = createChat({ configDir, workspace: configDir }, {
    id: randomUuid(),
    model: "m",
    mode: "default",
  } as never);
  if (title !== undefined) chat.rename(title);
  chat.append({ role: "user", parts: [{ type: "text", text: "go" }] });
  chat.close();
  const file = join(chat.metadata.folder, "meta.json");
  const meta = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...meta, updatedAtMs: Date.now() - days * dayMs }));
  return chat.metadata.folder;
}

it("pruning deletes chats over the given age, keeps named ones on request, and reports each it cannot delete", async () => {
  const [old, recent, named] = [chatOf(3), chatOf(0.5), chatOf(9, "Mine")];
  const folders = (keepNamed: boolean, days: number) =>
    chatsToPrune(configDir, { olderThanMs: days * dayMs, keepNamed }).map(({ folder }) => folder);
  expect(folders(true, 1)).toEqual([old]);
  expect(folders(true, 4)).toEqual([]);
  expect(folders(false, 1).sort()).toEqual([old, named].sort());
  expect(folders(false, 0).sort()).toEqual([old, recent, named].sort());
  const { said, notice } = say();
  const chats = chatsToPrune(configDir, { olderThanMs: dayMs, keepNamed: false });
  rmSync(named, { recursive: true });
  expect((await pruneChats(configDir, chats, notice)).map(({ folder }) => folder)).toEqual([old]);
  expect([existsSync(old), existsSync(recent)]).toEqual([false, true]);
  expect(said).toEqual([expect.stringContaining(named)]);
});

it("runs delete old chats once a day, and only unnamed ones", async () => {
  const [old, named] = [chatOf(3), chatOf(3, "Mine")];
  const { said, notice } = say();
  await pruneDaily(configDir, { days: 2, notice });
  expect([existsSync(old), existsSync(named), existsSync(marker("chats-pruned"))]).toEqual([false, true, true]);
  const other = chatOf(3);
  await pruneDaily(configDir, { days: 2, notice });
  expect(existsSync(other)).toBe(true);
  utimesSync(marker("chats-pruned"), new Date(), (Date.now() - dayMs - 1000) / 1000);
  await pruneDaily(configDir, { days: 2, notice });
  expect([existsSync(other), existsSync(marker("chats-measured")), said]).toEqual([false, false, []]);
});

it("runs warn once about chats over a gigabyte, and measure smaller ones once a day", async () => {
  mkdirSync(join(configDir, "chats/x"), { recursive: true });
  const file = join(configDir, "chats/x/y");
  writeFileSync(file, "");
  truncateSync(file, 999_999_999);
  expect([bytesIn(file), bytesIn(join(configDir, "chats")), bytesIn(join(configDir, "none"))]).toEqual([
    ...[999_999_999, 999_999_999, 0],
  ]);
  const { said, notice } = say();
  const measure = () => pruneDaily(configDir, { days: undefined, notice });
  await measure();
  truncateSync(file, 1_250_000_000);
  await measure();
  expect(said).toEqual([]);
  utimesSync(marker("chats-measured"), new Date(), (Date.now() - dayMs - 1000) / 1000);
  await measure();
  expect(said).toEqual([
    `The chats take 1.3 GB. To see which could be deleted: courser sessions prune --older-than 30d --keep-named --dry-run. "pruneAfterDays" in courser.json deletes them by itself.`,
  ]);
  expect(readFileSync(marker("chats-measured"), "utf8")).toBe("1250000000\n");
  utimesSync(marker("chats-measured"), new Date(), (Date.now() - 9 * dayMs) / 1000);
  await measure();
  expect(said).toHaveLength(1);
});

it.each<[string, string[], string]>([
  ["doc", [], "unknown MCP server 'doc'. None are configured. To add one: courser mcp add <name> -- <command>"],
  ["doc", ["docs", "web"], "unknown MCP server 'doc'. Did you mean docs?"],
  ["zzz", ["docs"], "unknown MCP server 'zzz'. There is docs."],
  ["zzz", ["docs", "web"], "unknown MCP server 'zzz'. There are docs, web."],
])("the error about the MCP server %s, unknown among %j, suggests names", (name, names, message) => {
  expect(unknownServer(name, names)).toMatchObject({ code: "USAGE", message });
  expect(unknownServer(name, names, "--x: ").message).toBe(`--x: ${message}`);
});
