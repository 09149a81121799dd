// Servers that speak another wire than most, and tokens that a program prints, with the built CLI.
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { readToken } from "../../src/model/token.ts";
import {
  type ModelAnswer,
  type ModelServer,
  modelServer,
  type RecordedRequest,
} from "../../src/testing/kit/model-server.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let server: ModelServer;
let place: Workspace;

afterEach(async () => {
  await server.stop();
  place.remove();
});

async function begin(answers: ModelAnswer[] | ((request: RecordedRequest) => ModelAnswer)) {
  server = await modelServer(answers);
  place = createWorkspace();
}

describe("--endpoint-type", () => {
  test.each([
    [[], "openai-chat"],
    [["--endpoint-type", "openai"], "openai-chat"],
    [["--endpoint-type", "responses"], "openai-responses"],
    [["--endpoint-type", "anthropic"], "anthropic"],
    [["--endpoint-type", "google"], "gemini"],
  ])("the flags %j choose the type of a model endpoint", async (flags, wire) => {
    await begin([{ text: "ok" }]);
    const args = [
      "-p",
      "--trust",
      "-e",
      `${server.url}/v1`,
      ...flags,
      "--model",
      "m",
      "--api-key",
      "k",
      "-H",
      "X-Team: blue",
      "hi",
    ];
    expect(await place.run(args)).toMatchObject({ exit: 0, stdout: "ok\n" });
    expect(server.requests[0]).toMatchObject({ wire, key: "k", model: "m", headers: { "x-team": "blue" } });
  });

  test("--endpoint-type and courser.json use the same names for endpoint types", async () => {
    await begin([{ text: "ok" }]);
    const providers = { box: { type: "responses", baseUrl: `${server.url}/v1` } };
    place.file(join(place.config, "courser.json"), JSON.stringify({ providers }));
    expect(await place.run(["-p", "--trust", "--model", "box/m", "hi"])).toMatchObject({ stdout: "ok\n" });
    expect(server.requests[0]!.wire).toBe("openai-responses");
  });

  test("--endpoint-type without an endpoint is an error", async () => {
    await begin([]);
    const { exit, stderr } = await place.run(["-p", "--trust", "--endpoint-type", "google", "hi"]);
    expect({ exit, stderr }).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("pass --endpoint <url> as well"),
    });
  });

  test("an unknown --endpoint-type is an error", async () => {
    await begin([]);
    const { exit, stderr } = await place.run(["-p", "--trust", "-e", server.url, "--endpoint-type", "soap", "hi"]);
    expect({ exit, stderr }).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("openai, responses, anthropic"),
    });
  });
});

describe("token commands", () => {
  /** Counts how often it is run, and prints a token with the number. */
  const command = (more = "") =>
    `n=$(( $(cat runs 2>/dev/null || echo 0) + 1 )); echo $n > runs; echo token-number-$n${more}`;
  const call = { name: "Read", args: { path: "none" } };

  test.each(["openai", "responses", "anthropic", "google"])(
    "a token command runs once for %s, and again after the server answers 401",
    async (type) => {
      const used: string[] = [];
      await begin((request) => {
        used.push(request.key);
        if (request.key === "token-number-1" && used.length === 3) return { status: 401 };
        return used.length < 4 ? { toolCalls: [{ id: `c${used.length}`, ...call }] } : { text: "ok" };
      });
      const flags = ["-e", `${server.url}/v1`, "--endpoint-type", type, "--model", "m", "--token-command", command()];
      expect(await place.run(["-p", "--force", ...flags, "hi"])).toMatchObject({ exit: 0, stdout: "ok\n" });
      expect(used).toEqual([...Array(3).fill("token-number-1"), "token-number-2"]);
      expect(server.requests.every(({ headers }) => !headers["x-api-key"] && !headers["x-goog-api-key"])).toBe(true);
    },
  );

  test("a vendor's token command in courser.json is used in place of a key", async () => {
    await begin([{ text: "ok" }]);
    const anthropic = {
      baseUrl: `${server.url}/v1`,
      tokenCommand: 'echo \'{"access_token":"abc-def-ghi","expires_in":3600}\'',
    };
    place.file(join(place.config, "courser.json"), JSON.stringify({ providers: { anthropic } }));
    expect(await place.run(["-p", "--trust", "--model", "sonnet-4.5", "hi"])).toMatchObject({ stdout: "ok\n" });
    expect(server.requests[0]!.key).toBe("abc-def-ghi");
  });

  test("the commands models and doctor use a token command too", async () => {
    await begin([]);
    const url = `${server.url}/v1`;
    const listed = await place.run(["models", "-e", url, "--token-command", "echo abc-def-ghi"]);
    expect(listed.stdout).toContain("model - model");
    expect(server.requests.at(-1)!.headers.authorization).toBe("Bearer abc-def-ghi");
    const doctor = (command: string) => place.run(["doctor", "-e", url, "--model", "m", "--token-command", command]);
    expect((await doctor("echo abc-def-ghi")).stdout).toContain("a token from the token command");
    expect((await doctor("exit 4")).stdout).toContain("the token command gives no token");
  });

  test("when the model server asks for a wait beyond the time limit, the run ends at once", async () => {
    await begin([{ status: 429, headers: { "retry-after": "90" } }]);
    const flags = ["-p", "--trust", "-e", `${server.url}/v1`, "--model", "m", "--max-time", "60s"];
    const { exit, stderr } = await place.run([...flags, "hi"]);
    expect({ exit, stderr }).toMatchObject({ exit: 1, stderr: expect.stringContaining("asks to wait 90 s") });
  });

  test("when a token command fails, the run reports it without showing a token", async () => {
    await begin([{ status: 403, body: { error: "the token secret-token-1 is wrong" } }]);
    const flags = ["-p", "--trust", "-e", `${server.url}/v1`, "--model", "m", "--token-command"];
    const failed = await place.run([...flags, "echo no login >&2; exit 4", "hi"]);
    expect(failed).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(/exit code 4 \(no login\).*\[MODEL_AUTH_ERROR\]/),
    });
    const refused = await place.run([...flags, "echo secret-token-1", "hi"]);
    expect(refused.exit).toBe(1);
    expect(refused.stderr).not.toContain("secret-token-1");
  });
});

test("a token from a token command expires at its stated time, or at the time encoded in it", async () => {
  await begin([]);
  const soon = Math.floor(Date.now() / 1000) + 3600;
  const jwt = `h.${Buffer.from(JSON.stringify({ exp: soon })).toString("base64url")}.s`;
  const until = (soon - 60) * 1000;
  expect(readToken(` ${jwt}\n`)).toEqual({ text: jwt, until });
  expect(readToken(JSON.stringify({ token: "a", expires_at: soon }))).toEqual({ text: "a", until });
  const credential = { status: { token: "a", expirationTimestamp: new Date(soon * 1000).toISOString() } };
  expect(readToken(JSON.stringify(credential))).toEqual({ text: "a", until });
  expect(readToken("plain").until).toBe(Number.POSITIVE_INFINITY);
  expect(() => readToken("two words")).toThrow("it must print the token alone");
  expect(() => readToken("")).toThrow("it must print the token alone");
});
