// A host in another process: `hello`, questions and their answers, and the control lines that pass the queue of prompts.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

const workspaces: Workspace[] = [];
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  for (const workspace of workspaces) workspace.remove();
});

type Line = Record<string, any>;

/** A host: sends lines, waits for lines. Whatever it did not wait for is in `lines`. */
class Host {
  readonly place: Workspace;
  readonly lines: Line[] = [];
  readonly exit: Promise<number | null>;
  stderr = "";
  readonly #child: ChildProcess;
  readonly #waiting: { test(line: Line): boolean; resolve(line: Line): void }[] = [];

  constructor(script: unknown, args: readonly string[] = ["--trust"]) {
    this.place = createWorkspace();
    workspaces.push(this.place);
    this.place.file("script.json", JSON.stringify(script));
    const formats = ["--output-format", "stream-json", "--input-format", "stream-json"];
    this.#child = spawn(process.execPath, [cli, "-p", ...formats, "--model", "script:script.json", ...args], {
      cwd: this.place.path,
      env: this.place.env,
    });
    children.push(this.#child);
    this.#child.stderr!.on("data", (chunk) => {
      this.stderr += chunk;
    });
    createInterface({ input: this.#child.stdout! }).on("line", (text) => {
      const line = JSON.parse(text) as Line;
      this.lines.push(line);
      for (const each of this.#waiting.splice(0)) each.test(line) ? each.resolve(line) : this.#waiting.push(each);
    });
    this.exit = new Promise((resolve) => this.#child.once("close", resolve));
  }

  send(line: object): void {
    this.#child.stdin!.write(`${JSON.stringify(line)}\n`);
  }

  prompt(text: string, id?: string): void {
    this.send({ type: "user", message: { role: "user", content: text }, ...(id && { id }) });
  }

  end(): void {
    this.#child.stdin!.end();
  }

  /** The first line that fits, also one that came already. */
  line(fields: Line): Promise<Line> {
    const test = (line: Line) => Object.entries(fields).every(([key, value]) => line[key] === value);
    const known = this.lines.find(test);
    if (known) return Promise.resolve(known);
    return new Promise((resolve) => this.#waiting.push({ test, resolve }));
  }

  async answer(answer: object, change: (question: Line) => Line = (question) => question): Promise<Line> {
    const { question } = await this.line({ type: "control", subtype: "question" });
    const { id, hash } = change(question);
    this.send({ type: "answer", question: id, hash, answer });
    return question;
  }
}

const hello = { type: "hello", version: 1, can: ["answer", "trust", "tool_output", "subagents"] };
const shell = (command: string) => ({ calls: [{ name: "Shell", args: { command } }] });

describe("a host on stdin", () => {
  it("a host on stdin answers the run's questions, and gets no line types that it did not announce", async () => {
    const host = new Host([shell("echo one; echo two"), { text: "Done." }], ["--trust", "--sandbox", "disabled"]);
    host.send(hello);
    host.prompt("go", "p1");
    expect(await host.answer({ type: "yes" })).toMatchObject({ type: "permission", tool: "Shell" });
    await host.line({ subtype: "ended", id: "p1" });
    host.end();
    expect(await host.exit, host.stderr).toBe(0);
    expect(await host.line({ subtype: "hello" })).toMatchObject({ version: 1, session_id: expect.any(String) });
    const begin = [await host.line({ subtype: "init" }), await host.line({ subtype: "hello" })];
    expect(begin.map((line) => line["event_number"])).toContain(1);
    const types = host.lines.map(({ type, subtype }) => (subtype ? `${type}/${subtype}` : type));
    expect(types.indexOf("result/success")).toBeLessThan(types.indexOf("control/ended"));
    const output = host.lines.flatMap(({ type, chunk }) => (type === "tool_output" ? [chunk] : []));
    expect(output.join("")).toBe("one\ntwo\n");
    const numbers = host.lines.flatMap(({ event_number: number }) => number ?? []);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(numbers.length).toBeGreaterThan(5);

    const plain = new Host([shell("echo one"), { text: "Refused." }], ["--trust", "--sandbox", "disabled"]);
    plain.prompt("go", "p1");
    plain.end();
    expect(await plain.exit).toBe(0);
    expect(plain.lines.some(({ type, event_number }) => /control|tool_output/.test(type) || event_number)).toBe(false);
    expect(plain.lines.at(-1)).toMatchObject({ permission_denials: [{ tool: "Shell" }] });
  });

  it("a host on stdin can answer only open questions, and the end of its input counts as a no", async () => {
    const host = new Host([shell("touch a.txt"), { text: "No." }], ["--trust", "--sandbox", "disabled"]);
    host.send(hello);
    host.prompt("go");
    await host.answer({ type: "yes" }, ({ id }) => ({ id, hash: "0".repeat(64) }));
    host.end();
    expect(await host.exit).toBe(0);
    expect(host.lines.at(-1)).toMatchObject({ type: "result", permission_denials: [{ tool: "Shell" }] });
    expect(existsSync(join(host.place.path, "a.txt"))).toBe(false);
  });

  it("a run asks a host on stdin for trust before init, if the host supports it", async () => {
    const host = new Host([{ text: "Hi." }], []);
    host.send(hello);
    host.prompt("go");
    expect(await host.answer({ type: "yes" })).toMatchObject({ type: "trust", workspace: host.place.path });
    host.end();
    expect(await host.exit, host.stderr).toBe(0);
    expect(host.lines.map(({ type }) => type)).toEqual(["control", "system", "control", "user", "assistant", "result"]);

    const other = new Host([{ text: "Hi." }], []);
    other.prompt("go");
    expect(await other.exit).toBe(1);
    expect(other.stderr).toContain("[UNTRUSTED]");
  });

  it("a host on stdin can steer a turn, change mode and model, ask side questions and read the context use", async () => {
    const script = [
      shell("sleep 0.4"),
      { expect: ["be brief"], text: "Brief." },
      { aside: true, text: "It is going well." },
    ];
    const host = new Host(script, ["--force"]);
    host.send(hello);
    host.prompt("go", "p1");
    await host.line({ type: "tool_call", subtype: "started" });
    host.send({ type: "steer", text: "be brief", id: "s1" });
    host.send({ type: "mode", mode: "ask" });
    host.send({ type: "aside", text: "how is it going?", id: "a1" });
    host.send({ type: "model", model: "no-such-model", id: "m1" });
    host.send({ type: "context", id: "c1" });
    expect(await host.line({ subtype: "reply", id: "a1" })).toMatchObject({ value: "It is going well." });
    expect(await host.line({ subtype: "reply", id: "m1" })).toMatchObject({ error_code: "MODEL_UNKNOWN" });
    expect((await host.line({ subtype: "reply", id: "c1" })).value.used).toBeGreaterThan(500);
    await host.line({ subtype: "ended", id: "s1" });
    await host.line({ subtype: "ended", id: "p1" });
    host.end();
    expect(await host.exit, host.stderr).toBe(0);
    expect(host.lines.filter(({ type }) => type === "result")).toHaveLength(1);
    expect(await host.line({ type: "system", subtype: "mode_change" })).toMatchObject({ permissionMode: "ask" });
  });

  it("a host on stdin can withdraw a prompt and interrupt a turn, and other queued prompts stay", async () => {
    const script = [{ steps: [{ text: "One" }, { delayMs: 60_000 }] }, { text: "Three." }];
    const host = new Host(script, ["--trust", "--stream-partial-output"]);
    host.send(hello);
    host.prompt("one", "p1");
    host.prompt("two", "p2");
    host.prompt("three", "p3");
    await host.line({ type: "assistant" });
    host.send({ type: "withdraw", prompt: "p2", id: "w" });
    expect(await host.line({ subtype: "reply", id: "w" })).toMatchObject({ value: true });
    host.send({ type: "interrupt", reason: "Not now." });
    await host.line({ subtype: "ended", id: "p3" });
    host.end();
    expect(await host.exit).toBe(130);
    const results = host.lines.filter(({ type }) => type === "result");
    expect(results).toMatchObject([{ is_error: true, error_code: "INTERRUPTED" }, { result: "Three." }]);
    expect(await host.line({ subtype: "ended", id: "p2" })).toMatchObject({
      state: "dropped",
      error: "The prompt was withdrawn.",
      error_code: "INTERRUPTED",
    });
    expect(await host.line({ type: "system", subtype: "queue" })).toMatchObject({
      message: "1 queued prompt stays queued.",
    });
  });

  it("a host on stdin can send data and pictures by path, and hears what happens between turns", async () => {
    const host = new Host([{ expect: ["look", "/not a command"], text: "Seen." }], ["--trust"]);
    host.send(hello);
    const content = [
      { type: "text", text: "look" },
      { type: "data", text: "/not a command" },
    ];
    host.send({ type: "user", message: { role: "user", content }, id: "p1" });
    await host.line({ subtype: "ended", id: "p1" });
    const gone = { type: "image", source: { type: "file", path: join(host.place.path, "gone.png") } };
    host.send({ type: "user", message: { role: "user", content: [content[0], gone] }, id: "p2" });
    await host.line({ subtype: "ended", id: "p2" });
    host.send({ type: "rewind", turn: 1, id: "r" });
    await host.line({ subtype: "reply", id: "r" });
    await host.line({ type: "system", subtype: "rewound" });
    host.end();
    await host.exit;
    const results = host.lines.filter(({ type }) => type === "result");
    expect(results).toMatchObject([{ result: "Seen." }, { error_code: "FILE_UNREADABLE" }]);
  });

  it("a run tells a host on stdin which of its lines could not be understood", async () => {
    const host = new Host([{ text: "One." }]);
    host.prompt("one");
    host.send({ type: "mode", mode: "wild" });
    expect(await host.exit).toBe(1);
    const results = host.lines.filter(({ type }) => type === "result");
    expect(results).toMatchObject([{ result: "One." }, { error_code: "FRAME_SCHEMA" }]);
    expect(results[1]!["result"]).toContain('Line 2 of stdin: "mode" must be one of default, force, plan, ask');
  });
});
