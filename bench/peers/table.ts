// The agents that Courser is measured beside: where their program is, what they must be told to be quiet and to ask our model, and
// the command line of one turn. One row each.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type Turn = "text" | "tool";

export const prompts: Record<Turn, string> = {
  text: "What is 2+2? Answer with the number only.",
  tool: "Run the shell command: echo hi",
};

/** `url`: the model for each kind of turn, without `/v1`. */
export type PeerPlace = { home: string; url: Record<Turn, string> };

/** `prompt`: what is asked. `again`: in the chat of the run before. */
export type PeerTurn = PeerPlace & { prompt: string; again?: boolean };

export type Peer = {
  name: string;
  /** As npm calls it, and the program that it brings. */
  package: string;
  program: string;
  /** The oldest major version of Node that its package asks for. */
  node?: number;
  /** What differs from its defaults, where that is said in a file. */
  prepare?(place: PeerPlace): void;
  /** Its own commands that must have run before: the arguments of each. */
  before?(place: PeerPlace): string[][];
  turn(turn: Turn, place: PeerTurn): { args: string[]; env?: Record<string, string> };
  note?: string;
};

const model = "bench-model";
const key = "bench";

export const peers: readonly Peer[] = [
  {
    name: "codex",
    package: "@openai/codex",
    program: "codex",
    note: "`--disable plugins`; otherwise it waits five seconds for a network",
    prepare: ({ home }) =>
      write(
        join(home, ".codex/config.toml"),
        `model = "${model}"\nmodel_provider = "bench"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n[feedback]\nenabled = false\n`,
      ),
    turn: (turn, { url, prompt, again }) => ({
      args: [
        ...(again ? ["exec", "resume", "--last"] : ["exec"]),
        ...["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
        ...["--disable", "plugins", "-c"],
        `model_providers.bench={name="bench",base_url="${url[turn]}/v1",env_key="BENCH_KEY",wire_api="responses"}`,
        prompt,
      ],
      env: { BENCH_KEY: key },
    }),
  },
  {
    name: "pi",
    package: "@earendil-works/pi-coding-agent",
    program: "pi",
    node: 22,
    prepare: ({ home, url }) => {
      const provider = (turn: Turn) => ({
        baseUrl: `${url[turn]}/v1`,
        api: "openai-completions",
        apiKey: key,
        models: [{ id: model }],
      });
      write(join(home, ".pi/agent/models.json"), {
        providers: { "bench-text": provider("text"), "bench-tool": provider("tool") },
      });
    },
    turn: (turn, { prompt, again }) => ({
      args: [
        "-p",
        ...(again ? ["--continue"] : []),
        "--mode",
        "json",
        "--provider",
        `bench-${turn}`,
        "--model",
        model,
        prompt,
      ],
      env: { PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
    }),
  },
  {
    name: "claude",
    package: "@anthropic-ai/claude-code",
    program: "claude",
    prepare: ({ home }) => write(join(home, ".claude.json"), { hasCompletedOnboarding: true, autoUpdates: false }),
    turn: (turn, { url, prompt, again }) => ({
      args: [
        ...["-p", prompt, "--output-format", "stream-json", "--verbose", ...(again ? ["--continue"] : [])],
        ...["--allowedTools", "Bash,Edit,Read,Glob,Grep"],
      ],
      env: {
        ANTHROPIC_BASE_URL: url[turn],
        ANTHROPIC_API_KEY: `sk-${key}`,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_ERROR_REPORTING: "1",
      },
    }),
  },
  {
    name: "copilot",
    package: "@github/copilot",
    program: "copilot",
    turn: (turn, { url, prompt }) => ({
      args: [
        ...["-p", prompt, "--output-format", "json", "--allow-all-tools"],
        ...["--no-auto-update", "--disable-client-telemetry"],
      ],
      env: {
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
        COPILOT_PROVIDER_BASE_URL: `${url[turn]}/v1`,
        COPILOT_PROVIDER_API_KEY: key,
        COPILOT_MODEL: model,
        COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "128000",
        COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: "8000",
      },
    }),
  },
  {
    name: "gemini",
    package: "@google/gemini-cli",
    program: "gemini",
    prepare: ({ home }) =>
      write(join(home, ".gemini/settings.json"), {
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      }),
    turn: (turn, { url, prompt }) => ({
      args: [
        ...["-p", prompt, "-o", "stream-json", "-m", "gemini-2.5-flash"],
        ...["--approval-mode", "yolo", "--skip-trust"],
      ],
      env: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: url[turn], GEMINI_TELEMETRY_ENABLED: "false" },
    }),
  },
  {
    name: "qwen",
    package: "@qwen-code/qwen-code",
    program: "qwen",
    node: 22,
    prepare: ({ home }) =>
      write(join(home, ".qwen/settings.json"), {
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      }),
    turn: (turn, { url, prompt }) => ({
      args: [
        ...["-p", prompt, "-o", "stream-json", "--auth-type", "openai"],
        ...["--model", model, "--approval-mode", "yolo"],
      ],
      env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url[turn]}/v1`, OPENAI_MODEL: model },
    }),
  },
  {
    name: "continue",
    package: "@continuedev/cli",
    program: "cn",
    prepare: ({ home, url }) => {
      for (const turn of ["text", "tool"] as const)
        write(
          join(home, `${turn}.yaml`),
          `name: bench\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: bench\n    provider: openai\n    model: ${model}\n    apiKey: ${key}\n    apiBase: ${url[turn]}/v1\n    roles: [chat]\n    capabilities: [tool_use]\n    useResponsesApi: false\n`,
        );
    },
    turn: (turn, { home, prompt }) => ({
      args: ["-p", "--format", "json", "--auto", "--config", join(home, `${turn}.yaml`), prompt],
      env: { CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_CLI_DISABLE_AUTO_UPDATE: "1" },
    }),
    note: "its first event is the whole answer",
  },
  {
    name: "cline",
    package: "cline",
    program: "cline",
    note: "starts a daemon in the first run that speeds up later ones and is not included in its memory",
    before: ({ home, url }) =>
      (["text", "tool"] as const).map((turn) => [
        ...["auth", "-p", "openai-compatible", "-k", key, "-m", model],
        ...["-b", `${url[turn]}/v1`, "--config", join(home, turn)],
      ]),
    turn: (turn, { home, prompt }) => ({
      args: [
        ...["--json", "--auto-approve", "true", "--config", join(home, turn)],
        ...["-P", "openai-compatible", "-m", model, prompt],
      ],
      env: { CLINE_TELEMETRY_DISABLED: "1", CLINE_NO_AUTO_UPDATE: "1" },
    }),
  },
  {
    name: "opencode",
    package: "opencode-ai",
    program: "opencode",
    turn: (turn, { url, prompt }) => ({
      args: ["run", "--format", "json", "-m", `bench/${model}`, prompt],
      env: openCodeVariables("OPENCODE", url[turn]),
    }),
  },
  {
    name: "kilo",
    package: "@kilocode/cli",
    program: "kilo",
    turn: (turn, { url, prompt }) => ({
      args: ["run", "--format", "json", "-m", `bench/${model}`, prompt],
      env: { ...openCodeVariables("KILO", url[turn]), KILO_TELEMETRY_LEVEL: "off" },
    }),
  },
];

/** For opencode and what was made of it. */
function openCodeVariables(prefix: string, url: string): Record<string, string> {
  const config = {
    autoupdate: false,
    share: "disabled",
    permission: "allow",
    model: `bench/${model}`,
    provider: {
      bench: {
        npm: "@ai-sdk/openai-compatible",
        name: "bench",
        options: { baseURL: `${url}/v1`, apiKey: key },
        models: { [model]: { name: model, tool_call: true, limit: { context: 128_000, output: 8_000 } } },
      },
    },
  };
  const off = ["DISABLE_AUTOUPDATE", "DISABLE_MODELS_FETCH", "DISABLE_LSP_DOWNLOAD", "DISABLE_SHARE"];
  return {
    [`${prefix}_CONFIG_CONTENT`]: JSON.stringify(config),
    ...Object.fromEntries(off.map((name) => [`${prefix}_${name}`, "1"])),
  };
}

function write(file: string, content: string | object): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
}
