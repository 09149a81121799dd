// Both ways into a CLI, what it is given on each, and command lines for Windows.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cliInput } from "../../src/adapter/cli-input.ts";
import { spawnWords } from "../../src/process/windows-command.ts";
import type { Turn, TurnMessage } from "../../src/protocol/turn-contract.ts";
import { adapterOf, model, note, scratchFolder, tell } from "./support.ts";

const folder = scratchFolder();
const seen = join(folder, "seen");
const profiles = { p: { env: { SEEN: seen, ACCOUNT: "work", GONE: null } } };

const user = (content: string) => [{ role: "user", content }];
const given = () => {
  const [count, ...args] = readFileSync(`${seen}.args`, "utf8").split("\0").slice(0, -1);
  expect(args).toHaveLength(Number(count));
  return { args, stdin: readFileSync(`${seen}.stdin`, "utf8") };
};

describe("prompt-style CLIs", () => {
  const ask = async (messages: TurnMessage[], more: object = {}) => {
    const entry = model(["echo", "-p", "--output-format", "stream-json"], {
      promptAsArg: true,
      authProfiles: ["p"],
      ...more,
    });
    const told = await tell(adapterOf({ a: entry }, { profiles }), { messages });
    expect(told.last.type, JSON.stringify(told.last)).toBe("done");
    return { ...given(), via: told.turn.attempts[0]!.via };
  };

  test("the command line is args, --approve-mcps --force, then the user's message, with nothing on stdin", async () => {
    expect(await ask(user("say hi"))).toEqual({
      args: ["-p", "--output-format", "stream-json", "--approve-mcps", "--force", "say hi"],
      stdin: "",
      via: "argument",
    });
  });

  test("the configuration can replace or remove the flags that the adapter adds to a CLI", async () => {
    expect((await ask(user("x"), { headlessFlags: [] })).args).toEqual(["-p", "--output-format", "stream-json", "x"]);
    expect((await ask(user("x"), { headlessFlags: ["--yolo"] })).args.slice(-2)).toEqual(["--yolo", "x"]);
  });

  test("the prompt is the user's last message, without a tool list", async () => {
    const messages = [...user("first"), { role: "assistant", content: "ok" }, ...user("second")];
    const { args } = await ask(messages);
    expect(args.at(-1)).toBe("second");
    expect(args.join(" ")).not.toContain("first");
  });

  test("a CLI does not take the adapter's prompt for an option, even if it looks like one", async () => {
    expect((await ask(user("--force-push"))).args.slice(-2)).toEqual(["--", "--force-push"]);
  });

  test("a long prompt goes through stdin completely, which is then closed", async () => {
    const prompt = "é".repeat(60_000);
    const { args, stdin, via } = await ask(user(prompt));
    expect(via).toBe("stdin");
    expect(stdin).toBe(prompt);
    expect(args).toEqual(["-p", "--output-format", "stream-json", "--approve-mcps", "--force"]);
  });

  test("the adapter sends a prompt again through stdin if the system refuses the command line as too long", async () => {
    const prompt = "x".repeat(90_000);
    const env = fullEnvironment(prompt.length / 2);
    const entry = model(["echo", "-p"], { promptAsArg: true, authProfiles: ["p"] });
    const adapter = adapterOf({ a: entry }, { profiles: { p: { env: { SEEN: seen, ...env } } } });
    const { last, turn } = await tell(adapter, { messages: user(prompt) });
    expect(last.type, JSON.stringify(last).slice(0, 500)).toBe("done");
    expect(turn.attempts).toMatchObject([{ via: "stdin", outcome: "ok" }]);
    expect(given().stdin).toBe(prompt);
  });
});

test("the adapter does not start a CLI again once it began to answer, whatever it prints on stderr", async () => {
  const script = `echo started >> ${folder}/starts; echo '{"type":"assistant_delta","data":{"content":"a"}}'; echo 'bash: /bin/ls: Argument list too long' >&2; exit 1`;
  const entry = model("", { command: "bash", args: ["-c", script, "cli"], promptAsArg: true });
  expect((await tell(adapterOf({ a: entry }))).last).toMatchObject({ type: "error", data: { code: "CLI_EXIT" } });
  expect(readFileSync(`${folder}/starts`, "utf8")).toBe("started\n");
});

/** Variables that leave room for so many bytes and no more: what a command line may have is shared with them. */
function fullEnvironment(room: number): Record<string, string> {
  const fill = (bytes: number) => {
    const env: Record<string, string> = {};
    for (let left = bytes, index = 0; left > 0; left -= 100_000, index++)
      env[`FILL_${index}`] = "x".repeat(Math.min(left, 100_000));
    return env;
  };
  const fits = (bytes: number) =>
    spawnSync("true", [], { env: { ...process.env, ...fill(bytes) } }).error === undefined;
  let low = 0;
  let high = 16_000_000;
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return fill(low - room);
}

describe("turn JSON on stdin", () => {
  test("the CLI gets one line with type, turnId, messages and tools, and its arguments unchanged", async () => {
    const adapter = adapterOf({ a: model(["read-line", "auto"], { authProfiles: ["p"] }) }, { profiles });
    const messages = [...user("line one\nline two"), { role: "assistant", content: "é" }, ...user("more")];
    const { last, turn } = await tell(adapter, { messages, tools: [note], turnId: "t1" });
    expect(last.type).toBe("done");
    expect(turn.attempts[0]!.via).toBe("turn");
    const stdin = readFileSync(`${seen}.stdin`, "utf8");
    expect(JSON.parse(stdin)).toEqual({ type: "turn", turnId: "t1", messages, tools: [note] });
  });

  test("a CLI that reads stdin until it is closed gets the whole turn", async () => {
    const adapter = adapterOf(
      { a: model("read-whole", { authProfiles: ["p"], closeStdinAfterMs: 200 }) },
      { profiles },
    );
    const { last, turn } = await tell(adapter);
    expect(last.type).toBe("done");
    expect(turn.attempts[0]!.stages).toEqual([]);
  });
});

test("the CLI gets the whole environment, overlaid with the profile's variables", async () => {
  process.env["GONE"] = "still here";
  try {
    const plain = await tell(adapterOf({ a: model("environment") }));
    expect(plain.text).toBe(`|${process.env["HOME"]}|still here|1`);
    const adapter = adapterOf({ a: model("environment", { authProfiles: ["p"] }) }, { profiles });
    expect((await tell(adapter)).text).toBe(`work|${process.env["HOME"]}|unset|1`);
  } finally {
    delete process.env["GONE"];
  }
});

describe("framing", () => {
  test("the frame format of a CLI's output is detected, or fixed by the configuration", async () => {
    expect((await tell(adapterOf({ a: model("sentinel") }))).text).toBe("Hello world");
    expect((await tell(adapterOf({ a: model("sentinel", { framing: "sentinel" }) }))).text).toBe("Hello world");
    const wrong = await tell(adapterOf({ a: model("sentinel", { framing: "ndjson" }) }));
    expect(wrong.last).toMatchObject({ type: "error", data: { code: "FRAME_MALFORMED" } });
  });

  test("the adapter accepts a stream with a supported protocol version or none, and refuses others", async () => {
    expect((await tell(adapterOf({ a: model(["version", "1.0"]) }))).last.type).toBe("done");
    expect((await tell(adapterOf({ a: model("answer") }))).last.type).toBe("done");
    const refused = await tell(adapterOf({ a: model(["version", "2.0"]) }));
    expect(refused.last).toMatchObject({ type: "error", data: { code: "FRAME_VERSION" } });
    expect(refused.text).toBe("");
  });
});

describe("command lines on Windows", () => {
  const turn = (content: string): Turn => ({ type: "turn", turnId: "t1", messages: user(content), tools: [] });
  const official = {
    command: "agent.cmd",
    args: ["-p", "--output-format", "stream-json", "--stream-partial-output"],
    promptAsArg: true,
    headlessFlags: ["--approve-mcps", "--force"],
    closeStdinAfterMs: 1,
  };
  const words = (content: string, command = "agent.cmd") => {
    const input = cliInput({ ...official, command }, turn(content), "win32");
    if (input.promptVia !== "argument") return input.promptVia;
    return spawnWords(input.command, [...input.args!, input.prompt!], { platform: "win32" });
  };

  test("agent.cmd is started by cmd.exe with every word quoted for both parsers", () => {
    expect(words("say hi")).toEqual({
      program: "cmd.exe",
      args: [
        "/d",
        "/s",
        "/c",
        `"^"agent.cmd^" ^^^"-p^^^" ^^^"--output-format^^^" ^^^"stream-json^^^" ^^^"--stream-partial-output^^^" ^^^"--approve-mcps^^^" ^^^"--force^^^" ^^^"say^^^ hi^^^""`,
      ],
      verbatim: true,
    });
  });

  test("programs other than .cmd files get their arguments unchanged", () => {
    expect(words("say hi", "agent.exe")).toEqual({
      program: "agent.exe",
      args: [...official.args, "--approve-mcps", "--force", "say hi"],
      verbatim: false,
    });
  });

  test("prompts over 4,000 characters or with a line break go through stdin", () => {
    expect(words("x".repeat(4000))).toMatchObject({ program: "cmd.exe" });
    expect(words("x".repeat(4001))).toBe("stdin");
    expect(words("x".repeat(4001), "agent.exe")).toBe("stdin");
    expect(words("one\ntwo")).toBe("stdin");
    expect(words("one\ntwo", "agent.exe")).toMatchObject({ program: "agent.exe" });
    // What the quoting makes of it must fit as well.
    expect(words('"'.repeat(3900))).toBe("stdin");
  });

  test.each([
    'a "quoted" word',
    "100% of %PATH% & echo pwned | more > out < in",
    "back\\slash\\",
    'back\\"slash\\\\"',
    "caret ^ and ^^",
    "(brackets) [and] {braces}, commas; semicolons = !bang! *?",
    "日本語 é",
    "-- --force",
    "'single' `back`",
  ])("the program receives exactly what was given: %s", (prompt) => {
    const line = words(prompt);
    if (typeof line !== "object") throw new Error("not an argument");
    const inner = line.args[3]!.slice(1, -1);
    // The shell reads the line, then the batch file's line with %* in it; then the program takes its line apart.
    const [command, ...args] = splitLine(withoutCarets(inner));
    expect(command).toBe("agent.cmd");
    expect(splitLine(withoutCarets(lineBehind(withoutCarets(inner)))).at(-1)).toBe(prompt);
    expect(args.length).toBeGreaterThan(5);
    expect(unquotedMeta(inner)).toEqual([]);
  });
});

/** What cmd.exe makes of carets; a bare quotation mark would switch that off until the next one. */
function withoutCarets(line: string): string {
  let out = "";
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === "^" && !isQuoted) out += line[++at] ?? "";
    else {
      if (line[at] === '"') isQuoted = !isQuoted;
      out += line[at];
    }
  }
  return out;
}

/** Everything behind the program: what `%*` stands for. */
function lineBehind(line: string): string {
  return line.slice(line.indexOf(" ") + 1);
}

/** Characters that would mean something to cmd.exe. */
function unquotedMeta(line: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < line.length; at++) {
    if (line[at] === "^") at++;
    else if (/[&|<>()%!"]/.test(line[at]!)) found.push(line.slice(at, at + 10));
  }
  return found;
}

/** As the C runtime takes a line apart. */
function splitLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const [slashes] = /^\\*/.exec(line.slice(at))!;
    const next = line[at + slashes.length];
    if (slashes.length > 0) {
      const isBeforeQuote = next === '"';
      word = (word ?? "") + "\\".repeat(isBeforeQuote ? Math.floor(slashes.length / 2) : slashes.length);
      at += slashes.length - 1;
      if (isBeforeQuote && slashes.length % 2 === 1) {
        word += '"';
        at++;
      }
    } else if (line[at] === '"') {
      isQuoted = !isQuoted;
      word ??= "";
    } else if (line[at] === " " && !isQuoted) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + line[at];
  }
  return word === undefined ? words : [...words, word];
}
