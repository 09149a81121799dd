// Sets up each agent CLI for a test: a home of its own, telemetry and updates off, and a model on loopback.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BuiltInTool } from "../../sdk/unified.ts";

/** Where an agent runs; `url` is the address of the model server. */
export type AgentPlace = { workspace: string; home: string; url: string };

/** The model to ask for, the environment variables, and arguments for the command line. */
export type AgentHome = { model: string; env: Record<string, string>; args?: readonly string[] };

/** Writes the files that each CLI reads at its start. */
export const agentHomes: Record<BuiltInTool, (place: AgentPlace) => AgentHome> = {
  cursor: ({ url }) => ({
    model: "model",
    env: { OPENAI_API_KEY: "on-loopback" },
    args: ["--endpoint", `${url}/v1`],
  }),
  claude({ home, url }) {
    put(join(home, ".claude.json"), { hasCompletedOnboarding: true });
    return {
      model: "claude-sonnet-4-5",
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "on-loopback",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_MAX_RETRIES: "1",
        // Offer the tools of MCP servers at once, without making the model search for them.
        ENABLE_TOOL_SEARCH: "false",
        // Claude refuses to skip permissions as root unless it is told that it runs in a container.
        IS_SANDBOX: "1",
      },
    };
  },
  codex({ home, workspace, url }) {
    const provider = `name = "loopback"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "LOOPBACK_KEY"\nrequest_max_retries = 1\nstream_max_retries = 1`;
    put(
      join(home, ".codex/config.toml"),
      `model = "gpt-5"\nmodel_provider = "loopback"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n[features]\nplugins = false\n[model_providers.loopback]\n${provider}\n[projects."${workspace}"]\ntrust_level = "trusted"\n`,
    );
    // Run hooks that the user has not trusted; otherwise trust can only be given on its screen.
    const args = ["--dangerously-bypass-hook-trust"];
    return { model: "gpt-5", env: { LOOPBACK_KEY: "on-loopback" }, args };
  },
  gemini({ home, url }) {
    put(join(home, ".gemini/settings.json"), {
      security: { auth: { selectedType: "gemini-api-key" } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 2 },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    });
    return {
      model: "gemini-2.5-pro",
      env: {
        GEMINI_API_KEY: "on-loopback",
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
        GEMINI_CLI_NO_RELAUNCH: "true",
      },
    };
  },
  opencode: ({ url }) => ({
    model: "loopback/model",
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        autoupdate: false,
        share: "disabled",
        provider: {
          loopback: {
            npm: "@ai-sdk/openai-compatible",
            name: "loopback",
            options: { baseURL: `${url}/v1`, apiKey: "on-loopback" },
            models: {
              model: {
                name: "model",
                tool_call: true,
                reasoning: true,
                attachment: true,
                modalities: { input: ["text", "image"], output: ["text"] },
                limit: { context: 128_000, output: 8000 },
              },
            },
          },
        },
      }),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    },
  }),
  pi({ home, url }) {
    const provider = { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "on-loopback" };
    const models = [{ id: "model", reasoning: true, input: ["text", "image"] }];
    put(join(home, ".pi/agent/models.json"), { providers: { loopback: { ...provider, models } } });
    put(join(home, ".pi/agent/settings.json"), { retry: { enabled: true, maxRetries: 1, baseDelayMs: 100 } });
    return { model: "loopback/model", env: { PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_SKIP_VERSION_CHECK: "1" } };
  },
};

/** Writes a file, unless the test has written its own. One that names an earlier server of this kit is overwritten. */
function put(path: string, content: string | object): void {
  if (existsSync(path) && !readFileSync(path, "utf8").includes("loopback")) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}
