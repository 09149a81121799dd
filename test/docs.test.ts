// The documentation is executed: commands run, shown outputs come out, shown files load, links lead somewhere.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkConfig } from "../src/adapter/config.ts";
import { commands } from "../src/cli/commands/index.ts";
import { parseCommandLine } from "../src/cli/flags.ts";
import { loadScript } from "../src/model/scripted.ts";
import { type ErrorCode, errorCodes, exitCodeOf } from "../src/protocol/error-codes.ts";
import { loadHooks } from "../src/store/hook-files.ts";
import { parseJsonc } from "../src/store/jsonc.ts";
import { serversIn } from "../src/store/mcp-servers.ts";
import { loadSettings } from "../src/store/settings.ts";
import { trust } from "../src/store/trust.ts";
import { type ModelServer, modelServer } from "../src/testing/kit/model-server.ts";
import { commandsIn } from "../src/worktrees/setup-commands.ts";
import {
  anchorsOf,
  type Block,
  callsCourser,
  codeSpans,
  commandsOf,
  isAsShown,
  linksOf,
  normalise,
  npmScript,
  readBlocks,
} from "./support/doc-examples.ts";
import { scriptOf, typeFaults } from "./support/doc-scripts.ts";
import { cli, createWorkspace, repository, type Workspace } from "./support/run-cli.ts";

const pages = new Map(
  [
    "README.md",
    "CONTRIBUTING.md",
    "CLAUDE.md",
    ...markdownIn("docs"),
    ...markdownIn("docs/sdk"),
    ...markdownIn("docs/decisions"),
  ].map((file) => [file, readFileSync(join(repository, file), "utf8")]),
);
const blocks = [...pages].flatMap(([file, page]) => readBlocks(file, page));
const scripts = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")).scripts as Record<string, string>;

/** Files that examples speak of. */
const implied: Record<string, string> = {
  "a.txt": "Hello foo x\nbeta\n3\n4\n",
  "notes.md": "one\ntwo\nthree\n",
  "notes.txt": "one\n",
  "package.json": '{\n  "version": "1.0.0",\n  "scripts": {"test": "echo ok"}\n}\n',
  "src/app.ts": "// TODO: test\nexport const bar = 1;\n",
  "src/main.ts": "export const main = 1;\n",
};

/** Programs that examples call beside ours, as far as the example is about ours. */
const programs: Record<string, string> = {
  npx: 'exec "$@"',
  npm: 'case "$1" in ci) ;; test) echo ok ;; *) exit 1 ;; esac',
  // Every line that reaches it must be JSON.
  jq: `exec "${process.execPath}" -e 'for (const line of require("node:fs").readFileSync(0, "utf8").trim().split("\\n")) JSON.parse(line)'`,
  git: "echo '+ a line'",
};

/** Of examples that are run with a model on loopback; a reader sees that they need one. */
const withModelMark = "run with a model";

let server: ModelServer;
const workspaces: Workspace[] = [];
beforeAll(async () => {
  server = await modelServer(() => ({ text: "Done.", usage: { input: 1, output: 1 } }));
});
afterAll(async () => {
  for (const workspace of workspaces) workspace.remove();
  await server.stop();
});

describe("commands in the docs", () => {
  for (const block of blocks.filter((each) => each.language === "bash" && !isMarkedNotRun(each))) {
    it(place(block), () => runBlock(block));
  }

  it("a command in docs that the tests do not run is marked with a reason", () => {
    for (const block of blocks.filter((each) => each.mark.startsWith("not run")))
      expect(block.mark, place(block)).toMatch(/^not run: \S.{5,}/);
    expect(blocks.filter((each) => each.language === "bash" && !isMarkedNotRun(each)).length).toBeGreaterThan(8);
  });

  it("a command in docs that needs a model says so", () => {
    for (const block of blocks.filter((each) => each.mark === withModelMark))
      expect(`${block.text}`, place(block)).toMatch(/# .*needs a model/i);
  });

  it("the README's example test fails if the project's tests fail", async () => {
    const block = blocks.find(({ file, text }) => file === "README.md" && text.includes("script:check.json"))!;
    const { workspace, env } = prepared(block);
    workspace.file("some.test.mjs", 'import test from "node:test"; test("no", () => { throw new Error("no"); });');
    const { exit, output } = await runShell(commandsOf(block)[0]!, { cwd: workspace.path, env });
    expect({ exit, output }).toMatchObject({ exit: 1, output: expect.stringContaining("MODEL_BAD_REQUEST") });
  });

  it("the CLI's parser accepts inline commands in docs", () => {
    const spans = [...pages].flatMap(([file, page]) => codeSpans(page).map((span) => ({ file, ...span })));
    const lines = spans.filter(({ text }) => /^(npx )?(courser|cursor-agent) [\w-]/.test(text));
    for (const { file, line, text } of lines) {
      const [, ...words] = text.replace(/^npx /, "").match(/'[^']*'|"[^"]*"|\S+/g)!;
      expect(() => parseCommandLine(words, commands), `${file}:${line}: ${text}`).not.toThrow();
    }
    for (const { file, line, text } of spans) {
      const script = npmScript(text);
      if (script && script !== "ci") expect(scripts, `${file}:${line}`).toHaveProperty([script]);
    }
    expect(lines.length).toBeGreaterThan(5);
  });
});

describe("TypeScript in the docs", () => {
  const examples = blocks.filter((each) => each.language === "ts" && !isMarkedNotRun(each));
  for (const block of examples) it(`${place(block)} ${block.name}`, () => runTypeScript(block));

  it("the TypeScript examples in the docs compile", () =>
    expect(typeFaults(blocks.filter((each) => /^tsx?$/.test(each.language)))).toBe(""));
});

describe("files in the docs", () => {
  for (const block of blocks.filter(({ language, after }) => /^jsonc?$/.test(language) && !isOutput({ after }))) {
    it(`${place(block)} ${block.name}`, () => {
      const parse = block.language === "json" ? JSON.parse : parseJsonc;
      expect(() => parse(block.text)).not.toThrow();
      expect(block.name, 'the fence says which file it is: "```json courser.json"').toMatch(/\.jsonl?$/);
      if (isHooks(block)) {
        const workspace = scratch();
        const { path, home, config } = workspace;
        workspace.file(block.name.startsWith(".cursor/") ? block.name : join(config, block.name), block.text);
        const place = { workspace: path, home, configDir: config, enterpriseFile: join(home, "none.json") };
        const { hooks, waiting, warnings } = loadHooks(place, { trusted: true });
        expect(warnings).toEqual([]);
        expect(hooks.length + waiting.length).toBeGreaterThan(0);
        return;
      }
      if (isServers(block)) {
        const warnings: string[] = [];
        const servers = serversIn(JSON.parse(block.text), { scope: "user", file: block.name, folder: "/" }, warnings);
        expect(servers.map(({ problem }) => problem ?? "good")).toEqual(servers.map(() => "good"));
        expect([servers.length > 0, warnings]).toEqual([true, []]);
        return;
      }
      if (block.name === ".cursor/worktrees.json") {
        const workspace = scratch();
        expect(commandsIn(workspace.file(block.name, block.text)).length).toBeGreaterThan(0);
        return;
      }
      if (block.name === "openclaw.json") {
        expect(checkConfig(JSON.parse(block.text)).warnings).toEqual([]);
        return;
      }
      // Settings of editors: they start a command that is ours.
      const { agent_servers: editors } = JSON.parse(block.text) as {
        agent_servers?: Record<string, { args: string[] }>;
      };
      if (editors) {
        for (const { args } of Object.values(editors)) expect(args).toEqual(["acp"]);
        return;
      }
      if (isPrompts(block)) {
        expect(isUsed(block), "a command reads it").toBe(true);
        return;
      }
      if (!isSettings(block)) {
        loadScript(block.text, block.name);
        return;
      }
      const workspace = scratch();
      const folder = block.name.startsWith(".cursor/") ? workspace.path : workspace.config;
      const file = join(folder, block.name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, block.text);
      const settings = loadSettings({
        configDir: workspace.config,
        workspace: workspace.path,
        trusted: true,
      });
      expect(settings.warnings).toEqual([]);
      expect(
        settings.rules.length + Object.keys(settings.raw).length + Object.keys(settings.courser).length,
      ).toBeGreaterThan(1);
    });
  }
});

describe("pages of the docs", () => {
  it("documentation pages contain only code blocks that are checked", () => {
    for (const block of blocks) {
      expect(["bash", "json", "jsonc", "js", "ts", "tsx", "yaml", "text", "markdown"], place(block)).toContain(
        block.language,
      );
      if (block.language === "js") expect(isUsed(block), `${place(block)}: a command runs it`).toBe(true);
    }
  });

  it.each([...pages.keys()])("%s: links lead somewhere", (file) => {
    for (const { target, line } of linksOf(pages.get(file)!)) {
      if (/^https?:/.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      const found = path === "" ? join(repository, file) : resolve(repository, dirname(file), path);
      expect(existsSync(found), `${file}:${line}: ${target}`).toBe(true);
      if (anchor !== undefined)
        expect(anchorsOf(readFileSync(found, "utf8")), `${file}:${line}: ${target}`).toContain(anchor);
    }
  });

  it("the README leads to every page of docs/ by links", () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file) || !pages.has(file)) return;
      reached.add(file);
      for (const { target } of linksOf(pages.get(file)!)) visit(join(dirname(file), target.split("#")[0]!));
    };
    visit("README.md");
    expect([...pages.keys()].filter((file) => !reached.has(file))).toEqual([]);
  });

  it("docs pages name only existing error codes and variables", () => {
    const source = sourceText(join(repository, "src"));
    const scripts = ["scripts/test.mjs", ".ci/run"]
      .map((name) => readFileSync(join(repository, name), "utf8"))
      .join("");
    for (const [file, page] of pages) {
      for (const { text, line } of codeSpans(page)) {
        for (const [word] of text.matchAll(/\b[A-Z]+(_[A-Z]+)+\b/g)) {
          const known =
            Object.hasOwn(errorCodes, word) ||
            source.includes(word) ||
            source.includes(word.toLowerCase()) ||
            scripts.includes(word) ||
            isExampleVariable(word);
          expect(known, `${file}:${line}: ${word}`).toBe(true);
        }
      }
    }
    const missing = (names: readonly string[], file: string) =>
      names.filter((name) => !pages.get(file)!.includes(`\`${name}\``));
    expect(missing(Object.keys(errorCodes), "docs/stream-json.md")).toEqual([]);
    const variables = [...source.matchAll(/\b(?:COURSER|CURSOR)(?:_[A-Z]+)+\b(?!_)/g)].map(([name]) => name);
    expect(missing(variables, "docs/cli.md")).toEqual([]);
  });

  it("the README begins with what to type in the first minute", () => {
    expect(pages.get("README.md")!.split("\n").length).toBeLessThan(120);
  });
});

/** Line by line, as a reader would type it, in a folder that nobody trusts yet. */
async function runBlock(block: Block): Promise<void> {
  const { workspace, env } = prepared(block);
  let outputs = "";
  const exits: number[] = [];
  for (const command of commandsOf(block)) {
    const script = npmScript(command);
    if (script && script !== "ci") expect(scripts, `${place(block)}: ${command}`).toHaveProperty([script]);
    if (!callsCourser(command)) {
      expect(
        script !== undefined || command.startsWith("export "),
        `${place(block)}: ${command} is neither run nor marked`,
      ).toBe(true);
      continue;
    }
    // Without -p it is a conversation with a model, where trust is a question.
    rmSync(join(workspace.config, "projects"), { recursive: true, force: true });
    if (block.mark === withModelMark && !/ (-p|--print)\b/.test(command)) trust(workspace.config, workspace.path);
    const run = await runShell(filledIn(command), { cwd: workspace.path, env });
    expect(run.output, `${place(block)}: ${command}`).not.toMatch(/unknown option|Unexpected failure/);
    outputs += run.output;
    exits.push(run.exit);
    if (!shownAfter(block)) expect(run, `${place(block)}: ${command}`).toMatchObject({ exit: 0 });
  }

  const shown = shownAfter(block);
  if (!shown) return;
  const code = /\[([A-Z_]+)\]$/m.exec(shown.text)?.[1];
  const expected = code ? exitCodeOf(code as ErrorCode) : 0;
  expect(exits.at(-1), outputs).toBe(expected);
  const places = { [workspace.path]: "/path/to/project", [workspace.home]: "~" };
  const output = normalise(outputs, places);
  const text = normalise(shown.text, {});
  if (!isAsShown(output, text)) expect(output, `${place(shown)} shows something else`).toBe(text);
}

/** As a program in a folder that nobody trusts yet, with the names of the CLI in PATH. */
async function runTypeScript(block: Block): Promise<void> {
  const { workspace, env } = prepared(block);
  workspace.file("example.mjs", scriptOf(block).replace(/http:\/\/127\.0\.0\.1:\d+\/v1/g, `${server.url}/v1`));
  const run = await runShell(`exec "${process.execPath}" example.mjs`, { cwd: workspace.path, env });
  expect(run.exit, `${place(block)}:\n${run.output}`).toBe(0);
  const shown = shownAfter(block);
  if (!shown) return;
  const output = normalise(run.output, { [workspace.path]: "/path/to/project", [workspace.home]: "~" });
  const text = normalise(shown.text, {});
  if (!isAsShown(output, text)) expect(output, `${place(shown)} shows something else`).toBe(text);
}

/** A fresh folder with the files that its page shows, and no others. */
function prepared(block: Block): { workspace: Workspace; env: Record<string, string> } {
  const workspace = scratch({});
  for (const other of blocks)
    if (other.file === block.file && other.name !== "" && !isSettings(other) && !isOutput(other))
      workspace.file(other.name, other.text);
  mkdirSync(join(workspace.path, "node_modules"));
  symlinkSync(repository, join(workspace.path, "node_modules/courser-agent"));
  const withModel = block.mark === withModelMark;
  if (withModel) writeRouting(workspace);
  const env = {
    ...workspace.env,
    ...(withModel && modelVariables()),
    PATH: `${programFolder(workspace)}:${workspace.env["PATH"]}`,
  };
  return { workspace, env };
}

function shownAfter(block: Block): Block | undefined {
  return blocks.find((other) => other.after === block && isOutput(other) && other.name === "");
}

function isOutput({ after }: { after: Block | undefined }): boolean {
  return after?.language === "bash" || after?.language === "ts";
}

function isUsed({ file, name }: Block): boolean {
  return blocks.some((other) => other.file === file && other.language === "bash" && other.text.includes(` ${name}`));
}

function isSettings({ name }: Block): boolean {
  return /^(\.cursor\/)?(courser|cli-config|cli|permissions)\.json$/.test(name);
}

/** Lines for --input-format stream-json. */
function isPrompts({ name }: Block): boolean {
  return name === "turns.jsonl";
}

function isHooks({ name }: Block): boolean {
  return /^(\.cursor\/)?hooks\.json$/.test(name);
}

function isServers({ name }: Block): boolean {
  return /(^|[/.])mcp\.json$/.test(name);
}

function isMarkedNotRun({ mark }: Block): boolean {
  return mark.startsWith("not run: ");
}

/** An ellipsis is any prompt, an address of this machine is the model's. */
function filledIn(command: string): string {
  return command
    .replaceAll('"…"', '"hello"')
    .replaceAll("-…", "-example")
    .replace(/http:\/\/127\.0\.0\.1:\d+\/v1/g, `${server.url}/v1`);
}

function modelVariables(): Record<string, string> {
  return {
    ANTHROPIC_API_KEY: "test",
    OPENAI_API_KEY: "test",
    OPENROUTER_API_KEY: "test",
    ANTHROPIC_BASE_URL: `${server.url}/v1`,
    OPENAI_BASE_URL: `${server.url}/v1`,
    OLLAMA_HOST: server.url,
    KEY: "sk-test",
  };
}

/** Vendors without a variable for their address. */
function writeRouting(workspace: Workspace): void {
  mkdirSync(workspace.config, { recursive: true });
  const openrouter = { baseUrl: `${server.url}/v1`, keyEnv: "OPENROUTER_API_KEY" };
  writeFileSync(join(workspace.config, "courser.json"), JSON.stringify({ providers: { openrouter } }));
}

function programFolder(workspace: Workspace): string {
  const folder = join(workspace.home, "bin");
  mkdirSync(folder);
  for (const name of ["courser", "cursor-agent", "agent"]) symlinkSync(cli, join(folder, name));
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return folder;
}

function runShell(
  command: string,
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<{ exit: number; output: string }> {
  const child = spawn("bash", ["-o", "pipefail", "-c", command], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const timer = setTimeout(() => child.kill("SIGKILL"), 25_000);
  return new Promise((settle, reject) => {
    child.on("error", reject);
    child.on("close", (exit) => {
      clearTimeout(timer);
      settle({ exit: exit ?? -1, output });
    });
  });
}

function scratch(files: Record<string, string> = implied): Workspace {
  const workspace = createWorkspace(files);
  workspaces.push(workspace);
  return workspace;
}

function place({ file, line }: Block): string {
  return `${file}:${line}`;
}

function markdownIn(folder: string): string[] {
  return readdirSync(join(repository, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
}

function sourceText(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}

/** Names that an example gives to variables of the reader's own, or that other programs read. */
function isExampleVariable(word: string): boolean {
  return /^(LOCAL_KEY|GATEWAY_KEY|OLLAMA_CONTEXT_LENGTH|NODE_EXTRA_CA_CERTS)$/.test(word);
}
