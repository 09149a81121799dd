// The fake cursor-agent and the rules that examine one, by the built CLI: ours passes all, and every fault is caught.
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { profileOf, type VersionName, versions } from "../../src/protocol/profiles.ts";
import { type FaultName, faults } from "../../src/testing/fake.ts";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

let place: Workspace;
beforeEach(() => {
  place = createWorkspace({ "note.txt": "quokka\n" });
});
afterEach(() => place.remove());

type Report = { passes: boolean; verdicts: { rule: string; status: string; evidence?: string }[] };

async function examine(
  command: readonly string[],
  args: readonly string[] = [],
): Promise<Report & { exit: number | null }> {
  const run = await place.run(["conformance", "--format", "json", ...args, "--", process.execPath, cli, ...command], {
    timeoutMs: 120_000,
  });
  return { ...(JSON.parse(run.stdout) as Report), exit: run.exit };
}

const failed = ({ verdicts }: Report) => verdicts.filter(({ status }) => status === "fail");

it("our CLI passes every conformance rule", { timeout: 180_000 }, async () => {
  const report = await examine(["--model", "offline"]);
  expect(failed(report)).toEqual([]);
  expect(report.verdicts.filter(({ status }) => status === "skip")).toEqual([]);
  expect([report.exit, report.passes, report.verdicts.length > 35]).toEqual([0, true, true]);
});

describe("faults caught by conformance", () => {
  let script: string;
  /** What the fake plays is the note of the trials. Written once, since several read it at the same time. */
  beforeEach(() => {
    const replies = [{ calls: [{ name: "Read", args: { path: "note.txt" } }] }, { text: "quokka" }];
    script = place.file("script.json", JSON.stringify(replies));
  });
  it("the conformance check catches programs with faults that the fake CLI cannot play", async () => {
    const lines = (end: string) =>
      `process.stdout.write(${JSON.stringify(`{"type":"system","subtype":"init"}${end}`)});`;
    const evidence: Record<string, string> = {
      [lines("\r\n")]: "line 1 ends with \\r\\n, not with \\n",
      [lines("")]: "the last line does not end with a newline",
    };
    for (const [program, told] of Object.entries(evidence)) {
      const file = place.file("other.mjs", program);
      const run = await place.run([
        "conformance",
        "--format",
        "json",
        "--rule",
        "stream.lines",
        "--",
        process.execPath,
        file,
      ]);
      expect((JSON.parse(run.stdout) as Report).verdicts).toMatchObject([{ status: "fail", evidence: told }]);
    }
  });

  const examined = (fault?: FaultName) =>
    examine(
      ["fake", "--from", script, ...(fault ? ["--fault", fault] : [])],
      ["--rule", "stream", "--rule", "partial", "--timeout", fault?.startsWith("hang") ? "3" : "60"],
    );

  it("the fake CLI without a fault passes the conformance check", async () => {
    expect(failed(await examined())).toEqual([]);
  });

  const caughtBy: Record<FaultName, string> = {
    hang: "stream.ends",
    "hang-at-end": "stream.ends",
    crash: "stream.one-result",
    "cut-line": "stream.lines",
    noise: "stream.lines",
    "two-results": "stream.one-result",
    "no-result": "stream.one-result",
    slow: "stream.prompt",
    "wrong-exit": "stream.exit",
    unpaired: "stream.pairs",
    "other-text": "stream.text",
    "other-session": "stream.session",
  };
  it("the conformance check reports every fault that the fake CLI can simulate, under the expected rule", {
    timeout: 180_000,
  }, async () => {
    const names = Object.keys(faults) as FaultName[];
    const work = async () => {
      for (let fault = names.shift(); fault; fault = names.shift()) {
        const report = await examined(fault);
        const rules = failed(report).map(({ rule }) => rule);
        expect([fault, report.exit, rules]).toEqual([fault, 1, expect.arrayContaining([caughtBy[fault]])]);
        expect(failed(report).every(({ evidence }) => evidence)).toBe(true);
      }
    };
    await Promise.all([work(), work(), work()]);
  });
});

it("the conformance command reports for people and as JUnit, and refuses unknown options", async () => {
  const command = ["--", process.execPath, cli, "fake", "--fault", "noise"];
  const text = await place.run(["conformance", "--rule", "stream.lines", ...command]);
  expect([text.exit, text.stdout]).toEqual([1, expect.stringContaining("FAILED   stream.lines")]);
  expect(text.stdout).toContain("(node:42) Warning");
  const junit = await place.run([
    "conformance",
    "--rule",
    "stream.lines",
    "--rule",
    "flags",
    "--format",
    "junit",
    ...command,
  ]);
  expect(junit.stdout).toMatch(/<testsuite [^>]*tests="5" failures="1"/);
  expect(junit.stdout).toContain('<failure message="line 2: (node:42) Warning');
  // Named from where the user is, as a program or as what one is given; what it says of itself does not reach the terminal as it is.
  place.file(
    "wrapped.mjs",
    `#!${process.execPath}\nprocess.stdout.write('\\u001b[32m{"a":"ü"}\\u001b[0m\\r\\n{"type":"x"}\\r\\n');\n`,
  );
  chmodSync(join(place.path, "wrapped.mjs"), 0o755);
  for (const words of [["./wrapped.mjs"], [process.execPath, "wrapped.mjs"]]) {
    const other = await place.run(["conformance", "--rule", "stream.lines", "--", ...words]);
    expect([other.exit, other.stdout]).toEqual([1, expect.stringContaining('line 1: \\u001b[32m{"a":"ü"}')]);
  }
  expect((await place.run(["conformance", "--rule", "nothing", "--", "x"])).stderr).toContain(
    "neither a rule nor a group",
  );
  expect((await place.run(["conformance"])).stderr).toContain("needs the command");
  const none = await place.run(["conformance", "--rule", "stream", "--", "no-such-program-here"]);
  expect([none.exit, none.stdout]).toEqual([1, expect.stringContaining("no-such-program-here was not found")]);
  expect(none.stdout).toContain("0 rules passed, 1 failed, 13 skipped.");
});

describe("the fake CLI", () => {
  it.each(Object.keys(versions) as VersionName[])(
    "the fake CLI plays a recording in the stream of %s",
    async (version) => {
      const file = join(place.home, "run.jsonl");
      const calls = [
        { name: "Shell", args: { command: "exit 3" } },
        { name: "Write", args: { path: "new.txt", contents: "one\n" } },
        { name: "Read", args: { path: "note.txt" } },
      ];
      const env = { COURSER_COMPAT: versions[version] ?? "" };
      const script = [{ text: "Look.", calls }, { text: "ok" }];
      await place.play(script, ["--record", file]);
      const shown = await place.run([
        "fake",
        "--profile",
        version,
        "--from",
        file,
        "-p",
        "--output-format",
        "stream-json",
        "go",
      ]);
      // As our own CLI speaks when it is told to speak like that version.
      const fresh = createWorkspace({ "note.txt": "quokka\n" });
      try {
        const real = await fresh.play(script, [], version === "2026.09" ? {} : { env });
        const shapes = (run: typeof real) =>
          run
            .lines()
            .map((line) => shapeOf(line))
            .filter((shape) => !shape.startsWith('{type:"result"'));
        expect(shapes(shown).sort()).toEqual(shapes(real).sort());
      } finally {
        fresh.remove();
      }
      const result = shown.lines().at(-1)!;
      expect([shown.exit, "usage" in result]).toEqual([0, profileOf(versions[version]).usage]);
    },
  );

  it("the fake CLI plays a script to its error, counts tokens, and relocates a recording", async () => {
    const fakeOf = (file: string) =>
      place.run(["fake", "--from", file, "-p", "--output-format", "stream-json", "go"], { cwd: place.path });
    const error = { code: "MODEL_RATE_LIMIT", message: "slow down" };
    const usage = { inputTokens: 7, outputTokens: 2 };
    const calls = [{ name: "Read", args: { path: "note.txt" } }];
    const script = [{ calls, usage }, { expect: "what the file says", text: "Hm.", usage }, { error }];
    const fine = await fakeOf(place.file("fine.json", JSON.stringify(script.slice(0, 2))));
    expect(fine.lines().at(-1)).toMatchObject({ result: "Hm.", usage: { inputTokens: 14, outputTokens: 4 } });
    expect(fine.stdout).toContain(`"args":{"path":"${join(place.path, "note.txt")}"}`);
    const failing = await fakeOf(place.file("failing.json", JSON.stringify([script[0], script[2]])));
    expect([failing.exit, failing.lines().at(-1)!["result"]]).toEqual([1, "Error: slow down"]);
    expect(failing.lines().filter(({ type }) => type === "tool_call")).toHaveLength(2);
    const [file, other] = [join(place.home, "moved.jsonl"), createWorkspace({ "note.txt": "quokka\n" })];
    await other.play([{ calls }, { text: "ok" }], ["--record", file]);
    const moved = await fakeOf(file);
    expect([moved.exit, moved.stdout.includes(other.path)]).toEqual([0, false]);
    expect(moved.stdout).toContain(join(place.path, "note.txt"));
    other.remove();
  });

  it("the fake CLI plays scripts, takes a prompt from stdin, and resumes", async () => {
    const script = place.file("script.json", JSON.stringify([{ text: "Hello." }]));
    const plain = await place.run(["fake", "--from", script, "-p"], { stdin: "hi\n" });
    expect([plain.exit, plain.stdout]).toEqual([0, "Hello.\n"]);
    const id = "11111111-2222-4333-8444-555555555555";
    const resumed = await place.run([
      "fake",
      "--from",
      script,
      "-p",
      "--output-format",
      "stream-json",
      "--resume",
      id,
      "hi",
    ]);
    expect(resumed.lines().map(({ session_id: session }) => session)).toEqual([id, id, id, id]);
    writeFileSync(script, "{");
    expect((await place.run(["fake", "--from", script, "-p", "hi"])).exit).toBe(1);
    expect(readFileSync(join(place.path, "note.txt"), "utf8")).toBe("quokka\n");
  });
});

/** The keys of a line and of what is in it, and the values that a version decides on. */
function shapeOf(value: unknown, key = ""): string {
  if (Array.isArray(value)) return `[${value.length > 0 ? shapeOf(value[0]) : ""}]`;
  if (value !== null && typeof value === "object")
    return `{${Object.entries(value).map(([name, inner]) => `${name}:${shapeOf(inner, name)}`)}}`;
  return ["type", "subtype", "diffString", "linesRemoved"].includes(key) ? JSON.stringify(value) : typeof value;
}
