// What a script asks of print mode: an answer by a schema, an answer in a file, several turns in one process, another model.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

let place: Workspace;
beforeAll(() => {
  place = createWorkspace();
});
afterAll(() => place.remove());

const schema = {
  type: "object",
  properties: { bugs: { type: "array", items: { type: "string" } }, score: { type: "integer", minimum: 0 } },
  required: ["bugs"],
  additionalProperties: false,
};
const good = { bugs: ["off by one"], score: 3 };

describe("--json-schema", () => {
  it("with a JSON schema, the result holds the value beside the text, and the model is told the schema", async () => {
    place.file("schema.json", JSON.stringify(schema));
    const script = [
      { text: "I look.", calls: [{ name: "Shell", args: { command: "echo '{\"bugs\": []}'" } }] },
      { text: `Here it is:\n\`\`\`json\n${JSON.stringify(good)}\n\`\`\`` },
    ];
    const run = await place.play(script, ["--json-schema", "schema.json", "-o", "last.json"]);
    expect(run.exit, run.stderr).toBe(0);
    const results = run.lines().filter((line) => line["type"] === "result");
    expect(results).toMatchObject([{ subtype: "success", structured_output: good }]);
    // The words are those of the stream, as ever.
    expect(results[0]!["result"]).toBe(`I look.${script[1]!.text}`);
    expect(JSON.parse(readFileSync(join(place.path, "last.json"), "utf8"))).toEqual(good);
  });

  it("with a JSON schema, text mode prints only the value", async () => {
    place.file("answer.json", JSON.stringify([{ text: `Yes: ${JSON.stringify(good)}.` }]));
    const args = ["-p", "--force", "--model", "script:answer.json", "--json-schema", JSON.stringify(schema), "go"];
    const run = await place.run(args);
    expect({ exit: run.exit, value: JSON.parse(run.stdout) }).toEqual({ exit: 0, value: good });
    const json = await place.run([...args, "--output-format", "json"]);
    expect(json.lines()).toMatchObject([{ structured_output: good }]);
  });

  it("when an answer does not fit the JSON schema, the run asks the model once more and says why", async () => {
    const run = await place.play(
      [{ text: '{"bugs":[1]}' }, { text: JSON.stringify({ bugs: [] }) }],
      ["--json-schema", JSON.stringify(schema)],
    );
    const lines = run.lines();
    const prompts = lines.filter((line) => line["type"] === "user").map((line) => line["message"].content[0].text);
    expect(prompts).toEqual(["go", expect.stringContaining("answer.bugs[0] must be string")]);
    expect(lines.at(-1)).toMatchObject({ subtype: "success", structured_output: { bugs: [] } });
  });

  it("when no answer fits the JSON schema, the run ends with an error code and no value", async () => {
    const run = await place.play(
      [{ text: "no" }, { text: '{"bugs":"none"}' }, { text: '{"bugs":[]}' }],
      ["--json-schema", JSON.stringify(schema)],
    );
    expect(run.exit).toBe(1);
    const result = run.lines().at(-1)!;
    expect(result).toMatchObject({ subtype: "error", is_error: true, error_code: "OUTPUT_SCHEMA" });
    expect(result["result"]).toContain("answer.bugs must be array");
    expect(result).not.toHaveProperty("structured_output");
    expect(run.stderr).toMatch(/\[OUTPUT_SCHEMA\]\n$/);
  });

  it("the offline model is not asked again when its answer fits the JSON schema", async () => {
    const run = await place.run(["-p", "--force", "--output-format", "json", "--json-schema", "{}", "what is 2+2?"]);
    expect(run.lines()).toMatchObject([{ error_code: "OUTPUT_SCHEMA" }]);
  });

  it("null is a valid answer for a JSON schema that allows it", async () => {
    const run = await place.play([{ text: "null" }], ["--json-schema", '{"type":"null"}']);
    expect(run.lines().at(-1)).toHaveProperty("structured_output", null);
  });

  it.each([
    ["nowhere.json", "FILE_UNREADABLE", /cannot be read/],
    ["{", "USAGE", /not valid JSON/],
    ['{"properties":{"a":{"requierd":[]}}}', "USAGE", /#\/properties\/a\/requierd.*did you mean "required"/],
    ['{"$ref":"https://example.com/a"}', "USAGE", /external/],
  ])("%s stops a print-mode run before it begins", async (given, code, message) => {
    const run = await place.play([{ text: "{}" }], ["--json-schema", given]);
    expect(run.lines()).toMatchObject([{ type: "result", error_code: code, session_id: "" }]);
    expect(run.lines()[0]!["result"]).toMatch(message);
    expect(run.exit).toBe(code === "USAGE" ? 2 : 1);
  });
});

describe("--output-last-message", () => {
  it("--output-last-message writes what text mode would print: the words after the last tool call", async () => {
    const script = [{ text: "First.", calls: [{ name: "LS", args: {} }] }, { text: "Last words." }];
    const run = await place.play(script, ["--output-last-message", "last.txt"]);
    expect(run.exit, run.stderr).toBe(0);
    const file = join(place.path, "last.txt");
    expect(readFileSync(file, "utf8")).toBe("Last words.\n");
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it("--output-last-message empties the file after a failure, and keeps a link a link", async () => {
    place.file("target.txt", "an earlier answer");
    symlinkSync("target.txt", join(place.path, "link.txt"));
    const run = await place.play([{ error: "down", code: "MODEL_SERVER_ERROR" }], ["-o", "link.txt"]);
    expect(run.exit).toBe(1);
    expect(readFileSync(join(place.path, "target.txt"), "utf8")).toBe("");
  });

  it("--output-last-message with a file that cannot be written stops the run before it asks the model", async () => {
    mkdirSync(join(place.path, "folder"));
    for (const target of ["folder", "no/such/file.txt"]) {
      const run = await place.play([{ text: "never said" }], ["-o", target]);
      expect(run.exit).not.toBe(0);
      expect(run.lines()).toHaveLength(1);
      expect(run.stdout).not.toContain("never said");
    }
  });

  it("an output file that fails at the end gives exactly one result, an error", async () => {
    mkdirSync(join(place.path, "out"));
    const script = [{ calls: [{ name: "Shell", args: { command: "rm -rf out" } }] }, { text: "Done." }];
    const run = await place.play(script, ["-o", "out/last.txt"]);
    const results = run.lines().filter((line) => line["type"] === "result");
    expect(results).toMatchObject([{ is_error: true, error_code: "STORE_IO" }]);
    expect({ exit: run.exit, said: run.stderr }).toEqual({
      exit: 1,
      said: expect.stringContaining("does not exist. Create it first"),
    });
  });

  it("the export command's -o names its own output file", async () => {
    const run = await place.run(["export", "-1", "-o", "chat.md"]);
    expect(run.exit, run.stderr).toBe(0);
    expect(existsSync(join(place.path, "chat.md"))).toBe(true);
  });
});

const user = (content: unknown) => `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`;
const streaming = ["-p", "--force", "--input-format", "stream-json", "--output-format", "stream-json"];

describe("--input-format stream-json", () => {
  it("with several prompts on stdin, the stream has one init, one chat and one result per prompt", async () => {
    const stdin = `\uFEFF${user("what is 2+2?")}\r\n${user([{ type: "text", text: "write 'x' to made.txt" }])}${user("what is 3+3?").trim()}`;
    const run = await place.run(streaming, { stdin });
    expect(run.exit, run.stderr).toBe(0);
    const lines = run.lines();
    expect(lines.filter((line) => line["type"] === "system")).toHaveLength(1);
    expect(new Set(lines.map((line) => line["session_id"])).size).toBe(1);
    const results = lines.filter((line) => line["type"] === "result");
    expect(results.map((line) => [line["subtype"], line["result"].split("\n")[0]])).toEqual([
      ["success", "2 + 2 = 4"],
      ["success", expect.stringContaining("made.txt")],
      ["success", "3 + 3 = 6"],
    ]);
    expect(new Set(results.map((line) => line["request_id"])).size).toBe(3);
    expect(existsSync(join(place.path, "made.txt"))).toBe(true);
    const show = await place.run(["sessions", "show", results[0]!["session_id"], "--format", "json"]);
    expect(show.stdout).toContain("what is 3+3?");
  });

  it("with prompts on stdin, a host may wait for each result before it sends the next prompt", async () => {
    const child = spawn(process.execPath, [cli, ...streaming], { cwd: place.path, env: place.env });
    const results: string[] = [];
    const questions = ["what is 1+1?", "what is 2*3?", "what is 10-1?"];
    child.stdin.write(user(questions.shift()));
    for await (const text of createInterface({ input: child.stdout })) {
      const line = JSON.parse(text);
      if (line.type !== "result") continue;
      results.push(line.result);
      const next = questions.shift();
      if (next) child.stdin.write(user(next));
      else child.stdin.end();
    }
    expect(results).toEqual(
      ["1 + 1 = 2", "2 * 3 = 6", "10 - 1 = 9"].map((each) => expect.stringMatching(each.slice(-1))),
    );
    expect(child.exitCode ?? (await new Promise((done) => child.once("exit", done)))).toBe(0);
  });

  it("a cancel line on stdin ends the running turn, and the next prompt works", async () => {
    const child = spawn(process.execPath, [cli, ...streaming], { cwd: place.path, env: place.env });
    const results: Record<string, unknown>[] = [];
    child.stdin.write(user("run sleep 30"));
    for await (const text of createInterface({ input: child.stdout })) {
      const line = JSON.parse(text);
      if (line.type === "tool_call" && line.subtype === "started") child.stdin.write('{"type":"cancel"}\n');
      if (line.type !== "result") continue;
      results.push(line);
      if (results.length === 1) child.stdin.end(user("what is 2+2?"));
    }
    expect(results).toMatchObject([
      { subtype: "error", error_code: "INTERRUPTED" },
      { subtype: "success", result: "2 + 2 = 4" },
    ]);
    expect(child.exitCode ?? (await new Promise((done) => child.once("exit", done)))).toBe(130);
  });

  it.each(["what is 2+2?", "sing"])(
    "after the '%s' line, a signal ends the process at once, without a second result",
    async (prompt) => {
      const child = spawn(process.execPath, [cli, ...streaming], { cwd: place.path, env: place.env });
      const lines: Record<string, unknown>[] = [];
      child.stdin.write(user(prompt));
      for await (const text of createInterface({ input: child.stdout })) {
        lines.push(JSON.parse(text));
        if (lines.at(-1)!["type"] === "result") child.kill("SIGTERM");
      }
      expect(lines.filter((line) => line["type"] === "result")).toHaveLength(1);
      expect(child.exitCode ?? (await new Promise((done) => child.once("exit", done)))).toBe(143);
    },
  );

  it.each([
    ["no JSON", "hello\n", "FRAME_MALFORMED", /Line 2 of stdin.*hello/],
    ["another type", '{"type":"control_request"}\n', "FRAME_SCHEMA", /Line 2 of stdin: .*"user", or a control line/],
    ["no message", '{"type":"user"}\n', "FRAME_SCHEMA", /no message.*A prompt is such a line/],
    ["another role", '{"type":"user","message":{"role":"assistant","content":"x"}}\n', "FRAME_SCHEMA", /role/],
    ["another block", user([{ type: "tool_result", tool_use_id: "1" }]), "FRAME_SCHEMA", /block/],
    ["nothing said", user("  "), "FRAME_SCHEMA", /empty/],
    [
      "a picture that is none",
      user([{ type: "image", source: { type: "base64", data: "eA==" } }]),
      "FRAME_SCHEMA",
      /PNG/,
    ],
    ["bytes that are not UTF-8", "\xff", "FRAME_ENCODING", /Line 2/],
    ["a line that was cut", '{"type":"us', "FRAME_TRUNCATED", /Line 2/],
  ])("%s: earlier turns are completed, then a clear error follows", async (_, bad, code, message) => {
    const good = Buffer.from(user("what is 2+2?"));
    const stdin = Buffer.concat([good, Buffer.from(bad, bad === "\xff" ? "latin1" : "utf8")]);
    const run = await place.run(streaming, { onStart: (child) => child.stdin!.end(stdin), stdin: "open" });
    const results = run.lines().filter((line) => line["type"] === "result");
    expect(results).toMatchObject([{ result: "2 + 2 = 4" }, { is_error: true, error_code: code }]);
    expect(results[1]!["result"]).toMatch(message);
    expect(run.exit).toBe(1);
  });

  it("print mode with prompts on stdin refuses an input without prompts, and words on the command line", async () => {
    const empty = await place.run(streaming, { stdin: "\n\n" });
    expect(empty.lines().at(-1)).toMatchObject({ type: "result", error_code: "USAGE" });
    expect(empty.exit).toBe(2);
    const words = await place.run([...streaming, "hello"], { stdin: "" });
    expect(words.lines()).toMatchObject([{ type: "result", error_code: "USAGE" }]);
  });

  it("many prompts sent on stdin at once are answered in turn and leave nothing behind", async () => {
    const numbers = Array.from({ length: 130 }, (_, index) => index);
    const stdin = numbers.map((number) => user(`what is ${number}+1?`)).join("");
    const run = await place.run(["-p", "--force", "--input-format", "stream-json"], { stdin });
    expect({ exit: run.exit, stderr: run.stderr }).toEqual({ exit: 0, stderr: "" });
    expect(run.stdout).toBe(numbers.map((number) => `${number} + 1 = ${number + 1}\n`).join(""));
  });

  it("--output-format text and json work with prompts on stdin, and a JSON schema applies to every turn", async () => {
    const stdin = user("what is 2+2?") + user("what is 3+3?");
    const text = await place.run(["-p", "--force", "--input-format", "stream-json"], { stdin });
    expect(text.stdout).toBe("2 + 2 = 4\n3 + 3 = 6\n");
    writeFileSync(join(place.path, "two.json"), JSON.stringify([{ text: "[1]" }, { text: "[2]" }]));
    const run = await place.run(
      [
        "-p",
        "--force",
        "--input-format",
        "stream-json",
        "--output-format",
        "json",
        "--model",
        "script:two.json",
        "--json-schema",
        '{"type":"array"}',
      ],
      { stdin },
    );
    expect(run.lines().map((line) => line["structured_output"])).toEqual([[1], [2]]);
  });
});

describe("--fallback-model", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await modelServer((request) =>
      request.model === "good"
        ? { text: "From the good one." }
        : { status: 404, body: { error: { message: "no such model" } } },
    );
  });
  afterAll(() => server.stop());

  it("a run asks fallback models in order when the first cannot answer, and the stream says so", async () => {
    const args = ["-p", "--force", "--output-format", "stream-json", "-e", `${server.url}/v1`, "--model", "bad"];
    const run = await place.run([...args, "--fallback-model", "worse, good", "hi"]);
    expect(run.lines().at(-1)).toMatchObject({ subtype: "success", result: "From the good one." });
    expect(
      run
        .lines()
        .filter((line) => line["subtype"] === "model_change")
        .at(-1),
    ).toMatchObject({ model: "good" });
    expect(server.requests.map((request) => request.model)).toEqual(["bad", "worse", "good"]);
    const repeated = await place.run([...args, "--fallback-model", "worse", "--fallback-model", "good", "hi"]);
    expect(repeated.lines().at(-1)).toMatchObject({ result: "From the good one." });
    const without = await place.run([...args, "hi"]);
    expect(without.exit).toBe(1);
  });

  it("a run reports at once a fallback model that it cannot use", async () => {
    const run = await place.run([
      "-p",
      "--force",
      "--output-format",
      "json",
      "--fallback-model",
      "gtp-5",
      "what is 2+2?",
    ]);
    expect(run.lines()).toMatchObject([{ is_error: true, error_code: "MODEL_UNKNOWN" }]);
    expect(run.stderr).toMatch(/--fallback-model gtp-5: .*gpt-5/);
  });

  it("the init line names the resumed session even if its run cannot start", async () => {
    const { stdout } = await place.run(["create-chat"]);
    const id = stdout.trim();
    const stream = ["-p", "--trust", "--output-format", "stream-json"];
    const run = await place.run([...stream, "--resume", id, "--model", "gtp-5", "hi"]);
    expect(run.lines()).toMatchObject([
      { type: "system", subtype: "init", session_id: id, model: "gtp-5", cwd: place.path },
      { type: "result", is_error: true, error_code: "MODEL_UNKNOWN", session_id: id },
    ]);
    for (const args of [
      ["--model", "gtp-5"],
      ["--resume", id, "--nonsense"],
      ["--resume", crypto.randomUUID()],
    ])
      expect((await place.run([...stream, ...args, "hi"])).lines()).toMatchObject([{ type: "result", is_error: true }]);
  });

  it("print mode sends an image from stdin to the model", async () => {
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    const stdin = user([
      { type: "text", text: "what is this?" },
      { type: "image", source: { type: "base64", media_type: "image/png", data } },
    ]);
    const run = await place.run([...streaming, "-e", `${server.url}/v1`, "--model", "good"], { stdin });
    expect(run.exit, run.stderr).toBe(0);
    expect(server.requests.at(-1)!.body.toString()).toContain(data);
  });
});
