// Every slash command of the table, typed by a person in one session of the built program.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { slashCommands } from "../../src/terminal/commands/index.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { openCli, type Pty } from "./pty.ts";

/** `keys` follow as soon as `wanted` is there; `ends` is what comes of them. */
type Step = { typed: string; wanted: string | RegExp; keys?: string; ends?: string | RegExp; check?(): void };

let workspace: Workspace;
let pty: Pty;

const leave = "\x1b";
const enter = "\r";
const config = () => JSON.parse(readFileSync(join(workspace.env["HOME"]!, ".cursor/cli-config.json"), "utf8"));

const steps: readonly Step[] = [
  // before anything was said
  { typed: "/copy", wanted: "There is nothing to copy yet." },
  { typed: "/tasks", wanted: "No command runs in the background." },
  { typed: "/rewind", wanted: "There is nothing to rewind yet." },
  { typed: "/resume", wanted: "There is no other chat" },
  { typed: "/rename", wanted: "A name is missing" },
  { typed: "/goal", wanted: "An objective is missing" },
  { typed: "/add-dir", wanted: "A path is missing" },
  { typed: "/btw", wanted: "A question is missing" },
  // what is set here
  { typed: "/permissions", wanted: /› \+ add a rule/, keys: leave },
  { typed: "/permissions list", wanted: "What --force does not override" },
  { typed: "/hooks", wanted: "There are no hooks here" },
  { typed: "/mcp", wanted: "No MCP servers are configured" },
  { typed: "/mcp add x", wanted: "/mcp takes list, list-tools" },
  { typed: "/plugin", wanted: "No plugins are installed" },
  { typed: "/plugin buy x", wanted: "/plugin takes list, add, update, remove, enable, disable." },
  { typed: "/plugin add ../desk-plugin --yes", wanted: "It applies from the next chat on" },
  { typed: "/plugin disable desk-plugin", wanted: /desk-plugin[\s\S]*It applies from the next chat on/ },
  { typed: "/plugin remove desk-plugin", wanted: "Removed the plugin desk-plugin" },
  { typed: "/skills", wanted: /› \/greet +Says hello +skill/, keys: leave },
  { typed: "/commands", wanted: /› \/tidy +Tidies the folder +command/, keys: enter, ends: /^› \/tidy ?$/m },
  { typed: "\x15/agents", wanted: /\/explore .*subagent/, keys: leave },
  { typed: "/rules", wanted: /AGENTS\.md/ },
  { typed: "/sandbox", wanted: "only rules and permission prompts", keys: leave },
  { typed: "/sandbox status", wanted: /Writable: +the workspace/ },
  // the screen
  { typed: "/vim", wanted: "Vim keys are on.", check: () => expect(config().editor.vimMode).toBe(true) },
  { typed: "/vim", wanted: "Vim keys are off." },
  { typed: "/show-thinking", wanted: "Thinking is shown: on." },
  { typed: "/line-numbers", wanted: "Line numbers are off." },
  { typed: "/line-numbers", wanted: "Line numbers are on." },
  { typed: "/status-indicators", wanted: "Status in the window's title is off." },
  { typed: "/statusline echo my-own-row", wanted: /^my-own-row$/m },
  { typed: "/statusline", wanted: "comes from: echo my-own-row" },
  { typed: "/statusline off", wanted: "The status line was removed." },
  { typed: "/setup-terminal", wanted: "New line: Shift+Enter" },
  { typed: "/status", wanted: /Model: Script\n✓ Logged in as local/ },
  { typed: "/feedback", wanted: "Open an issue" },
  { typed: "/update", wanted: /npm install|update/i },
  { typed: "/open", wanted: /code opens / },
  { typed: "/config", wanted: /› model +auto .*default/, keys: leave },
  { typed: "/config edit", wanted: /Settings are read at the next start:\s+.*cli-config\.json/ },
  { typed: "/help", wanted: "Keys and commands", keys: "q" },
  { typed: "/help rename", wanted: /\/rename <name> +Rename this chat/ },
  { typed: "/login", wanted: /› anthropic +Anthropic/, keys: leave },
  { typed: "/login nobody", wanted: "nobody API key:", keys: `x${enter}`, ends: "unknown vendor 'nobody'" },
  { typed: "/logout", wanted: "Nothing to remove" },
  // modes and models
  { typed: "/plan", wanted: /^ plan · /m },
  { typed: "/ask", wanted: /^ ask · /m },
  { typed: "/agent", wanted: /^ agent · /m },
  { typed: "/run-everything off", wanted: "Permission prompts are back on." },
  { typed: "/run-everything status", wanted: "Run everything is off." },
  { typed: "/run-everything", wanted: "Everything runs without a question" },
  { typed: "/auto-review", wanted: "A model reviews permission requests" },
  { typed: "/auto-review off", wanted: "You are asked again." },
  { typed: "/debug", wanted: /^ debug, run everything · /m, ends: "Debug mode is on" },
  { typed: "/debug", wanted: "Debug mode is off." },
  { typed: "/model", wanted: /› script:\S+ +Script +current\n[\s\S]*… \d+ models without a key/, keys: leave },
  { typed: "/model xyz", wanted: "no matches", keys: leave },
  ...["opus", "sonnet", "haiku", "grok"].map((name): Step => ({ typed: `/${name}`, wanted: /^✗ .*key/m })),
  ...["gpt", "gemini"].map((name): Step => ({ typed: `/${name}`, wanted: /› \S+ .*no key$/m, keys: leave })),
  { typed: "/max-mode", wanted: "Script now uses high effort." },
  { typed: "/fast", wanted: "Script now uses low effort." },
  { typed: "/fast off", wanted: "Effort is back to the model's default." },
  // not here, but in a background run: see attached.test.ts
  { typed: "/detach", wanted: /not a background run[\s\S]*courser persist/ },
  { typed: "/stop", wanted: /not a background run[\s\S]*Esc interrupts/ },
  { typed: "/background", wanted: "A prompt is missing" },
  { typed: "/shell echo $((6*7))", wanted: "│ 42" },
  { typed: "/shell", wanted: /^! /m, keys: leave },
  // a conversation
  { typed: "/tidy the desk", wanted: "I wrote it." },
  { typed: "/changes", wanted: /› everything +\+1/, keys: leave },
  { typed: "/full-conversation", wanted: "The whole conversation", keys: "q" },
  { typed: "/context", wanted: /of 128k tokens[\s\S]*workspace +\S*AGENTS\.md/ },
  { typed: "/usage", wanted: /tokens out/ },
  { typed: "/about", wanted: /directory +\// },
  { typed: "/copy", wanted: /Copied the last answer/ },
  { typed: "/copy-request-id", wanted: /Copied the request id/ },
  { typed: "/copy-conversation-id", wanted: /Copied the chat id/ },
  { typed: "/logs", wanted: /chats\/[0-9a-f]{32}\// },
  { typed: "/btw what is it?", wanted: "Beside the point." },
  { typed: "/goal make it so", wanted: "The goal is reached after 1 turn." },
  ...["init", "review", "create-rule", "create-command", "create-skill", "create-subagent", "create-hook"].map(
    (name): Step => ({ typed: `/${name}`, wanted: new RegExp(`heard ${name}`) }),
  ),
  // these open the chat anew, and with it the script
  { typed: "/rename Desk work", wanted: "This chat is now called Desk work." },
  {
    typed: "/export chat.md",
    wanted: "Written to chat.md.",
    check: () => expect(readFileSync(join(workspace.path, "chat.md"), "utf8")).toContain("I wrote it."),
  },
  { typed: "/add-dir ..", wanted: /Added .* to the workspace\./ },
  { typed: "/summarize", wanted: /It cannot be made shorter|instead of/ },
  { typed: "/fork", wanted: /^ courser {2}Script · /m },
  { typed: "/clear", wanted: /^ courser {2}Script · /m },
  { typed: "/resume", wanted: /› Desk work/, keys: leave },
];

beforeAll(() => {
  workspace = createWorkspace({
    "AGENTS.md": "Be brief.",
    ".cursor/commands/tidy.md": "# Tidies the folder\n\nTidy $ARGUMENTS.",
    ".cursor/skills/greet/SKILL.md": "---\nname: greet\ndescription: Says hello\n---\nSay hello.",
  });
  const bin = join(workspace.path, "../bin");
  mkdirSync(bin);
  for (const program of ["code", "xclip", "ed-it"]) {
    writeFileSync(join(bin, program), `#!/bin/sh\n[ ${program} = xclip ] && cat > /dev/null\nexit 0\n`);
    chmodSync(join(bin, program), 0o755);
  }
  const plugin = join(workspace.path, "../desk-plugin");
  mkdirSync(join(plugin, ".cursor-plugin"), { recursive: true });
  writeFileSync(join(plugin, ".cursor-plugin/plugin.json"), JSON.stringify({ name: "desk-plugin", version: "1.0.0" }));
  const first = { init: "AGENTS.md:", review: "Review", rule: ".mdc", command: "$ARGUMENTS", skill: "SKILL.md" };
  const heard = (name: string, expected: string) => ({ expect: expected, text: `I heard ${name}.` });
  const script = [
    { expect: "Tidy the desk.", calls: [{ name: "Write", args: { path: "new.txt", content: "new\n" } }] },
    { text: "I wrote it." },
    { aside: true, text: "Beside the point." },
    { summary: true, text: "Asked and answered." },
    { expect: "make it so", text: "It is so.\n\nGOAL REACHED" },
    heard("init", first.init),
    heard("review", first.review),
    heard("create-rule", first.rule),
    heard("create-command", first.command),
    heard("create-skill", first.skill),
    heard("create-subagent", ".cursor/agents"),
    heard("create-hook", "hooks.json"),
  ];
  const file = join(workspace.path, "../script.json");
  writeFileSync(file, JSON.stringify(script));
  pty = openCli(workspace, ["--model", `script:${file}`, "--force", "--trust"], {
    columns: 100,
    rows: 40,
    limitMs: 120_000,
    env: { PATH: `${bin}:${process.env["PATH"]}`, DISPLAY: ":9", EDITOR: "ed-it" },
  });
});

afterAll(async () => {
  pty.kill();
  await pty.ended;
  workspace.remove();
});

describe("slash commands", () => {
  it("these tests try every slash command", () => {
    const tried = new Set(steps.map(({ typed }) => /\/(\S+)/.exec(typed)![1]));
    const missing = slashCommands.map(({ name }) => name).filter((name) => !tried.has(name) && name !== "quit");
    expect(missing).toEqual([]);
  });

  it("slash commands have unique names", () => {
    const all = slashCommands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
  });

  it("each slash command has the effect that its help describes", { timeout: 120_000 }, async () => {
    await pty.waitFor("Ask, or type /");
    await pty.waitFor(/^ courser {2}Script/m);
    for (const { typed, wanted, keys, ends, check } of steps) {
      pty.type(`${typed}${enter}`);
      await seen(wanted, typed);
      if (keys !== undefined) pty.type(keys);
      if (ends !== undefined) await seen(ends, typed);
      if (keys === leave || keys === "q") await pty.waitFor(/Ask, or type \//);
      await pty.quiet(60);
      check?.();
    }
    expect(existsSync(join(workspace.path, "new.txt"))).toBe(true);
    pty.type(`exit${enter}`);
    expect(await pty.ended).toBe(0);
    expect((await pty.scrollback()).join("\n")).not.toContain("should not have");
  });
});

/** Below the command as it stands in the scrollback. */
async function seen(wanted: string | RegExp, typed: string): Promise<void> {
  const echo = `› ${typed.replace("\x15", "")}`;
  const until = Date.now() + 10_000;
  const isThere = (text: string) => (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text));
  for (;;) {
    const lines = await pty.scrollback();
    const at = pty.isAlternate() ? 0 : lines.lastIndexOf(echo);
    const recent = lines.slice(Math.max(0, at)).join("\n");
    if (at >= 0 && isThere(recent)) return;
    if (Date.now() > until) throw new Error(`${typed}: ${wanted} did not appear:\n${recent}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
