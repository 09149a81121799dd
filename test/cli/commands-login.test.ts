// login, logout and status through the built CLI, in an empty home: who is logged in, by which key, and no key ever shown.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CliOptions, cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace();
});
afterEach(() => workspace.remove());

const authFile = () => join(workspace.config, "auth.json");
const saved = () => JSON.parse(readFileSync(authFile(), "utf8")).keys as Record<string, { key: string }>;

describe("login", () => {
  it("login takes the key from stdin, saves it readable only by its owner and does not show it", async () => {
    const { exit, stdout, stderr } = await workspace.run(["login", "anthropic"], { stdin: "  sk-ant-secret-1 \n" });
    expect({ exit, stdout, stderr }).toEqual({
      exit: 0,
      stdout: `✓ Key saved for anthropic (${authFile()})\n`,
      stderr: expect.stringMatching(/^Note: The key was not checked: Anthropic cannot be reached \(.+\)\.\n$/),
    });
    expect(saved()["anthropic"]!.key).toBe("sk-ant-secret-1");
    expect(statSync(authFile()).mode & 0o777).toBe(0o600);
    // Others look for it; one that is there stays as it is.
    const settings = join(workspace.config, "cli-config.json");
    expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({ version: 1 });
    writeFileSync(settings, "// mine\n{}\n");
    await workspace.run(["login", "anthropic"], { stdin: "sk-ant-secret-1\n" });
    expect(readFileSync(settings, "utf8")).toBe("// mine\n{}\n");
    expect((await workspace.run(["status"])).stdout).toBe("✓ Logged in as anthropic (key saved by login)\n");
  });

  it("login takes the key from --api-key and does not read stdin", async () => {
    const run = await workspace.run(["login", "OpenAI", "--api-key", "sk-secret-2"], { stdin: "open" });
    expect(run).toMatchObject({ exit: 0, stdout: `✓ Key saved for openai (${authFile()})\n` });
    expect(run.stdout + run.stderr).not.toContain("secret");
    expect(saved()["openai"]!.key).toBe("sk-secret-2");
  });

  it.each([
    ["the model that was named", ["--model", "gpt-5"], {}, "openai"],
    ["the vendor in its name", ["--model", "openrouter/some/model"], {}, "openrouter"],
    ["COURSER_MODEL", [], { COURSER_MODEL: "gemini-2.5-pro" }, "google"],
    ["how the key begins", ["--api-key", "xai-secret"], {}, "xai"],
  ])("login without a vendor infers it from %s", async (_, args, env, vendor) => {
    const { exit, stdout } = await workspace.run(["login", ...args], { stdin: "secret\n", env });
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: `✓ Key saved for ${vendor} (${authFile()})\n` });
    expect(Object.keys(saved())).toEqual([vendor]);
  });

  it("login saves a key for the user's own endpoint", async () => {
    mkdirSync(workspace.config);
    const providers = { lab: { baseUrl: "https://lab.test/v1", models: ["m1"], keyEnv: "LAB_KEY" } };
    writeFileSync(join(workspace.config, "courser.json"), JSON.stringify({ providers }));
    expect((await workspace.run(["login", "lab"], { stdin: "secret" })).exit).toBe(0);
    expect((await workspace.run(["status", "--model", "lab/m1"])).stdout).toBe(
      "✓ Logged in as lab (key saved by login)\n",
    );
  });

  it.each([
    ["an empty key", "anthropic", " \n", "the key is empty"],
    ["two lines", "anthropic", "secret-a\nsecret-b\n", "one line, not 2"],
    ["what is not a key", "anthropic", "secret".repeat(20_000), "which is not a key"],
    ["a blank inside", "anthropic", "secret a", "a space"],
    ["a letter that no header takes", "anthropic", "secret\u00e9", "an invalid character"],
  ])("login refuses the key %s and saves nothing", async (_, vendor, stdin, message) => {
    const { exit, stdout, stderr } = await workspace.run(["login", vendor], { stdin });
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toContain("[USAGE]");
    expect(stderr).not.toContain("secret");
    expect(existsSync(authFile())).toBe(false);
  });

  it("login lists the vendors when it cannot infer one", async () => {
    const { exit, stderr } = await workspace.run(["login"], { stdin: "secret" });
    expect(exit).toBe(2);
    expect(stderr).toMatch(/login <vendor>, with one of anthropic, openai, google/);
    expect(existsSync(authFile())).toBe(false);
  });

  it("login suggests the nearest name for an unknown vendor, and refuses two vendors", async () => {
    const unknown = await workspace.run(["login", "antropic"], { stdin: "secret" });
    expect(unknown.exit).toBe(2);
    expect(unknown.stderr).toContain("unknown vendor 'antropic'. Did you mean anthropic?");
    expect((await workspace.run(["login", "anthropic", "openai"], { stdin: "secret" })).exit).toBe(2);
  });

  it("login warns if an environment variable overrides the saved key", async () => {
    const { stderr } = await workspace.run(["login", "anthropic"], {
      stdin: "secret",
      env: { ANTHROPIC_API_KEY: "other" },
    });
    expect(stderr).toContain("Note: ANTHROPIC_API_KEY is set and takes precedence over the saved key.\n");
  });

  it("login does not overwrite a key file it cannot parse", async () => {
    mkdirSync(workspace.config);
    writeFileSync(authFile(), "{ broken");
    const { exit, stderr } = await workspace.run(["login", "anthropic"], { stdin: "secret" });
    expect(exit).toBe(1);
    expect(stderr).toContain("[CONFIG_INVALID]");
    expect(readFileSync(authFile(), "utf8")).toBe("{ broken");
  });
});

const pseudoTerminal = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false;

describe.skipIf(!pseudoTerminal)(
  `login on a terminal${pseudoTerminal ? "" : " (skipped: no util-linux script here)"}`,
  () => {
    /** Types into a terminal of its own, each piece once the screen shows what it waits for. */
    async function type(
      args: string,
      pieces: readonly [waitFor: string, keys: string][],
    ): Promise<{ exit: number | null; screen: string }> {
      const { spawn } = await import("node:child_process");
      const child = spawn("script", ["-qec", `"${process.execPath}" "${cli}" ${args}`, "/dev/null"], {
        env: workspace.env,
        cwd: workspace.path,
      });
      let screen = "";
      let next = 0;
      child.stdout.on("data", (chunk: Buffer) => {
        screen += chunk.toString("utf8");
        const piece = pieces[next];
        if (piece && screen.slice(screen.lastIndexOf("\n") + 1).includes(piece[0])) {
          next++;
          setTimeout(() => child.stdin.write(piece[1]), 50);
        }
      });
      const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
      return new Promise((settle) =>
        child.on("close", (exit) => {
          clearTimeout(timer);
          child.stdin.destroy();
          settle({ exit, screen });
        }),
      );
    }

    it("login asks for the key without echo", async () => {
      const { exit, screen } = await type("login anthropic", [["Anthropic API key", "wrong\x15secretX\x7f-3\r"]]);
      expect(exit).toBe(0);
      expect(screen).toContain("✓ Key saved for anthropic");
      expect(screen).not.toContain("secret");
      expect(saved()["anthropic"]!.key).toBe("secret-3");
    });

    it("login asks for the vendor first when none was given", async () => {
      const { exit, screen } = await type("login", [
        ["Number or name", "nobody\r"],
        ["Number or name", "2\r"],
        ["OpenAI API key", "\x1b[200~secret-4\x1b[201~\r"],
      ]);
      expect(exit).toBe(0);
      expect(screen).toContain("1  anthropic");
      expect(screen).toContain("'nobody' is not in the list.");
      expect(saved()).toMatchObject({ openai: { key: "secret-4" } });
    });

    it("Ctrl+C or an empty line ends login without saving", async () => {
      expect((await type("login anthropic", [["API key (hidden)", "sec\x03"]])).exit).toBe(130);
      expect((await type("login anthropic", [["API key (hidden)", "\r"]])).exit).toBe(2);
      expect((await type("login anthropic", [["API key (hidden)", "secret-a\rsecret-b\r"]])).screen).toContain(
        "one line",
      );
      expect(existsSync(authFile())).toBe(false);
    });
  },
);

describe("logout", () => {
  it("logout removes one key or all keys, and says when there are none", async () => {
    for (const vendor of ["anthropic", "openai", "google"]) await workspace.run(["login", vendor], { stdin: "secret" });
    expect(await workspace.run(["logout", "openai"])).toMatchObject({
      exit: 0,
      stdout: "✓ Key removed for openai\n",
      stderr: "",
    });
    expect(Object.keys(saved())).toEqual(["anthropic", "google"]);
    expect(await workspace.run(["logout"])).toMatchObject({ exit: 0, stdout: "✓ Key removed for anthropic, google\n" });
    expect(await workspace.run(["logout"])).toMatchObject({
      exit: 0,
      stdout: "Nothing to remove: there is no saved key.\n",
    });
    expect(await workspace.run(["logout", "xai"])).toMatchObject({
      exit: 0,
      stdout: "Nothing to remove: there is no saved key for xai.\n",
    });
    expect((await workspace.run(["status"])).stdout).toBe("Not logged in\n");
  });

  it("logout refuses unknown vendors, and mentions a variable that remains", async () => {
    expect((await workspace.run(["logout", "opnai"])).stderr).toContain("Did you mean openai?");
    const { stderr } = await workspace.run(["logout", "openai"], { env: { OPENAI_API_KEY: "secret" } });
    expect(stderr).toBe("Note: OPENAI_API_KEY is still set and will be used.\n");
  });
});

describe("status", () => {
  const status = (args: string[] = [], options: CliOptions = {}) => workspace.run(["status", ...args], options);

  it("status without a key prints one line on stdout, what to type on stderr, and exits with 0", async () => {
    const { exit, stdout, stderr } = await status();
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "Not logged in\n" });
    expect(stderr).toMatch(/^No API key .*courser login anthropic.*\n$/);
    expect((await workspace.run(["whoami"])).stdout).toBe(stdout);
  });

  it.each([
    ["ANTHROPIC_API_KEY", [], { ANTHROPIC_API_KEY: "k" }, "✓ Logged in as anthropic (key from ANTHROPIC_API_KEY)"],
    [
      "the second variable of a vendor",
      ["--model", "gemini-2.5-pro"],
      { GEMINI_API_KEY: "k" },
      "✓ Logged in as google (key from GEMINI_API_KEY)",
    ],
    [
      "CURSOR_API_KEY",
      ["--model", "gpt-5"],
      { CURSOR_API_KEY: "k" },
      "✓ Logged in as openai (key from CURSOR_API_KEY)",
    ],
    [
      "--api-key",
      ["--model", "grok-4", "--api-key", "k"],
      { XAI_API_KEY: "j" },
      "✓ Logged in as xai (key from --api-key)",
    ],
    ["offline by name", ["--model", "offline"], {}, "✓ Logged in as local (offline: no key needed)"],
    ["offline by COURSER_MODEL", [], { COURSER_MODEL: "offline" }, "✓ Logged in as local (offline: no key needed)"],
    ["a script", ["--model", "script:replies.json"], {}, "✓ Logged in as local (script:replies.json: no key needed)"],
    ["a vendor on this machine", ["--model", "ollama/qwen3"], {}, "✓ Logged in as local (ollama/qwen3: no key needed)"],
    [
      "an endpoint on this machine",
      ["-e", "http://127.0.0.1:9/v1", "--model", "m"],
      {},
      "✓ Logged in as local (m: no key needed)",
    ],
    ["a vendor without its key", ["--model", "gpt-5"], { ANTHROPIC_API_KEY: "k" }, "Not logged in"],
    ["auto without a key", ["--model", "auto"], {}, "Not logged in"],
    ["a model that nobody knows", ["--model", "no-such-model"], {}, "Not logged in"],
  ])("status says who is logged in with %s", async (_, args, env: Record<string, string>, line) => {
    const text = await status(args, { env });
    expect({ exit: text.exit, stdout: text.stdout }).toEqual({ exit: 0, stdout: `${line}\n` });
    const json = await status([...args, "--format", "json"], { env });
    expect({ exit: json.exit, stderr: json.stderr }).toEqual({ exit: 0, stderr: "" });
    const isAuthenticated = line !== "Not logged in";
    const found = JSON.parse(json.stdout);
    expect(found).toMatchObject({
      status: isAuthenticated ? "authenticated" : "unauthenticated",
      isAuthenticated,
      hasRefreshToken: false,
    });
    expect("userInfo" in found).toBe(isAuthenticated);
    expect("message" in found).toBe(!isAuthenticated);
  });

  it("status --format json names the vendor, the source of the key and the model", async () => {
    const { stdout } = await status(["--format", "json"], { env: { ANTHROPIC_API_KEY: "secret" } });
    expect(stdout).not.toContain("secret");
    expect(JSON.parse(stdout)).toEqual({
      status: "authenticated",
      isAuthenticated: true,
      hasAccessToken: true,
      hasRefreshToken: false,
      userInfo: { userId: "anthropic" },
      vendor: "anthropic",
      source: "ANTHROPIC_API_KEY",
      model: "claude-5.5-sonnet",
      keys: [{ vendor: "anthropic", source: "ANTHROPIC_API_KEY" }],
    });
    expect(JSON.parse((await status(["--format=json", "--model=offline"])).stdout)).toMatchObject({
      isAuthenticated: true,
      hasAccessToken: false,
      vendor: "local",
      source: null,
    });
    expect(JSON.parse((await status(["--format=json"])).stdout)).toMatchObject({
      hasAccessToken: false,
      vendor: null,
      source: null,
      model: "offline",
    });
  });

  it("status needs no key for a local endpoint", async () => {
    mkdirSync(workspace.config);
    const providers = { shed: { baseUrl: "http://127.0.0.1:9/v1", models: ["qwen"] } };
    writeFileSync(join(workspace.config, "courser.json"), JSON.stringify({ providers }));
    expect((await status()).stdout).toBe("✓ Logged in as local (shed/qwen: no key needed)\n");
  });

  it("status uses the model saved in the configuration", async () => {
    mkdirSync(workspace.config);
    writeFileSync(
      join(workspace.config, "cli-config.json"),
      JSON.stringify({ model: { modelId: "gpt-5", displayName: "GPT-5" } }),
    );
    expect((await status([], { env: { ANTHROPIC_API_KEY: "k" } })).stdout).toBe("Not logged in\n");
    expect((await status([], { env: { OPENAI_API_KEY: "k" } })).stdout).toBe(
      "✓ Logged in as openai (key from OPENAI_API_KEY)\n",
    );
  });

  it("status works in a folder that was deleted, and refuses another format", async () => {
    const gone = join(workspace.path, "gone");
    mkdirSync(gone);
    const shell = spawnSync("bash", ["-c", `cd "$2" && rmdir "$2" && "$0" "$1" status`, process.execPath, cli, gone], {
      env: workspace.env,
      encoding: "utf8",
    });
    rmSync(gone, { recursive: true, force: true });
    expect(shell.stdout, shell.stderr).toBe("Not logged in\n");
    expect(await status(["--format", "xml"])).toMatchObject({ exit: 2, stdout: "" });
  });
});
