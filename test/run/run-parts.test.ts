// Whole runs with instructions, subagents, hooks, servers and background commands, one row each. test/run/run-parts.txt is the whole table.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Scenario, tableOf } from "./runs-kit.ts";

const call = (name: string, args: object) => ({ calls: [{ name, args }] });
const shell = (command: string, more = {}) => call("Shell", { command, ...more });
const hi = [{ text: "Hi." }];
const _attended = { attended: () => true };
const asks = { force: false, trust: true } as const;
const _outside = { sandbox: "disabled", ...asks } as const;
const helper = "---\nname: helper\ndescription: Helps\n---\nYou help.";
const textOf = (name: string) => (home: string) =>
  existsSync(join(home, name)) ? readFileSync(join(home, name), "utf8") : "none";
const _ended = (home: string) => {
  const end = JSON.parse(textOf("end.json")(home)) as Record<string, unknown>;
  return Object.fromEntries(["reason", "status", "error", "final_status"].map((name) => [name, end[name]]));
};
const hook = (command: string, more = {}) => ({ command, ...more });

const _held: string[] = [];

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
    after: (home) => {
      const {
        reason,
        status,
        error,
        final_status: final,
      } = JSON.parse(textOf("end.json")(home)) as Record<string, unknown>;
      return { reason, status, error, final };
    },
  },
  "hooks at the end of a failure": {
    script: [{ error: { code: "MODEL_BAD_REQUEST", message: "It is bad." } }],
    request: { hooks: [JSON.stringify({ hooks: { sessionEnd: [hook('cat > "$HOME/end.json"')] } })] },
    after: (home) => {
      const {
        reason,
        status,
        error,
        final_status: final,
      } = JSON.parse(textOf("end.json")(home)) as Record<string, unknown>;
      return { reason, status, error, final };
    },
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
    after: (home) => {
      const {
        reason,
        status,
        error,
        final_status: final,
      } = JSON.parse(textOf("end.json")(home)) as Record<string, unknown>;
      return { reason, status, error, final };
    },
  },
  "hooks at the end of a session, with somebody there": {
    script: hi,
    request: { hooks: [JSON.stringify({ hooks: { sessionEnd: [hook('cat > "$HOME/end.json"')] } })] },
    answers: [],
    after: (home) => {
      const {
        reason,
        status,
        error,
        final_status: final,
      } = JSON.parse(textOf("end.json")(home)) as Record<string, unknown>;
      return { reason, status, error, final };
    },
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
};

it("runs with more than a model are as the table says", async () => {
  await expect(await tableOf(scenarios)).toMatchFileSnapshot(join(import.meta.dirname, "run-parts.txt"));
}, 300_000);
