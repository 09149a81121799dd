// LiveRun, in this process: limits, questions, readers, replaceable parts. What holds for runs elsewhere too is in live-run-kit.ts.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openRewind } from "../../src/agent/snapshots/rewind.ts";
import type { Question } from "../../src/protocol/run.ts";
import { readRunRequest } from "../../src/protocol/run-request.ts";
import { chatFolder } from "../../src/store/chats/layout.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { createRunPlace, follow, type RunPlace } from "./run-support.ts";

const places: RunPlace[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});

function create(): RunPlace {
  const place = createRunPlace();
  places.push(place);
  return place;
}

const shell = (command: string) => ({ calls: [{ name: "Shell", args: { command } }] });
const write = (path: string, content: string) => ({ calls: [{ name: "Write", args: { path, content } }] });
const long = { steps: [{ text: "I begin" }, { delayMs: 60_000 }] };

describe("a run request", () => {
  it("openRun checks every field of a run request", () => {
    expect(readRunRequest({ workspace: "/w", chat: { type: "resume", id: "-1", fork: true } })).toBeTruthy();
    const wrong: [object, string][] = [
      [{}, 'needs "workspace"'],
      [{ workspace: "w" }, '"workspace" must be an absolute path'],
      [{ workspace: "/w", modell: "x" }, 'unknown field "modell" (did you mean "model"?)'],
      [{ workspace: "/w", roots: ["/a", 1] }, '"roots" must be an absolute path'],
      [{ workspace: "/w", limits: { maxTurns: 0 } }, '"limits" "maxTurns" must be a positive number'],
      [{ workspace: "/w", chat: { type: "resume" } }, '"chat"'],
    ];
    for (const [request, fault] of wrong) expect(() => readRunRequest(request)).toThrow(fault);
  });
});

describe("turns of a live run", () => {
  it("a message that steers an interrupted turn goes to the next turn", async () => {
    const run = await create().open([shell("sleep 20"), { expect: ["now this"], text: "This." }]);
    const seen = follow(run);
    const first = run.send({ text: "begin" });
    await seen.until((event) => event.type === "tool_start");
    const steered = run.steer("now this");
    run.interrupt("Stopped.");
    expect(await first.ending).toMatchObject({ type: "fail", code: "INTERRUPTED" });
    expect(await steered.ending).toMatchObject({ type: "done", text: "This." });
    await run.close();
  });
});

it("the answer of a run is the text after its last tool call and its last prompt", async () => {
  const delivered: string[] = [];
  const deliver = ({ text }: { text: string }) => void delivered.push(text);
  const script = [{ ...shell("true"), text: "I look." }, { text: "Found." }, { text: "And again." }];
  const run = await create().open(script, { sandbox: "disabled" }, { deliver });
  await run.send({ text: "look" }).ending;
  await run.send({ text: "again" }).ending;
  expect(delivered).toEqual(["Found.", "And again."]);
  await run.close();
});

describe("a running command", () => {
  it("a command sent to the background continues without its time limit and can be read", async () => {
    const script = [
      { calls: [{ name: "Shell", args: { command: "echo before; sleep 1.5; echo after", timeout: 1000 } }] },
      {
        expect: ["moved the command to the background"],
        calls: [{ name: "Await", args: { taskId: "shell_1", blockUntilMs: 5000 } }],
      },
      { expect: ["after"], text: "It went on." },
    ];
    const run = await create().open(script);
    const seen = follow(run);
    const sent = run.send({ text: "go" });
    const output = await seen.until(({ type }) => type === "tool_output");
    expect(await run.background("none")).toBe(false);
    expect(await run.background((output as { callId: string }).callId)).toBe(true);
    expect(await sent.ending).toMatchObject({ type: "done", text: "It went on." });
    await run.close();
  });
});

describe("changing a run while it works", () => {
  it("a new mode applies from the model's next reply on, with its tools, and survives a resume", async () => {
    const place = create();
    const script = [shell("sleep 0.2"), write("a.txt", "a"), { text: "No." }, write("b.txt", "b"), { text: "Yes." }];
    const run = await place.open(script);
    const seen = follow(run);
    const sent = run.send({ text: "go" });
    await seen.until(({ type }) => type === "tool_start");
    run.setMode("plan");
    await sent.ending;
    expect(existsSync(join(place.path, "a.txt"))).toBe(false);
    run.setMode("default");
    await run.send({ text: "go on" }).ending;
    expect(existsSync(join(place.path, "b.txt"))).toBe(true);
    run.setMode("ask");
    const { chatId } = run;
    await run.send({ text: "again" }).ending; // the script is at its end, but the mode was settled before
    await run.close();
    expect(seen.notices().filter((kind) => kind === "mode_change")).toHaveLength(3);
    const resumed = await place.open([{ text: "Hi." }], {
      force: false,
      trust: true,
      chat: { type: "resume", id: chatId },
    });
    for await (const { event } of resumed.events()) {
      expect(event).toMatchObject({ type: "init", permissionMode: "ask" });
      break;
    }
    await resumed.close();
  });
});

describe("rewinding a run", () => {
  const changed = async (script: object[]) => {
    const place = create();
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(place.path, name), "first");
    const run = await place.open(script);
    await run.send({ text: "go" }).ending;
    return { place, run };
  };

  it("a rewind that cannot finish says what it did, and can be undone", async () => {
    const { place, run } = await changed([write("a.txt", "second"), write("b.txt", "second"), { text: "Written." }]);
    const [a, b] = ["a.txt", "b.txt"].map((name) => join(place.path, name));
    rmSync(b!);
    mkdirSync(b!);
    writeFileSync(join(b!, "of somebody else"), "");
    const before = await run.context();
    const failure = await run.rewind(1).catch((error: Error) => error);
    expect(failure).toMatchObject({ code: "STORE_IO" });
    expect((failure as Error).message).toContain(`${b} (it is not empty)`);
    expect((failure as Error).message).toContain(`one file change undone (${a}), the conversation not changed`);
    expect((failure as Error).message).toMatch(/sessions rewind [\w-]+ --undo$/);
    expect(readFileSync(a!, "utf8")).toBe("first");
    expect(await run.context()).toEqual(before);
    const { chatId } = run;
    await run.close();
    const chat = openChat(chatFolder(place.configDir, place.path, chatId!));
    await openRewind({ configDir: place.configDir, workspace: place.path, chat }).undo();
    chat.close();
    expect(readFileSync(a!, "utf8")).toBe("second");
  });

  it("rewind and its undo are transactions that survive a crash", async () => {
    const { place, run } = await changed([write("a.txt", "second"), { text: "Written." }]);
    const { chatId } = run;
    await run.close();
    const folder = chatFolder(place.configDir, place.path, chatId!);
    const paths = { configDir: place.configDir, workspace: place.path };
    let chat = openChat(folder);
    const rewind = openRewind({ ...paths, chat });
    await rewind.restore(1);
    const killed = () =>
      rewind.takeBack(1, { files: true }, (state) => {
        chat.rewindTo(1, state);
        chat.close();
        throw new Error("killed");
      });
    expect(killed).toThrow("killed");
    chat = openChat(folder);
    expect(chat.messages).toEqual([]);
    expect(readFileSync(join(place.path, "a.txt"), "utf8")).toBe("first");
    expect((await openRewind({ ...paths, chat }).undo())?.steps).toHaveLength(1);
    chat.close();
    expect(readFileSync(join(place.path, "a.txt"), "utf8")).toBe("second");
  });
});

describe("limits of a run", () => {
  it("the time limit ends a run of every front end", async () => {
    const run = await create().open([long], { limits: { maxTimeMs: 400 } });
    const [sent, next] = [run.send({ text: "go" }), run.send({ text: "never" })];
    expect(await sent.ending).toMatchObject({ type: "fail", code: "MAX_TIME" });
    expect(await next.ending).toMatchObject({ code: "MAX_TIME" });
    expect(next.state).toBe("dropped");
    await run.close();
  });

  it("the reply limit counts the replies of all turns of a run", async () => {
    const run = await create().open([{ text: "1" }, { text: "2" }, { text: "3" }], { limits: { maxTurns: 2 } });
    await run.send({ text: "one" }).ending;
    await run.send({ text: "two" }).ending;
    expect(await run.send({ text: "three" }).ending).toMatchObject({ type: "fail", code: "MAX_TURNS" });
    await run.close();
  });
});

describe("asking people", () => {
  it("a run asks for trust before anything begins", async () => {
    const asked: Question[] = [];
    const human = (type: "yes" | "no") => ({
      ask: async (question: Question) => {
        asked.push(question);
        return { type };
      },
    });
    const place = create();
    const request = { force: false };
    await expect(place.open([{ text: "Hi." }], request)).rejects.toThrow("Workspace Trust Required");
    await expect(place.open([{ text: "Hi." }], request, { human: human("no") })).rejects.toThrow("Trust Required");
    const run = await place.open([{ text: "Hi." }], request, { human: human("yes") });
    expect(await run.send({ text: "hi" }).ending).toMatchObject({ type: "done" });
    await run.close();
    const again = await place.open([{ text: "Hi." }], request);
    await again.close();
    expect(asked.map(({ type }) => type)).toEqual(["trust", "trust"]);
  });
});

describe("replaceable parts of a run", () => {
  it("a front end can replace clock, ids, model and tools of a run, and supply an editor's open files", async () => {
    let ids = 0;
    let time = 1_000;
    const ran: string[] = [];
    const open = new Map<string, string>();
    const place = create();
    const file = join(place.path, "open.txt");
    writeFileSync(file, "saved");
    open.set(file, "not saved");
    const replies = [
      [{ type: "tool_call" as const, id: "r", name: "Read", args: { path: "open.txt" } }],
      [
        {
          type: "tool_call" as const,
          id: "w",
          name: "Edit",
          args: { path: "open.txt", edits: [{ oldText: "not", newText: "still not" }] },
        },
      ],
      [{ type: "text" as const, text: "Done." }],
    ];
    const run = await place.open([{ text: "never" }], undefined, {
      seams: {
        now: () => time++,
        newId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`,
        openProvider: async () => ({
          id: "mine",
          async *stream() {
            for (const part of replies.shift()!) yield { type: "part" as const, part };
          },
        }),
        runTool: (tool, args, context) => {
          ran.push(tool.name);
          return tool.run(args, context);
        },
        buffers: {
          read: async (path) => open.get(path),
          write: async (path, text) => open.has(path) && open.set(path, text) !== undefined,
        },
      },
    });
    const seen = follow(run);
    expect(await run.send({ text: "go" }).ending).toMatchObject({ type: "done", text: "Done." });
    await run.close();
    await seen.followed;
    expect(run.chatId).toBe("00000000-0000-4000-8000-000000000001");
    expect(ran).toEqual(["Read", "Edit"]);
    expect([open.get(file), readFileSync(file, "utf8")]).toEqual(["still not saved", "saved"]);
    const read = seen.events.find((event) => event.type === "tool_end");
    expect(read).toMatchObject({ outcome: { value: { content: "not saved" } } });
    expect(seen.events.every(({ at = 1_000 }) => at >= 1_000 && at < 2_000)).toBe(true);
  });
});

describe("readers of a run", () => {
  it("a reader of a run gets every event at any time by its number, even from an unstored run", async () => {
    for (const ephemeral of [false, true]) {
      const run = await create().open([{ text: "One." }, { text: "Two." }], { ephemeral });
      const seen = follow(run);
      await run.send({ text: "one" }).ending;
      await run.send({ text: "two" }).ending;
      const numbered = [];
      for await (const { number, event } of run.events(1)) {
        numbered.push({ number, type: event.type });
        if (numbered.filter(({ type }) => type === "done").length === 2) break;
      }
      expect(numbered.map(({ type }) => type)).toEqual([
        "init",
        "user",
        "text_end",
        "done",
        "user",
        "text_end",
        "done",
      ]);
      const numbers = numbered.map(({ number }) => number!);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      const from = [];
      for await (const { number } of run.events(numbers[4]!)) {
        from.push(number);
        if (from.length === 3) break;
      }
      expect(from).toEqual(numbers.slice(4));
      await run.close();
      await seen.followed;
    }
  });

  it("only the first reader of a run's events can slow the run down", async () => {
    const deltas = Array.from({ length: 2000 }, (_, index) => `${index} `);
    const place = create();
    const run = await place.open([{ text: deltas }]);
    const reader = run.events()[Symbol.asyncIterator]();
    await reader.next();
    const late = run.events(1)[Symbol.asyncIterator]();
    await late.next();
    const sent = run.send({ text: "go" });
    const isHeld = await Promise.race([
      sent.ending.then(() => false),
      new Promise((done) => setTimeout(done, 500, true)),
    ]);
    expect(isHeld).toBe(true);
    let count = 0;
    for (let next = await reader.next(); next.value?.event.type !== "done"; next = await reader.next()) count++;
    expect(count).toBeGreaterThan(2000);
    expect(await sent.ending).toMatchObject({ type: "done" });
    await run.close();
    // The other one never read: it is told everything that was kept, even after the end.
    const rest = [];
    for (let next = await late.next(); !next.done; next = await late.next()) rest.push(next.value.event.type);
    expect(rest.filter((type) => type !== "text")).toEqual(["user", "text_end", "done"]);
  });
});
