// A disk that is full, broken or read-only.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { chatFolder, chatsDir } from "../../src/store/chats/layout.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { addThreeTurns, createPlace, newChat, nextId, type Place } from "./chat-support.ts";
import { faults, startChild } from "./store-program.ts";
import {
  add,
  errorOf,
  type Input,
  integrityOf,
  keptNumbers,
  lostOf,
  resumes,
  type StoreSeen,
  thrown,
} from "./store-seen.ts";

const errorNumbers: Record<string, number> = { eio: 5, enospc: 28, erofs: 30, edquot: 122, eacces: 13 };

export async function diskFull(input: Input): Promise<StoreSeen | string> {
  const { events = 5000, event_bytes = 2000 } = input["workload"] ?? {};
  const [, size = "2", unit = "MiB"] = /(\d+) ?([KM])iB/i.exec(String(input["fs"] ?? "")) ?? [];
  const bytes = Number(size) * (/^K/i.test(unit) ? 1024 : 1024 * 1024);
  const seen: StoreSeen[] = [];
  const inject = faults({ FAULT_BYTES: bytes });
  if (typeof inject !== "string") {
    using place = createPlace();
    seen.push(await fill(place, events, event_bytes, inject, () => {}));
  }
  const place = createPlace();
  const disk = join(place.base, "disk");
  mkdirSync(disk);
  const isMounted = mount(disk, `size=${bytes}`);
  try {
    const inside = { ...place, configDir: join(disk, "config") };
    if (isMounted)
      seen.push(await fill(inside, events, event_bytes, {}, () => mount(disk, `remount,size=${bytes * 64}`)));
  } finally {
    if (isMounted) execFileSync("umount", [disk]);
    place.remove();
  }
  return seen.length > 0 ? seen.reduce((all, one) => add(all, one)) : String(inject);
}

async function fill(
  place: Place,
  events: number,
  bytes: number,
  env: Record<string, string>,
  free: () => unknown,
): Promise<StoreSeen> {
  const id = nextId();
  const folder = chatFolder(place.configDir, place.workspace, id);
  const child = await startChild({ kind: "write", chat: { ...place, id }, events, bytes }, { env });
  const { exit } = await child.ended;
  const lost = lostOf(folder, child);
  free();
  return { ...errorOf(child), exit, lost, integrity: integrityOf(folder), resumesAfterwards: resumes(folder) };
}

function mount(folder: string, options: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export function faultSettings(input: Input): Record<string, string | number> {
  const number = errorNumbers[String(input["scenario"]).replace(/^inject_?/, "")] ?? 5;
  const call = /sync/.test(String(input["syscall"])) ? "sync" : "write";
  return { FAULT_CALL: call, FAULT_NTH: Number(input["nth"] ?? 1), FAULT_ERRNO: number };
}

export async function injected(input: Input): Promise<StoreSeen | string> {
  const env = faults(faultSettings(input));
  if (typeof env === "string") return env;
  using place = createPlace();
  const id = nextId();
  const folder = chatFolder(place.configDir, place.workspace, id);
  const child = await startChild({ kind: "write", chat: { ...place, id }, events: 400, bytes: 200 }, { env });
  const { exit } = await child.ended;
  const isThere = existsSync(join(folder, "store.db"));
  return {
    ...errorOf(child),
    exit,
    lost: isThere ? lostOf(folder, child) : keptNumbers(child).length,
    ...(isThere && { integrity: integrityOf(folder), resumesAfterwards: resumes(folder) }),
  };
}

/** As an ordinary user too where this is root, whom no mode binds. */
export async function readOnly(input: Input): Promise<StoreSeen> {
  const place = createPlace();
  const mode = Number.parseInt(String(input["mode"] ?? "0555"), 8);
  try {
    const old = newChat(place);
    addThreeTurns(old);
    old.close();
    const isChat = /store|chat folder|session/i.test(String(input["path"]));
    const isFile = /store\.db/.test(String(input["path"]));
    const path = isFile
      ? join(old.metadata.folder, "store.db")
      : isChat
        ? old.metadata.folder
        : chatsDir(place.configDir);
    chmodSync(path, mode);
    let seen: StoreSeen = {};
    let started = false;
    try {
      const chat = isChat ? openChat(old.metadata.folder) : newChat(place);
      chat.record({ type: "tool_start", callId: "c", tool: "shell", args: {} });
      started = true;
      chat.close();
    } catch (error) {
      seen = thrown(error);
    }
    if (process.getuid?.() === 0) {
      const nobody = 65_534;
      for (const each of [place.base, place.workspace, place.configDir, path]) chownSync(each, nobody, nobody);
      const job = isChat
        ? ({ kind: "hold", folder: old.metadata.folder, ms: 0 } as const)
        : ({ kind: "write", chat: { ...place, id: nextId() }, events: 4, bytes: 1 } as const);
      const child = await startChild(job, { user: nobody });
      await child.ended;
      const other = errorOf(child);
      if (other.errorCode !== seen.errorCode) seen = other;
      started ||= child.lines.includes("kept 4");
    }
    return { ...seen, startedUnkept: started, othersWork: readChat(old.metadata.folder).messages.length === 8 };
  } finally {
    chmodSync(chatsDir(place.configDir), 0o700);
    place.remove();
  }
}
