// Small parts of a run: images, folders, tokens, services, answers, deliveries, and whether anything in the workspace has changed.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSession } from "../../src/agent/agent.ts";
import { largestImage } from "../../src/protocol/image.ts";
import type { Message } from "../../src/protocol/message.ts";
import type { TurnEnding } from "../../src/protocol/run.ts";
import { answerSchema } from "../../src/run/answer-schema.ts";
import { changedSince } from "../../src/run/changed-since.ts";
import { sweepDeleted } from "../../src/run/delete-chats.ts";
import { DeliveredEndings } from "../../src/run/delivered-endings.ts";
import { readImage } from "../../src/run/images.ts";
import { realDirectory } from "../../src/run/real-directory.ts";
import { codeSearchAccess, serviceKeys, webAccess } from "../../src/run/services.ts";
import type { Setup } from "../../src/run/setup.ts";
import { perMode, type RunState } from "../../src/run/state.ts";
import { runTokenCommand } from "../../src/run/token-command.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-small-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const said = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code}: ${message.replaceAll(folder, "~")}`;
  }
  return "nothing";
};
const make = (name: string, text: string | Buffer = "") => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe("images that are named", () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

  it("--image reads a picture with its type", () => {
    expect(readImage(make("a.png", png))).toEqual({ mime: "image/png", base64: png.toString("base64") });
    const largest = make("large.png", png);
    truncateSync(largest, largestImage);
    expect(readImage(largest).mime).toBe("image/png");
    truncateSync(largest, largestImage + 1);
    expect(said(() => readImage(largest))).toMatch(
      /^FILE_UNREADABLE: The image ~\/large\.png cannot be read: it is larger than [\d.]+ MiB\. Pass another/,
    );
  });

  it("--image refuses a file that is no picture, with the reason", () => {
    const why = (path: string) => said(() => readImage(path));
    expect(why(make("a.txt", "text"))).toContain(
      "~/a.txt is not a PNG, JPEG, GIF or WebP image. Pass another with --image",
    );
    expect(why(folder)).toContain("cannot be read: it is not a file");
    expect(why(join(folder, "none"))).toContain("cannot be read: no such file");
  });
});

it("a directory flag resolves to the real path, and refuses what is no directory", () => {
  const file = make("file");
  mkdirSync(join(folder, "real"));
  symlinkSync("real", join(folder, "link"));
  expect(realDirectory(join(folder, "link"), "--x")).toBe(join(folder, "real"));
  expect(said(() => realDirectory(file, "--x"))).toBe(
    "CWD_MISSING: ~/file is not a directory. Pass one with --x <path>.",
  );
  expect(said(() => realDirectory(join(folder, "none"), "--x"))).toBe(
    "CWD_MISSING: The directory ~/none does not exist or cannot be read. Pass another with --x <path>.",
  );
});

describe("whether anything has changed", () => {
  const changed = async (work: () => void, closed: string) => {
    const files = [make("a/b/c.txt"), make(".git/HEAD"), make(".git/config"), make(".git/hooks/x"), make("closed/d")];
    const folders = ["a", "a/b", ".git", ".git/hooks", "closed", "."].map((name) => join(folder, name));
    const begun = Math.max(...[...files, ...folders].map((path) => statSync(path).ctimeMs)) + 0.001;
    // A file system counts in steps of some milliseconds: what follows is later.
    const probe = `${folder}.probe`;
    do writeFileSync(probe, "");
    while (statSync(probe).ctimeMs < begun);
    rmSync(probe);
    work();
    return changedSince([folder], begun, join(folder, closed));
  };

  it.each<[string, () => void, boolean]>([
    ["nothing", () => {}, false],
    ["a file", () => make("a/b/c.txt", "x"), true],
    ["a new file", () => make("a/new"), true],
    ["a file that was moved", () => renameSync(join(folder, "a/b/c.txt"), join(folder, "a/c.txt")), true],
    ["what commands of git change", () => make(".git/HEAD", "x"), false],
    ["settings of git", () => make(".git/config", "x"), true],
    ["a hook of git", () => make(".git/hooks/x", "x"), true],
    ["a closed folder", () => make("closed/d", "x"), false],
  ])("the check for changes since a time reacts to %s as expected", async (_what, work, expected) => {
    expect(await changed(work, "closed")).toBe(expected);
  });

  it("the check for changes ignores a missing folder, and treats a lone .git file like any other", async () => {
    expect(await changedSince([join(folder, "none")], 0, "")).toBe(false);
    const begun = Date.now() - 60_000;
    expect(await changedSince([make("worktree/.git", "gitdir: x")], begun, "")).toBe(true);
  });
});

describe("a command that prints a token", () => {
  it("a token command runs in the home directory, and its output is the token", async () => {
    const env = { PATH: process.env["PATH"], WORD: "to" };
    expect(await runTokenCommand('printf "%s" "${WORD}ken in $PWD"', { env })).toBe(
      `token in ${realpathSync(homedir())}`,
    );
  });

  it.each([
    ["exit 3", "it ended with exit code 3: exit 3"],
    ["echo why >&2; exit 1", "it ended with exit code 1 (why): echo why >&2; exit 1"],
  ])("a token command that fails with %s says so", async (command, message) => {
    await expect(runTokenCommand(command, { env: { PATH: process.env["PATH"] } })).rejects.toThrow(message);
  });

  it("cancelling a run ends its token command", async () => {
    const running = runTokenCommand("exec sleep 60", {
      env: { PATH: process.env["PATH"] },
      signal: AbortSignal.timeout(50),
    });
    await expect(running).rejects.toThrow("it ended with exit code null");
  });
});

describe("services of a run", () => {
  const setup = (courser: object, env: Record<string, string> = {}) =>
    ({
      settings: { courser: { providers: {}, ...courser } },
      rules: [],
      host: { env },
      configDir: "/c",
    }) as unknown as Setup;
  const state = { mode: "plan" } as RunState;

  it("web access follows the run's current mode, and an unknown search engine is refused", () => {
    const web = webAccess(setup({}), state);
    expect(web.mode).toBe("plan");
    state.mode = "force";
    expect([web.mode, web.engine]).toEqual(["force", undefined]);
    expect(said(() => webAccess(setup({ search: { engine: "none" } }), state))).toMatch(
      /^CONFIG_INVALID: courser\.json: "search\.engine" must be one of .*searxng/,
    );
    expect(said(() => webAccess(setup({ search: { engine: "brave" } }), state))).toBe("nothing");
  });

  it("the run knows the API keys of all services that have one set", () => {
    const courser = {
      providers: { one: { keyEnv: "ONE", keys: ["TWO", "NONE"] }, other: {} },
      search: { keyEnv: "SEARCH" },
      embeddings: { keyEnv: "VECTORS" },
    };
    const env = { ONE: "1", TWO: "2", SEARCH: "3", VECTORS: "4", EMPTY: "" };
    expect(serviceKeys(setup(courser, env), { engine: { key: "5" } } as never)).toEqual(["5", "1", "2", "3", "4"]);
    expect(serviceKeys(setup({ search: { keyEnv: "EMPTY" } }, env), {} as never)).toEqual([]);
  });

  it("code search stores its index if the run may store, and uses embeddings if both fields are set", () => {
    const embeddings = { url: "http://e.test", model: "m" };
    expect(codeSearchAccess(setup({}), { isKept: false })).toEqual({});
    expect(codeSearchAccess(setup({ embeddings }), { isKept: true })).toEqual({ configDir: "/c", embeddings });
    expect(
      codeSearchAccess(setup({ embeddings: { ...embeddings, keyEnv: "K" } }, { K: "k" }), { isKept: false }),
    ).toEqual({
      embeddings: { ...embeddings, key: "k" },
    });
    for (const half of [{ url: "http://e.test" }, { model: "m" }])
      expect(said(() => codeSearchAccess(setup({ embeddings: half }), { isKept: true }))).toContain(
        'needs both "url" and "model"',
      );
  });
});

it("checking an answer by a JSON schema takes the first value that fits, or reports the first fault", () => {
  const { check, repairs, instruction } = answerSchema({
    type: "object",
    properties: { a: { type: "number" } },
    required: ["a"],
  });
  expect([repairs, instruction.includes('"required":["a"]')]).toEqual([1, true]);
  expect(check('I think {"b":1}, or rather {"a":2}, or {"a":3}.')).toEqual({ value: { a: 2 } });
  expect(check("none")).toEqual({ fault: "there is no JSON in it" });
  const { fault } = check('{"a":"x"} or {"b":1}') as { fault: string };
  expect(fault).toContain("a");
  expect(fault).toMatch(/number/);
  expect(said(() => answerSchema({ type: "nothing" }))).toMatch(/^USAGE: --json-schema: .+\.$/);
});

it("a session that stores nothing keeps its messages from those of others", () => {
  const earlier: Message[] = [];
  const [one, other] = [createSession(earlier), createSession(earlier)];
  one.append({ role: "user", parts: [{ type: "text", text: "secret" }] });
  expect([earlier, other.messages, createSession().messages]).toEqual([[], [], []]);
});

it("a value that depends on the mode is made once per mode", () => {
  const made: string[] = [];
  const state = { mode: "default" } as RunState;
  const value = perMode(state, (mode) => String(made.push(mode)), "first");
  expect(value()).toBe("first");
  state.mode = "plan";
  value();
  value();
  state.mode = "default";
  expect([value(), made]).toEqual(["first", ["plan"]]);
});

it("waiting for a turn's ending resolves once that ending was delivered", async () => {
  const delivered = new DeliveredEndings();
  const [one, other] = [{ type: "done" } as TurnEnding, { type: "done" } as TurnEnding];
  const seen: string[] = [];
  void delivered.until(one)!.then(() => seen.push("one"));
  void delivered.until(one)!.then(() => seen.push("again"));
  void delivered.until(other)!.then(() => seen.push("other"));
  delivered.add(one);
  await new Promise(setImmediate);
  expect(seen).toEqual(["one", "again"]);
  expect(delivered.until(one)).toBeUndefined();
  delivered.add(other);
  await new Promise(setImmediate);
  expect(seen).toEqual(["one", "again", "other"]);
});

it("deleting a chat without snapshots warns of nothing and creates no snapshots folder", async () => {
  const warnings: string[] = [];
  await sweepDeleted(folder, [{ id: "x" } as never], (message) => warnings.push(message));
  expect([warnings, existsSync(join(folder, "snapshots"))]).toEqual([[], false]);
});
