// The terminal as a person uses it: the built program in a real pty, its screen and its scrollback.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { openCli, openPty, type Pty, type PtyOptions } from "./pty.ts";

const opened: { pty?: Pty; workspace: Workspace }[] = [];
afterEach(async () => {
  const all = opened.splice(0);
  for (const { pty } of all) pty?.kill();
  for (const { pty } of all) await pty?.ended;
  // Two may have worked in one.
  for (const workspace of new Set(all.map((each) => each.workspace))) workspace.remove();
});

type Started = { pty: Pty; workspace: Workspace };

async function start(
  script: unknown,
  {
    args = ["--force", "--trust"],
    files = {},
    ...options
  }: { args?: string[]; files?: Record<string, string> } & Partial<PtyOptions> = {},
): Promise<Started> {
  const workspace = createWorkspace(files);
  const file = join(workspace.path, "../script.json");
  writeFileSync(file, JSON.stringify(script));
  const pty = openCli(workspace, ["--model", `script:${file}`, ...args], { columns: 90, rows: 26, ...options });
  opened.push({ pty, workspace });
  return { pty, workspace };
}

const ready = (pty: Pty) => pty.waitFor("Ask, or type /");
const shell = (command: string) => ({ calls: [{ name: "Shell", args: { command } }] });
const send = (pty: Pty, text: string) => pty.type(`${text}\r`);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Long enough for a question to count as read. */
const read = () => pause(600);

describe("the first run in a terminal", () => {
  it("the terminal asks for trust once before work begins", async () => {
    const { pty, workspace } = await start([{ text: "Hello there." }], { args: [] });
    await pty.waitFor("Do you trust this directory?");
    expect((await pty.screen()).join("\n")).toContain(workspace.path);
    await read();
    pty.type("y"); // this time: the next start asks again
    await ready(pty);
    await pty.waitFor(/^ courser {2}Script · /m);
    pty.type("\x04\x04");
    await pty.ended;
    const second = openCli(workspace, ["--model", `script:${join(workspace.path, "../script.json")}`]);
    opened.push({ pty: second, workspace });
    await second.waitFor("Do you trust this directory?");
    await read();
    second.type("a");
    await ready(second);
    send(second, "hi");
    await second.waitFor("Hello there.");
    await second.waitFor(/Done in/);
    second.type("\x04\x04");
    expect(await second.ended).toBe(0);
    const again = openCli(workspace, ["--model", `script:${join(workspace.path, "../script.json")}`]);
    opened.push({ pty: again, workspace });
    await ready(again);
  });

  it("the terminal exits if the directory is not trusted", async () => {
    const { pty } = await start([], { args: [] });
    await pty.waitFor("Do you trust");
    await read();
    pty.type("q");
    expect(await pty.ended).toBe(1);
  });
});

describe("typing in the terminal", () => {
  it("the terminal keeps every line of a paste in one message", async () => {
    const { pty } = await start([{ expect: ["one\ntwo\nthree\nfour"], text: "Four lines." }]);
    await ready(pty);
    pty.type("\x1b[200~one\ntwo\nthree\nfour\x1b[201~");
    await pty.waitFor("four");
    pty.type("\r");
    await pty.waitFor("Four lines.");
  });

  it("the terminal handles keys that arrive in one burst like typed ones, in order", async () => {
    const { pty } = await start([{ text: "First." }, { expect: ["hello"], text: "In a new chat." }]);
    await ready(pty);
    await pty.waitFor(/^ courser {2}Script · /m);
    pty.type("/plan\rone\r");
    await pty.waitFor("First.");
    await pty.waitFor(/^ plan · /m);
    await pty.waitFor(/Done in/);
    pty.type("/usage\r/clear\rhello\r");
    await pty.waitFor(/tokens out[\s\S]*^› \/clear$[\s\S]*^ courser {2}Script · [\s\S]*^› hello$[\s\S]*First\./m);
  });

  it("a message typed during a turn steers the run, can be taken back, and a second Enter sends it now", async () => {
    const script = [
      shell("sleep 0.8"),
      { expect: ["another way"], text: "Another way." },
      shell("sleep 30"),
      { expect: ["now"], text: "Now." },
    ];
    const { pty } = await start(script);
    await ready(pty);
    send(pty, "begin");
    await pty.waitFor(/sleep 0.8/);
    send(pty, "one way");
    await pty.waitFor("queued: 1");
    pty.type("\x1b[A");
    await pty.waitFor(/^› one way$/m);
    pty.type("\x15another way\r");
    await pty.waitFor("Another way.");
    send(pty, "again");
    await pty.waitFor(/sleep 30/);
    send(pty, "now");
    await pty.waitFor("queued: 1");
    pty.type("\r");
    await pty.waitFor("Now.");
    const lines = await pty.scrollback();
    expect(lines.filter((line) => line === "› another way")).toHaveLength(1);
    expect(lines.filter((line) => line.includes("one way"))).toEqual([]);
  });

  it("the terminal never sends an unknown slash command to the model", async () => {
    const { pty } = await start([{ text: "Not asked." }]);
    await ready(pty);
    send(pty, "/hlep");
    await pty.waitFor("There is no command /hlep. Did you mean /help?");
    await pty.waitFor(/^› \/hlep$/m);
    send(pty, "\x15&");
    await pty.waitFor("A prompt is missing");
    expect((await pty.scrollback()).join("\n")).not.toContain("Not asked");
  });

  it("Alt+Enter on a skill applies it to all messages until another is chosen", async () => {
    const skill = "---\nname: haiku-only\ndescription: Answers in verse\n---\nSeventeen syllables.";
    const { pty } = await start(
      [
        { expect: "Seventeen syllables.", text: "First verse." },
        { expect: "again\n</skill>", text: "Second verse." },
        { expect: "plain", text: "Prose." },
      ],
      { files: { ".cursor/skills/haiku-only/SKILL.md": skill } },
    );
    await ready(pty);
    await pty.waitFor(/^ courser {2}Script/m);
    pty.type("/haiku-o");
    await pty.waitFor("Answers in verse");
    pty.type("\x1b\r");
    await pty.waitFor(/^ haiku-only, run everything · /m);
    send(pty, "a pond");
    await pty.waitFor("First verse.");
    send(pty, "again");
    await pty.waitFor("Second verse.");
    send(pty, "/agent");
    await pty.waitFor(/^ agent · /m);
    send(pty, "plain");
    await pty.waitFor("Prose.");
    expect((await pty.scrollback()).filter((line) => line.startsWith("› "))).toEqual(
      expect.arrayContaining(["› /haiku-only a pond", "› /haiku-only again", "› plain"]),
    );
  });

  it("the terminal runs a command after ! for the user", async () => {
    const { pty } = await start([]);
    await ready(pty);
    pty.type("!");
    send(pty, "echo $((6*7)); exit 3");
    await pty.waitFor("│ 42");
    await pty.waitFor("exit 3");
    // Esc stops one that takes long; the next one waits until then.
    pty.type("!");
    send(pty, "printf '10%%\\r99%%\\n'; sleep 25");
    await pty.waitFor(/esc stops\n\s+│ 99%/);
    pty.type("!");
    send(pty, "echo after");
    await pty.quiet(300);
    pty.type("\x1b");
    await pty.waitFor(/sleep 25 +stopped\n\s+│ 99%/);
    await pty.waitFor("│ after");
  });
});

describe("permission prompts", () => {
  it('a permission prompt shows what, where and why, and "always" saves the narrowest rule that it offered', async () => {
    const { pty, workspace } = await start([shell("npm root"), shell("npm root"), { text: "Both done." }], {
      args: ["--trust", "--sandbox", "disabled"],
    });
    await ready(pty);
    send(pty, "go");
    await pty.waitFor("wants permission");
    await pty.waitFor("No allow rule covers it.");
    await read();
    pty.type("a");
    await pty.waitFor("From now on, without asking:");
    expect(existsSync(join(workspace.path, ".cursor/cli.json"))).toBe(false);
    await read();
    pty.type("p");
    await pty.waitFor("Both done.");
    expect(JSON.parse(readFileSync(join(workspace.path, ".cursor/cli.json"), "utf8")).permissions.allow).toEqual([
      "Shell(npm root)",
    ]);
  });

  it("a permission prompt in a small window shows the whole command, and Esc at the reason does not answer", async () => {
    const command = `echo ${"some more words ".repeat(8)}&& rm -rf build`;
    const { pty } = await start([shell(command), { text: "Over." }], { args: ["--trust"], columns: 60, rows: 15 });
    await ready(pty);
    send(pty, "go");
    await pty.waitFor("wants permission");
    const asked = (await pty.screen()).map((line) => line.replace(/^\s*│/, "")).join(" ");
    expect(asked.replace(/\s+/g, " ")).toContain(command);
    expect(asked).toContain("n  no, and say why");
    await read();
    pty.type("n");
    await pty.waitFor("No:");
    pty.type(`because ${"x".repeat(70)} the end`);
    await pty.waitFor(/No: ….*the end/);
    pty.type("\x1b");
    await pty.waitFor("wants permission");
    await read();
    pty.type("n\r");
    await pty.waitFor("Over.");
  });

  it("the terminal shows an edit's diff before it is made, and tells the agent why the user refused", async () => {
    const edit = { name: "Edit", args: { path: "a.txt", edits: [{ oldText: "two", newText: "2" }] } };
    const { pty, workspace } = await start([{ calls: [edit] }, { expect: ["use a three"], text: "As you say." }], {
      args: ["--trust"],
      files: { "a.txt": "one\ntwo\n", ".cursor/cli.json": '{"permissions":{"allow":["Write(b/**)"]}}' },
    });
    await ready(pty);
    send(pty, "go");
    await pty.waitFor("wants permission");
    await pty.waitFor(/2 - {2}two/);
    await pty.waitFor(/2 \+ {2}2/);
    await read();
    pty.type("n");
    await pty.waitFor("No:");
    send(pty, "use a three");
    await pty.waitFor("As you say.");
    expect(readFileSync(join(workspace.path, "a.txt"), "utf8")).toBe("one\ntwo\n");
  });

  it("keys typed before a permission prompt was visible do not answer it", async () => {
    const { pty, workspace } = await start(
      [{ steps: [{ delayMs: 400 }, { call: { name: "Shell", args: { command: "touch made" } } }] }, { text: "Over." }],
      {
        args: ["--trust", "--sandbox", "disabled"],
      },
    );
    await ready(pty);
    send(pty, "go");
    await pty.waitFor("Working");
    // Typed without a pause, before and while the question comes up.
    for (let count = 0; count < 30; count++) {
      pty.type("y");
      await pause(40);
    }
    await pty.waitFor("wants permission");
    expect(existsSync(join(workspace.path, "made"))).toBe(false);
    await read();
    pty.type("n");
    await pty.waitFor("No:");
    pty.type("\r");
    await pty.waitFor("Over.");
    await pty.waitFor(/^› y{5,}/m);
  });
});

describe("interrupting and leaving", () => {
  it("in the terminal Esc interrupts; Ctrl+C clears, then interrupts, then exits with the resume command", async () => {
    const { pty } = await start([shell("sleep 30"), shell("sleep 31"), { text: "Never." }]);
    await ready(pty);
    send(pty, "one");
    await pty.waitFor(/sleep 30/);
    pty.type("\x1b");
    await pty.waitFor(/Interrupted after/);
    send(pty, "two");
    await pty.waitFor(/sleep 31/);
    pty.type("half a line");
    await pty.waitFor("› half a line");
    pty.type("\x03");
    await pty.waitFor("Ask, or type /");
    pty.type("\x03");
    await pty.waitFor("Ctrl+C again quits");
    pty.type("\x03");
    await pty.ended;
    expect((await pty.scrollback()).join("\n")).toMatch(/Resume with: .* --resume [0-9a-f-]{36}/);
  });

  it("the terminal restores the shell after exit, Ctrl+Z and kill -9", async () => {
    const workspace = createWorkspace();
    const file = join(workspace.path, "../script.json");
    writeFileSync(file, JSON.stringify([{ text: "Hello." }]));
    const { cli } = await import("../support/run-cli.ts");
    const pty = openPty({
      command: "/bin/bash",
      args: ["--norc", "--noprofile", "-i"],
      cwd: workspace.path,
      env: { ...workspace.env, PS1: "prompt> " },
    });
    opened.push({ pty, workspace });
    await pty.waitFor("prompt>");
    send(pty, `'${process.execPath}' '${cli}' --trust --model 'script:${file}'`);
    await ready(pty);
    pty.type("\x1a");
    await pty.waitFor(/Stopped/);
    send(pty, "echo sus''pended");
    await pty.waitFor("suspended");
    send(pty, "fg");
    await pty.waitFor("Ask, or type /");
    send(pty, "hello?");
    await pty.waitFor("Hello.");
    const { execFileSync } = await import("node:child_process");
    const [child] = execFileSync("pgrep", ["-P", String(pty.pid)], { encoding: "utf8" })
      .trim()
      .split("\n");
    process.kill(Number(child), "SIGKILL");
    await pty.waitFor(/Killed/, { in: "scrollback" });
    await pause(300);
    send(pty, "stty -a | tr ';' '\\n' | grep -ow '[-]*icanon'; echo al''ive");
    await pty.waitFor(/^icanon\s+alive/m);
  });
});

describe("reading in the terminal", () => {
  it("the terminal shows a resumed conversation, and all of it in the pager", async () => {
    const first = await start([
      { text: "I ran it.", ...shell("printf 'l%s\\n' 1 2 3 4 5 6") },
      { text: "The **answer** is 42." },
    ]);
    await ready(first.pty);
    send(first.pty, "what is it?");
    await first.pty.waitFor("The answer is 42.");
    await first.pty.waitFor(/Done in/);
    first.pty.type("\x04\x04");
    await first.pty.ended;
    const pty = openCli(first.workspace, [
      "--continue",
      "--force",
      "--model",
      `script:${join(first.workspace.path, "../script.json")}`,
    ]);
    opened.push({ pty, workspace: first.workspace });
    await pty.waitFor("The answer is 42.");
    expect(await pty.screen()).toContain("› what is it?");
    pty.type("\x0f");
    await pty.waitFor("The whole conversation");
    expect(pty.isAlternate()).toBe(true);
    await pty.waitFor("│ l1");
    pty.type("/");
    await pty.waitFor(/^\/ *$/m);
    send(pty, "what is it");
    await pty.waitFor("n N");
    pty.type("q");
    await ready(pty);
    expect(pty.isAlternate()).toBe(false);
  });

  it("the terminal's review shows changes file by file, and takes comments on them", async () => {
    const write = (path: string) => ({ calls: [{ name: "Write", args: { path, content: `${path}\n` } }] });
    const { pty } = await start([write("one.txt"), write("two.txt"), { text: "Made." }]);
    await ready(pty);
    send(pty, "make them");
    await pty.waitFor(/Done in/);
    pty.type("\x12\x1b[B\r");
    await pty.waitFor(/^ one\.txt {2}\+1/m);
    pty.type("\x1b[C");
    await pty.waitFor(/^ two\.txt {2}\+1/m);
    pty.type("q");
    await pty.waitFor(/^ › two\.txt/m);
    pty.type("\ri");
    await pty.waitFor(/^› In @two\.txt:/m);
  });

  it("the user can go back to an earlier message with its files, and forward again", async () => {
    const write = (content: string) => ({ calls: [{ name: "Write", args: { path: "a.txt", content } }] });
    const { pty, workspace } = await start([write("first\n"), { text: "One." }, write("second\n"), { text: "Two." }]);
    const content = () => readFileSync(join(workspace.path, "a.txt"), "utf8");
    await ready(pty);
    send(pty, "make it");
    await pty.waitFor("One.");
    await pty.waitFor(/Done in/);
    send(pty, "change it");
    await pty.waitFor("Two.");
    await pty.quiet(400);
    expect(content()).toBe("second\n");
    pty.type("\x1b");
    await pty.waitFor("Esc again");
    await pty.waitFor(/\? keys$/m); // a second press would count no more, so the hint is gone
    pty.type("\x1b");
    await pty.waitFor("Esc again");
    pty.type("\x1b");
    await pty.waitFor("Rewind to before");
    pty.type("\r");
    await expect.poll(content, { timeout: 10_000 }).toBe("first\n");
    await pty.waitFor(/─\n› change it$/m); // in the editor
    await pty.quiet(400);
    expect((await pty.scrollback()).filter((line) => line.includes("Rewound to"))).toHaveLength(1);
    pty.type("\x15/rewind\r");
    await pty.waitFor("Undo the rewind");
    pty.type("\r");
    await expect.poll(content, { timeout: 10_000 }).toBe("second\n");
  });
});

describe("untrusted text in the terminal", () => {
  it("the terminal shows escape codes in text, output, names and titles, and does not execute them", async () => {
    const hostile = "\x1b]52;c;aGFjaw==\x07\x1b[2J\x1b[3J\x1b[1;1Hy\x1b[?1049h\x1b]0;owned\x07\u202eevil";
    const { pty } = await start([
      {
        text: `Look: ${hostile}\n\n`,
        ...shell(`printf '${hostile.replaceAll("\x1b", "\\033").replaceAll("\x07", "\\007")}\\n'`),
      },
      { text: "Over." },
    ]);
    await ready(pty);
    send(pty, "go");
    await pty.waitFor("Over.");
    expect(pty.isAlternate()).toBe(false);
    expect(pty.title()).not.toContain("owned");
    expect(pty.output()).not.toMatch(/\x1b\]52|\x1b\[[23]J|\x1b\[1;1H|\u202e/);
    expect((await pty.scrollback()).join("\n")).toContain("\\u202eevil");
  });
});

describe("resizing the terminal", () => {
  it("resizing the terminal during an answer leaves the scrollback unchanged", async () => {
    const steps = Array.from({ length: 60 }, (_, index) => [
      { text: `Paragraph number ${index}.\n\n` },
      { delayMs: 15 },
    ]).flat();
    const { pty } = await start([{ steps }]);
    await ready(pty);
    send(pty, "go");
    for (const [columns, rows] of [
      [60, 20],
      [120, 30],
      [40, 12],
      [90, 26],
    ] as const) {
      await pause(150);
      pty.resize(columns, rows);
    }
    await pty.waitFor(/Done in/);
    const shown = (await pty.scrollback()).filter((line) => line.startsWith("Paragraph number"));
    expect(shown).toEqual(Array.from({ length: 60 }, (_, index) => `Paragraph number ${index}.`));
  });
});
