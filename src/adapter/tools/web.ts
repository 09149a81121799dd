// The tools `web_fetch` and `web_search`: pages of public hosts, and results of the configured search engine.
import { type Check, callback, object, positive, text } from "../../json/checks.ts";
import { checkOptions } from "../../protocol/check-options.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { contractSchemas } from "../../protocol/turn-contract.ts";
import { createRedactor } from "../../redact/redact.ts";
import { fetchPage, GuardRefusal, type PageRequest } from "../../web/page.ts";
import { createPageCache } from "../../web/page-cache.ts";
import { searchWeb } from "../../web/search.ts";
import {
  howToConfigureSearch,
  type SearchSettings,
  searchEngine,
  searchEngineNames,
} from "../../web/search-engines.ts";
import { parseRules, type RuleTexts, ruleChecks } from "./permission.ts";
import type { AdapterTool } from "./router.ts";

/** The options of `createWebFetchTool`. */
export type WebFetchOptions = RuleTexts & {
  /** Called if no rule decides: for an unusual port, credentials in the URL, or a host that `allow` does not name. */
  ask?(question: { url: string; reasons: readonly string[] }): Promise<boolean>;
  /** The most characters of a page that the model gets. Default: 100,000. */
  maxCharacters?: number;
  limits?: PageRequest["limits"];
  env?: NodeJS.ProcessEnv;
};

const fetchChecks = {
  ...ruleChecks,
  ask: callback,
  maxCharacters: positive,
  limits: object,
  env: object,
} satisfies Record<keyof WebFetchOptions, Check>;

/** The default rule, which allows every public host. Private addresses need a rule with host and port. */
const everyHost: RuleTexts["allow"] = ["WebFetch(*)"];

/** Creates `web_fetch`, a tool that reads a web page as Markdown. */
export function createWebFetchTool(options: WebFetchOptions = {}): AdapterTool {
  checkOptions("createWebFetchTool", options, fetchChecks);
  const { allow = everyHost, deny, ask, maxCharacters = 100_000, limits, env } = options;
  const rules = parseRules({ allow, deny });
  const cache = createPageCache();
  return {
    name: "web_fetch",
    aliases: ["mcp_web_fetch"],
    description: "Read a web page as Markdown.",
    schema: contractSchemas.get("web_fetch")!,
    async run({ url }: { url: string }, { signal }) {
      const request: PageRequest = { mode: "default", rules, cache, signal, limits, ...(env && { env }) };
      const page = await fetchAsking(url, request, ask);
      const isLong = page.markdown.length > maxCharacters;
      const notes = isLong || page.isTruncated ? ["[… the page is truncated …]"] : [];
      const from = page.finalUrl === page.url ? [] : [`(from ${page.finalUrl})`];
      return [...from, page.markdown.slice(0, maxCharacters), ...notes].join("\n\n");
    },
  };
}

async function fetchAsking(url: string, request: PageRequest, ask: WebFetchOptions["ask"]) {
  const permitted: string[] = [];
  for (;;) {
    try {
      return await fetchPage(url, { ...request, permitted });
    } catch (error) {
      // Ask about a redirect to another host, unless that was already allowed.
      if (!(error instanceof GuardRefusal)) throw error;
      const origin = URL.canParse(error.url) ? new URL(error.url).origin : "";
      const isAskable = error.verdict === "ask" && !permitted.includes(origin) && ask !== undefined;
      if (!isAskable || (await ask({ url: error.url, reasons: error.reasons })) !== true)
        throw new Error(`Not permitted: ${error.reasons.join(" ")}`);
      permitted.push(origin);
    }
  }
}

/** The options of `createWebSearchTool`. */
export type WebSearchOptions = {
  /** searxng, brave, tavily or exa. Default: the one whose variable is set. */
  engine?: string;
  /** The address of the engine; it may be on this machine. */
  endpoint?: string;
  /** The environment variable that holds the engine's key. */
  keyEnv?: string;
  /** The most results to return. Default: 8. */
  count?: number;
  env?: NodeJS.ProcessEnv;
};

const searchChecks = {
  engine: text,
  endpoint: text,
  keyEnv: text,
  count: positive,
  env: object,
} satisfies Record<keyof WebSearchOptions, Check>;

/** Creates `web_search`, a tool that searches the web. */
export function createWebSearchTool(options: WebSearchOptions = {}): AdapterTool {
  checkOptions("createWebSearchTool", options, searchChecks);
  const { engine, endpoint, keyEnv, count, env = process.env } = options;
  if (engine !== undefined && !searchEngineNames.includes(engine))
    throw new UserError(
      "CONFIG_INVALID",
      `Unknown search engine "${engine}"; available: ${searchEngineNames.join(", ")}.`,
    );
  const settings: SearchSettings = { engine, url: endpoint, keyEnv };
  return {
    name: "web_search",
    aliases: ["mcp_web_search"],
    description: "Search the web. Returns the title, address and an excerpt of each result.",
    schema: contractSchemas.get("web_search")!,
    async run({ query }: { query: string }, { signal }) {
      const found = searchEngine(settings, env);
      if (!found) throw new Error(howToConfigureSearch);
      try {
        const hits = await searchWeb(query, { engine: found, signal, env, count });
        if (hits.length === 0) return "Nothing was found.";
        return hits.map(({ title, url, snippet }) => `${title}\n${url}\n${snippet}`.trim()).join("\n\n");
      } catch (error) {
        const { redact } = createRedactor({ values: [found.key] });
        throw new Error(redact(error instanceof Error ? error.message : String(error)));
      }
    },
  };
}
