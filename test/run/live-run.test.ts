// LiveRun: what every front end may count on. Each verb, in a running turn and between two; limits; readers.
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

describe("a request", () => {
  it("is checked to the last field", () => {
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

describe("turns", () => {
  it("that are interrupted leave what was steered to the next one, which answers it", async () => {
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

  it("are queued, answered in their order, and withdrawn until they are told", async () => {
    const run = await create().open([{ text: "One." }, { text: "Three." }]);
    const seen = follow(run);
    const [one, two, three] = ["one", "two", "three"].map((text) => run.send({ text }));
    expect(await two!.withdraw()).toBe(true);
    expect(await three!.ending).toMatchObject({ type: "done", text: "Three." });
    expect([one!.state, two!.state, three!.state]).toEqual(["told", "dropped", "told"]);
    expect([await one!.withdraw(), await two!.withdraw()]).toEqual([false, false]);
    await run.close();
    await seen.followed;
    expect(seen.events.flatMap((event) => (event.type === "user" ? [event.text] : []))).toEqual(["one", "three"]);
  });

  it("are steered at the next safe point; what comes too late is a turn of its own", async () => {
    const script = [
      shell("sleep 0.3"),
      { expect: ["now this"], text: "Now that." },
      { expect: ["late"], text: "Late." },
    ];
    const run = await create().open(script);
    const seen = follow(run);
    const sent = run.send({ text: "go" });
    await seen.until(({ type }) => type === "tool_start");
    const steered = run.steer("now this");
    const withdrawn = run.steer("never");
    expect(await withdrawn.withdraw()).toBe(true);
    expect(await steered.ending).toBe(await sent.ending);
    expect(await run.steer("late").ending).toMatchObject({ text: "Late." });
    await run.close();
  });

  it("are interrupted, and the queue goes on", async () => {
    const run = await create().open([long, { text: "Next." }]);
    const seen = follow(run);
    const sent = run.send({ text: "one" });
    const next = run.send({ text: "two" });
    await seen.until(({ type }) => type === "text");
    run.interrupt("Stop it.");
    expect(await sent.ending).toMatchObject({ type: "fail", code: "INTERRUPTED", message: "Stop it." });
    expect(await next.ending).toMatchObject({ type: "done" });
    expect(seen.notices()).toContain("queue");
    await run.close();
  });

  it("fail by themselves: the next one is answered", async () => {
    const run = await create().open([{ text: "Two." }]);
    const [one, two] = [run.send({ text: "one", images: ["/no/such.png"] }), run.send({ text: "two" })];
    expect(await one.ending).toMatchObject({ type: "fail", code: "FILE_UNREADABLE" });
    expect(await two.ending).toMatchObject({ type: "done", text: "Two." });
    await run.close();
  });
});

describe("a command", () => {
  it("goes on by itself when it is sent to the background, without its time limit, and is read like any other", async () => {
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

describe("a run changes while it works", () => {
  it("its mode, from the next reply on, with the tools and what a resume brings back", async () => {
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

  it("its model, by the rules of the start", async () => {
    const place = create();
    writeFileSync(join(place.path, "other.json"), JSON.stringify([{ text: "From the other." }]));
    const run = await place.open([{ text: "From the first." }]);
    await run.send({ text: "one" }).ending;
    await expect(run.setModel("no/such")).rejects.toThrow("Cannot use this model");
    await run.setModel(`script:${join(place.path, "other.json")}`);
    expect(await run.send({ text: "two" }).ending).toMatchObject({ text: "From the other." });
    await run.close();
  });

  it("compacts, asks aside and says what fills the window, without a trace in the conversation", async () => {
    const script = [
      { text: "A long story. ".repeat(400) },
      { summary: true, text: "It was a long story." },
      { aside: true, text: "Aside." },
      { text: "End." },
    ];
    const run = await create().open(script);
    const seen = follow(run);
    await run.send({ text: "tell" }).ending;
    const before = await run.context();
    expect(before.used).toBe(before.system + before.tools + before.messages);
    await run.compact();
    await seen.until((event) => event.type === "notice" && event.kind === "compacted");
    expect(await run.aside("what was it?")).toBe("Aside.");
    expect((await run.context()).messages).toBeLessThan(before.messages);
    expect(await run.send({ text: "end" }).ending).toMatchObject({ text: "End." });
    await run.close();
  });

  it("is rewound with its files, while no turn runs", async () => {
    const place = create();
    writeFileSync(join(place.path, "a.txt"), "first");
    const run = await place.open([write("a.txt", "second"), { text: "Written." }, { text: "Fresh." }]);
    const sent = run.send({ text: "go" });
    await expect(run.rewind(1)).rejects.toThrow("A turn is running");
    await sent.ending;
    expect(readFileSync(join(place.path, "a.txt"), "utf8")).toBe("second");
    await run.rewind(1);
    expect(readFileSync(join(place.path, "a.txt"), "utf8")).toBe("first");
    expect((await run.context()).messages).toBe(0);
    expect(await run.send({ text: "anew" }).ending).toMatchObject({ text: "Fresh." });
    await run.close();
  });
});

describe("a rewind", () => {
  const changed = async (script: object[]) => {
    const place = create();
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(place.path, name), "first");
    const run = await place.open(script);
    await run.send({ text: "go" }).ending;
    return { place, run };
  };

  it("that cannot finish says what it did, and can be undone", async () => {
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

  it("is one step with what undoes it: a process that ends right after it loses nothing", async () => {
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

describe("a run is limited", () => {
  it("in time, whoever shows it", async () => {
    const run = await create().open([long], { limits: { maxTimeMs: 400 } });
    const [sent, next] = [run.send({ text: "go" }), run.send({ text: "never" })];
    expect(await sent.ending).toMatchObject({ type: "fail", code: "MAX_TIME" });
    expect(await next.ending).toMatchObject({ code: "MAX_TIME" });
    expect(next.state).toBe("dropped");
    await run.close();
  });

  it("in replies, over all of its turns", async () => {
    const run = await create().open([{ text: "1" }, { text: "2" }, { text: "3" }], { limits: { maxTurns: 2 } });
    await run.send({ text: "one" }).ending;
    await run.send({ text: "two" }).ending;
    expect(await run.send({ text: "three" }).ending).toMatchObject({ type: "fail", code: "MAX_TURNS" });
    await run.close();
  });
});

describe("people", () => {
  it("are asked for trust, and only then anything begins", async () => {
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

  it("say yes for good, until the run ends", async () => {
    let count = 0;
    const human = {
      ask: async () => {
        count++;
        return { type: "yes" as const, always: true };
      },
    };
    const run = await create().open(
      [shell("touch a"), shell("touch a"), shell("touch b"), { text: "Done." }],
      { force: false, trust: true, unlistedCommands: "ask" },
      { human },
    );
    await run.send({ text: "go" }).ending;
    await run.close();
    expect(count).toBe(2);
  });
});

describe("what a run takes from the world", () => {
  it("can be handed in: time, ids, the model, the running of tools, and files that an editor has open", async () => {
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

describe("readers", () => {
  it("read the whole of it, at any time, by numbers, also from a run that keeps nothing", async () => {
    for (const unkept of [false, true]) {
      const run = await create().open([{ text: "One." }, { text: "Two." }], { unkept });
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

  it("hold up the run, if they are the first, and only then", async () => {
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
