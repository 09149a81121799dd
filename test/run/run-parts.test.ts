// Whole runs with instructions, subagents, hooks, servers and background commands, one row each. test/run/run-parts.txt is the whole table.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { hookEvents } from "../../src/protocol/hook-events.ts";
import { type Scenario, testRuns } from "./runs-kit.ts";

const call = (name: string, args: object) => ({ calls: [{ name, args }] });
const shell = (command: string, more = {}) => call("Shell", { command, ...more });
const hi = [{ text: "Hi." }];
const asks = { force: false, trust: true } as const;
const helper = "---\nname: helper\ndescription: Helps\n---\nYou help.";
const textOf = (name: string) => (home: string) =>
  existsSync(join(home, name)) ? readFileSync(join(home, name), "utf8") : "none";
const ended = (home: string) => {
  const end = JSON.parse(textOf("end.json")(home)) as Record<string, unknown>;
  return Object.fromEntries(["reason", "status", "error", "final_status"].map((name) => [name, end[name]]));
};
const hook = (command: string, more = {}) => ({ command, ...more });

const everyHook = JSON.stringify({
  hooks: Object.fromEntries(
    Object.keys(hookEvents).map((name) => [name, [hook(`echo ${name} >> "$HOME/fired"; echo '{}'`)]]),
  ),
});
const fired = (home: string) => [...new Set(textOf("fired")(home).trim().split("\n"))].join(" ");
process.env["RUNS_COPY"] = "search-key-0123456789";
afterAll(() => delete process.env["RUNS_COPY"]);

const scenarios: Record<string, Scenario> = {
  "instructions, commands, skills and subagents": {
    script: [...hi, ...hi, call("Read", { path: "sub/x.txt" }), ...hi],
    files: {
      "work/AGENTS.md": "Be a project.",
      "work/sub/AGENTS.md": "Be a part.",
      "work/sub/x.txt": "x",
      "work/.cursor/commands/greet.md": "Greet $1.",
      "work/.cursor/skills/sing/SKILL.md": "---\nname: sing\ndescription: Sings\n---\nSing well.",
      "work/.cursor/agents/helper.md": helper,
    },
    request: asks,
    act: async (run, { say }) => {
      say(JSON.stringify(await run.names()));
      for (const text of ["/greet me", "/sing", "read"]) await run.send({ text }).ending;
    },
  },
  "a subagent of the project, without trust": {
    script: [call("Task", { description: "Help", prompt: "Do it", subagent_type: "helper" }), ...hi],
    files: { "work/.cursor/agents/helper.md": helper },
  },
  "a subagent": {
    script: [
      call("Task", { description: "Help", prompt: "Do it", subagent_type: "helper" }),
      { text: "Helped." },
      { text: "All." },
    ],
    files: { "work/.cursor/agents/helper.md": helper },
    request: { appendSystemPrompt: "Everywhere.", trust: true },
  },
  "a subagent that only reads, in plan mode": {
    script: [
      call("Task", { description: "Look", prompt: "Do it", subagent_type: "helper" }),
      call("Write", { path: "b", content: "b" }),
      { text: "Looked." },
      { text: "All." },
    ],
    files: { "work/.cursor/agents/helper.md": helper },
    request: { mode: "plan", trust: true },
  },
  "a subagent with a model that is not there": {
    script: [call("Task", { description: "Help", prompt: "Do it", subagent_type: "helper" }), ...hi],
    files: { "work/.cursor/agents/helper.md": "---\nname: helper\ndescription: Helps\nmodel: no/such\n---\nYou help." },
    request: { trust: true, ephemeral: true },
  },
  "hooks around a run": {
    script: [shell("touch a"), call("Read", { path: "a.txt" }), ...hi],
    request: {
      hooks: [
        JSON.stringify({
          hooks: {
            sessionStart: [hook(`echo '{"additional_context":"Begun."}'`)],
            beforeShellExecution: [
              hook(`echo '{"permission":"deny","user_message":"No shell.","agent_message":"Do not."}'`),
            ],
            sessionEnd: [hook('cat > "$HOME/end.json"')],
          },
        }),
      ],
    },
    after: ended,
  },
  "hooks at the end of a failure": {
    script: [{ error: { code: "MODEL_BAD_REQUEST", message: "It is bad." } }],
    request: { hooks: [JSON.stringify({ hooks: { sessionEnd: [hook('cat > "$HOME/end.json"')] } })] },
    after: ended,
  },
  "hooks at the end of an interruption, with somebody there": {
    script: [{ steps: [{ text: "Begun" }, { delayMs: 60_000 }] }],
    request: { hooks: [JSON.stringify({ hooks: { sessionEnd: [hook('cat > "$HOME/end.json"')] } })] },
    answers: [],
    act: async (run, { until }) => {
      const sent = run.send({ text: "go" });
      await until(({ type }) => type === "text");
      run.interrupt("Stop.");
      await sent.ending;
    },
    after: ended,
  },
  "hooks at the end of a session, with somebody there": {
    script: hi,
    request: { hooks: [JSON.stringify({ hooks: { sessionEnd: [hook('cat > "$HOME/end.json"')] } })] },
    answers: [],
    after: ended,
  },
  "hooks of the project that nobody approved": {
    script: hi,
    files: { "work/.cursor/hooks.json": { hooks: { stop: [hook("true")] } } },
    request: asks,
    env: { COURSER_PRINT_HOOKS: "" },
  },
  "hooks of the project that are approved for this run": {
    script: [{ text: '{"ok":true}' }, ...hi],
    files: {
      "work/.cursor/hooks.json": {
        hooks: {
          sessionStart: [hook("cat > x; echo '{}'", { env: ["TOKEN"] }), { type: "prompt", prompt: "Fine?" }],
        },
      },
    },
    request: { force: true },
    answers: [{ type: "yes", grant: "run" }],
    in: "a subagent",
  },
  "hooks that the original has": {
    script: hi,
    request: {
      hooks: [
        JSON.stringify({ hooks: { beforeSubmitPrompt: [hook(`echo '{"continue":false,"user_message":"No."}'`)] } }),
      ],
    },
    env: { COURSER_PRINT_HOOKS: "original" },
  },
  "hooks by an unknown word": {
    script: hi,
    request: { hooks: [JSON.stringify({ hooks: { stop: [hook("true")] } })] },
    env: { COURSER_PRINT_HOOKS: "some" },
  },
  "a server": {
    script: [call("tiny-add", { a: 1, b: 2 }), ...hi],
    request: {
      trust: true,
      mcpConfigs: [
        JSON.stringify({
          mcpServers: {
            tiny: {
              command: process.execPath,
              args: [join(import.meta.dirname, "../support/mcp-server.mjs")],
              env: { API_TOKEN: "very-secret-token" },
            },
          },
        }),
      ],
      approvedServers: "all",
    },
  },
  "a server that dies and one that is not approved": {
    script: [...hi, ...hi],
    files: { "work/.cursor/mcp.json": { mcpServers: { other: { command: "other", env: { API_KEY: "x" } } } } },
    request: { trust: true, mcpConfigs: [JSON.stringify({ mcpServers: { dead: { command: "false" } } })] },
    prompts: ["one", "two"],
  },
  "a server that is approved when asked": {
    script: hi,
    files: { "work/.cursor/mcp.json": { mcpServers: { other: { command: "false" } } } },
    request: { trust: true },
    answers: [{ type: "yes", grant: "run" }],
  },
  "a server that is required": { script: [...hi], request: { trust: true, requiredServers: ["docs"] } },
  "background commands at the end": {
    script: [shell("sleep 30", { is_background: true, timeout: 0 }), ...hi],
    request: { single: true },
    files: { ".cursor/courser.json": { backgroundWaitMs: 1 } },
  },
  "hooks of every event": {
    script: [
      shell("true"),
      call("Task", { description: "Help", prompt: "Do it", subagent_type: "explore" }),
      ...hi,
      ...hi,
    ],
    request: { hooks: [everyHook] },
    after: fired,
  },
  "the events that the original fires": {
    script: [
      shell("true"),
      call("Task", { description: "Help", prompt: "Do it", subagent_type: "explore" }),
      ...hi,
      ...hi,
    ],
    request: { hooks: [everyHook] },
    env: { COURSER_PRINT_HOOKS: "original" },
    after: fired,
  },
  "all events where somebody is there": {
    script: hi,
    request: { hooks: [everyHook] },
    env: { COURSER_PRINT_HOOKS: "original" },
    answers: [],
    after: fired,
  },
  "hooks of the project that are approved for good": {
    script: hi,
    files: { "work/.cursor/hooks.json": { hooks: { sessionStart: [hook("echo one >> fired")] } } },
    request: { trust: true },
    answers: [{ type: "yes" }],
    after: textOf("work/fired"),
  },
  "and then run": { in: "hooks of the project that are approved for good", script: hi, after: textOf("work/fired") },
  "and not when they have changed": {
    in: "hooks of the project that are approved for good",
    script: hi,
    files: { "work/.cursor/hooks.json": { hooks: { sessionStart: [hook("echo two >> fired")] } } },
    answers: [{ type: "no" }],
    after: textOf("work/fired"),
  },
  "a plugin": {
    script: hi,
    files: {
      "plugin/plugin.json": { name: "mine" },
      "plugin/hooks/hooks.json": {
        version: 1,
        hooks: { sessionStart: [hook('echo "$PWD" > "$HOME/fired"')], odd: [] },
      },
      "plugin/mcp.json": { mcpServers: { dead: { command: "false" } } },
    },
    request: { pluginDirs: ["~/plugin"], trust: true },
    after: textOf("fired"),
  },
  "a plugin that is none": { script: hi, request: { pluginDirs: ["~/none"] } },
  "no servers that are approved": { script: hi, request: { approvedServers: [] } },
  "a log": {
    script: [shell("echo out"), ...hi],
    request: { hooks: [JSON.stringify({ hooks: { sessionStart: [hook("echo '{}'")] } })] },
    host: { log: "~/run.log" },
    after: (home) =>
      textOf("run.log")(home)
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { level: string; event: string; kind?: string; name?: string })
        .filter(({ level }) => level !== "debug")
        .map(({ level, event, kind, name }) => [level, event, kind, name].filter(Boolean).join(" ")),
  },
  "a log of a run that cannot start": {
    script: hi,
    request: { allowedTools: ["Red"] },
    host: { log: "~/run.log" },
    after: (home) => textOf("run.log")(home).replaceAll(/"(time|node|platform|pid)":("[^"]*"|\d+),?/g, ""),
  },
  "keys of services, which commands do not get": {
    script: [shell('echo "<$RUNS_COPY>"'), ...hi],
    files: { ".cursor/courser.json": { search: { engine: "brave", keyEnv: "SEARCH_KEY" } } },
    env: { SEARCH_KEY: "search-key-0123456789" },
  },
  "skills and rules that are odd": {
    script: hi,
    files: {
      "work/.cursor/skills/bad/SKILL.md": "---\nname: [\n---\nBad.",
      "work/.cursor/agents/bad.md": "---\nname: bad name!\n---\n",
    },
    request: { trust: true },
  },
  "the offline model with a schema and background commands": {
    script: hi,
    request: { model: "offline", answerSchema: { type: "object" }, single: true },
  },
  "chats that are deleted when they are old": {
    script: hi,
    files: { ".cursor/courser.json": { pruneAfterDays: 1 } },
    after: (home) => ["chats-pruned", "chats-measured"].map((name) => existsSync(join(home, ".cursor/courser", name))),
  },
  "chats that are measured where somebody is there": {
    script: hi,
    answers: [],
    act: (run) => run.send({ text: "go" }).ending,
    after: async (home) => {
      while (!existsSync(join(home, ".cursor/courser/chats-measured")))
        await new Promise((resolve) => setTimeout(resolve, 10));
      return existsSync(join(home, ".cursor/courser/chats-pruned"));
    },
  },
};

testRuns(join(import.meta.dirname, "run-parts.txt"), scenarios);
