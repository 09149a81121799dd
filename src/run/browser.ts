// Opens the browser of a run with --browser: located up front, started when a page is opened.
import { findBrowser } from "../agent/browser/find-browser.ts";
import { createBrowser } from "../agent/browser/index.ts";
import { createBrowserTools } from "../agent/browser/tools.ts";
import type { ProcessRunner } from "../agent/process.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { coversMcp } from "../policy/rules.ts";
import { chooseServerTools } from "./choose-tools.ts";
import type { Setup } from "./setup.ts";

export type RunBrowser = { tools: readonly Tool[]; end(): Promise<void> };

type BrowserParts = { state: Pick<Setup, "mode">; processes: ProcessRunner; warn(message: string): void };

/** Opens a browser for the run. Throws if none is installed. */
export function openBrowser({ rules, request, host: { env } }: Setup, parts: BrowserParts): RunBrowser {
  const { state, processes, warn } = parts;
  const browser = createBrowser({
    program: findBrowser(env),
    rules,
    get mode() {
      return state.mode;
    },
    processes,
    env,
    warn,
  });
  const denied = rules.filter((rule) => rule.kind === "Mcp" && rule.verdict === "deny");
  const tools = createBrowserTools(browser).filter(
    ({ mcp }) => !denied.some((rule) => coversMcp(rule, `${mcp!.server}:${mcp!.tool}`)),
  );
  return {
    get tools() {
      return chooseServerTools(tools, request, state.mode);
    },
    end: () => browser.end(),
  };
}
