// What holds for every LiveRun, wherever it runs: the same table for a run in this process and for one in another.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Human, LiveRun, PermissionMode, Question } from "../../src/protocol/run.ts";
import { follow } from "./run-support.ts";

export type KitRun = { run: LiveRun; path: string };

/** `force`: everything is allowed, else the human is asked. */
export type KitOpen = (script: unknown, options?: { mode?: "force" | "default"; human?: Human }) => Promise<KitRun>;

const shell = (command: string) => ({ calls: [{ name: "Shell", args: { command } }] });
const write = (path: string, content: string) => ({ calls: [{ name: "Write", args: { path, content } }] });
const long = { steps: [{ text: "I begin" }, { delayMs: 60_000 }] };

export function liveRunKit(name: string, open: KitOpen): void {
  describe(name, () => {
    it("prompts are answered in order, and a withdrawn one never reaches the model", async () => {
      const { run } = await open([shell("sleep 0.3"), { text: "One." }, { text: "Three." }]);
      const seen = follow(run);
      const [one, two, three] = ["one", "two", "three"].map((text) => run.send({ text }));
      await seen.until(({ type }) => type === "tool_start");
      expect([one!.state, two!.state, three!.state]).toEqual(["told", "waiting", "waiting"]);
      expect(await two!.withdraw()).toBe(true);
      expect(two!.state).toBe("dropped");
      expect(await two!.ending).toMatchObject({
        type: "fail",
        code: "INTERRUPTED",
        message: "The prompt was withdrawn.",
      });
      expect(await one!.withdraw()).toBe(false);
      expect(await three!.ending).toMatchObject({ type: "done", text: "Three." });
      expect([one!.state, three!.state]).toEqual(["told", "told"]);
      expect([await one!.withdraw(), await two!.withdraw()]).toEqual([false, false]);
      await run.close();
      await seen.followed;
      expect(seen.events.flatMap((event) => (event.type === "user" ? [event.text] : []))).toEqual(["one", "three"]);
    });

    it("steering applies at the next safe point, and between turns starts a turn", async () => {
      const script = [shell("sleep 0.4"), { expect: ["now this"], text: "That." }, { expect: ["late"], text: "Late." }];
      const { run } = await open(script);
      const seen = follow(run);
      const sent = run.send({ text: "go" });
      await seen.until(({ type }) => type === "tool_start");
      const steered = run.steer("now this");
      const withdrawn = run.steer("never");
      expect(await withdrawn.withdraw()).toBe(true);
      expect(await steered.ending).toBe(await sent.ending);
      expect([steered.state, withdrawn.state]).toEqual(["told", "dropped"]);
      expect(await run.steer("late").ending).toMatchObject({ text: "Late." });
      await run.close();
    });

    it("a turn can be interrupted, and the queue continues", async () => {
      const { run } = await open([long, { text: "Next." }]);
      const seen = follow(run);
      const [sent, next] = [run.send({ text: "one" }), run.send({ text: "two" })];
      await seen.until(({ type }) => type === "text");
      run.interrupt("Stop it.");
      expect(await sent.ending).toMatchObject({ type: "fail", code: "INTERRUPTED", message: "Stop it." });
      expect(await next.ending).toMatchObject({ type: "done", text: "Next." });
      await run.close();
      await seen.followed;
      expect(seen.notices()).toContain("queue");
      expect(seen.events).toContainEqual(expect.objectContaining({ type: "text_end", text: "I begin", cut: true }));
    });

    it("a new mode applies from the next reply on", async () => {
      const script = [shell("sleep 0.3"), write("a.txt", "a"), { text: "No." }, write("b.txt", "b"), { text: "Yes." }];
      const { run, path } = await open(script);
      const seen = follow(run);
      const sent = run.send({ text: "go" });
      await seen.until(({ type }) => type === "tool_start");
      run.setMode("plan");
      await sent.ending;
      expect(existsSync(join(path, "a.txt"))).toBe(false);
      run.setMode("default");
      await run.send({ text: "go on" }).ending;
      expect(existsSync(join(path, "b.txt"))).toBe(true);
      await run.close();
      await seen.followed;
      const changes = seen.events.flatMap((event) =>
        event.type === "notice" && event.kind === "mode_change" ? [event.fields!["permissionMode"]] : [],
      );
      expect(changes).toEqual(["plan", "default"] satisfies PermissionMode[]);
    });

    it("a new model follows the rules of the start", async () => {
      const { run, path } = await open([{ text: "From the first." }]);
      const other = join(path, "other.json");
      writeFileSync(other, JSON.stringify([{ text: "From the other." }]));
      await run.send({ text: "one" }).ending;
      await expect(run.setModel("no/such")).rejects.toMatchObject({ name: "UserError", code: "MODEL_UNKNOWN" });
      await run.setModel(`script:${other}`);
      expect(await run.send({ text: "two" }).ending).toMatchObject({ text: "From the other." });
      await run.close();
    });

    it("a run can be compacted, asked aside, and says its names and what fills the window", async () => {
      const script = [
        { text: "A long story. ".repeat(400) },
        { summary: true, text: "It was a long story." },
        { aside: true, text: "Aside." },
        { text: "End." },
      ];
      const { run } = await open(script);
      const seen = follow(run);
      await run.send({ text: "tell" }).ending;
      const before = await run.context();
      expect(before.used).toBe(before.system + before.tools + before.messages);
      await run.compact();
      await seen.until((event) => event.type === "notice" && event.kind === "compacted");
      expect(await run.aside("what was it?")).toBe("Aside.");
      expect((await run.context()).messages).toBeLessThan(before.messages);
      expect((await run.names()).map(({ kind }) => kind)).toContain("subagent");
      expect(await run.background("no-such-call")).toBe(false);
      expect(await run.send({ text: "end" }).ending).toMatchObject({ text: "End." });
      await run.close();
    });

    it("a run can be rewound with its files while no turn is running", async () => {
      const { run, path } = await open([write("a.txt", "second"), { text: "Written." }, { text: "Fresh." }]);
      const seen = follow(run);
      writeFileSync(join(path, "a.txt"), "first");
      const sent = run.send({ text: "go" });
      await expect(run.rewind(1)).rejects.toMatchObject({
        code: "USAGE",
        message: expect.stringContaining("A turn is running"),
      });
      await sent.ending;
      expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("second");
      await run.rewind(1);
      expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("first");
      expect((await run.context()).messages).toBe(0);
      expect(await run.send({ text: "anew" }).ending).toMatchObject({ text: "Fresh." });
      expect(seen.notices()).toContain("rewound");
      await run.close();
    });

    it("a failed prompt does not end the run", async () => {
      const { run } = await open([{ text: "Two." }]);
      const [one, two] = [run.send({ text: "one", images: ["/no/such.png"] }), run.send({ text: "two" })];
      expect(await one.ending).toMatchObject({ type: "fail", code: "FILE_UNREADABLE" });
      expect(await two.ending).toMatchObject({ type: "done", text: "Two." });
      await run.close();
    });

    it("its human is asked once for what is allowed for good, and an error counts as a no", async () => {
      const asked: Question[] = [];
      const human: Human = {
        async ask(question) {
          asked.push(question);
          if (asked.length === 2) throw new Error("not that");
          return { type: "yes", always: true };
        },
      };
      const script = [shell("touch a"), shell("touch a"), shell("touch b"), { text: "Done." }];
      const { run, path } = await open(script, { mode: "default", human });
      const ending = await run.send({ text: "go" }).ending;
      expect(asked).toMatchObject([
        { type: "permission", tool: "Shell", hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        { type: "permission" },
      ]);
      expect([existsSync(join(path, "a")), existsSync(join(path, "b"))]).toEqual([true, false]);
      expect(ending).toMatchObject({ type: "done", denials: [{ tool: "Shell" }] });
      await run.close();
    });

    it("any reader can read the events from any number on", async () => {
      const { run } = await open([{ text: "One." }, { text: "Two." }]);
      const seen = follow(run);
      await run.send({ text: "one" }).ending;
      await run.send({ text: "two" }).ending;
      const numbered: { number: number | undefined; type: string }[] = [];
      for await (const { number, event } of run.events(1)) {
        numbered.push({ number, type: event.type });
        if (numbered.filter(({ type }) => type === "done").length === 2) break;
      }
      const turn = ["user", "text_end", "done"];
      expect(numbered.map(({ type }) => type)).toEqual(["init", ...turn, ...turn]);
      const numbers = numbered.map(({ number }) => number!);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
      const from: unknown[] = [];
      for await (const { number } of run.events(numbers[4]!)) {
        from.push(number);
        if (from.length === 3) break;
      }
      expect(from).toEqual(numbers.slice(4));
      await run.close();
      await seen.followed;
    });

    it("closing a run in the middle of a turn settles what runs and what waits", async () => {
      const { run } = await open([long]);
      const seen = follow(run);
      const [sent, next] = [run.send({ text: "one" }), run.send({ text: "two" })];
      await seen.until(({ type }) => type === "text");
      await run.close();
      expect(await sent.ending).toMatchObject({ type: "fail", code: "INTERRUPTED", message: "The run was closed." });
      expect(await next.ending).toMatchObject({ type: "fail", code: "INTERRUPTED", message: "The run was closed." });
      expect([sent.state, next.state]).toEqual(["told", "dropped"]);
      await seen.followed;
      expect(seen.events.at(-1)).toMatchObject({ type: "fail" });
    });
  });
}
