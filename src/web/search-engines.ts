// The table of supported search engines: how to recognise and query each, and where its answer has the results.
import { isObject, type JsonObject } from "../json/object.ts";

/** As in courser.json: `{ "engine": "brave", "keyEnv": "MY_KEY" }`. All fields may be omitted if an environment variable is set. */
export type SearchSettings = { engine?: string; url?: string; keyEnv?: string };

export type SearchEngine = { kind: EngineKind; url: string; key: string };

export type SearchHit = { title: string; url: string; snippet: string };

export type EngineRequest = { url: string; headers: Record<string, string>; body?: string };

export type EngineKind = {
  name: string;
  /** Variables for its key, or for its address if it needs no key. */
  variables: readonly string[];
  /** The address of the engine; undefined if the user runs it and must configure the address. */
  url?: string;
  needsKey: boolean;
  request(query: string, place: { url: string; key: string; count: number }): EngineRequest;
  /** Returns the list of results in the engine's answer. */
  results(answer: JsonObject): unknown;
  hit(result: JsonObject): { title?: unknown; url?: unknown; snippet?: unknown };
};

const engineKinds: readonly EngineKind[] = [
  {
    name: "searxng",
    variables: ["SEARXNG_URL"],
    needsKey: false,
    request: (query, { url, key }) => ({
      url: withQuery(url.replace(/\/*$/, "/search"), { q: query, format: "json" }),
      headers: { ...(key !== "" && { authorization: `Bearer ${key}` }) },
    }),
    results: (answer) => answer["results"],
    hit: ({ title, url, content }) => ({ title, url, snippet: content }),
  },
  {
    name: "brave",
    variables: ["BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"],
    url: "https://api.search.brave.com/res/v1/web/search",
    needsKey: true,
    request: (query, { url, key, count }) => ({
      url: withQuery(url, { q: query, count: String(count) }),
      headers: { "x-subscription-token": key },
    }),
    results: (answer) => (isObject(answer["web"]) ? answer["web"]["results"] : []),
    hit: ({ title, url, description, extra_snippets: more }) => ({
      title,
      url,
      snippet: [description, ...(Array.isArray(more) ? more : [])].filter((each) => typeof each === "string").join(" "),
    }),
  },
  {
    name: "tavily",
    variables: ["TAVILY_API_KEY"],
    url: "https://api.tavily.com/search",
    needsKey: true,
    request: (query, { url, key, count }) => ({
      url,
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: count }),
    }),
    results: (answer) => answer["results"],
    hit: ({ title, url, content }) => ({ title, url, snippet: content }),
  },
  {
    name: "exa",
    variables: ["EXA_API_KEY"],
    url: "https://api.exa.ai/search",
    needsKey: true,
    request: (query, { url, key, count }) => ({
      url,
      headers: { "x-api-key": key },
      body: JSON.stringify({ query, numResults: count, contents: { text: { maxCharacters: 1000 } } }),
    }),
    results: (answer) => answer["results"],
    hit: ({ title, url, text, summary }) => ({ title, url, snippet: text ?? summary }),
  },
];

function withQuery(address: string, values: Record<string, string>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
  return url.href;
}

export const searchEngineNames: readonly string[] = engineKinds.map(({ name }) => name);

/**
 * Returns the engine that the settings name, SearXNG if they have only a URL, or else the first one whose environment variable is set.
 * Returns undefined if there is none, its name is unknown, or its URL is missing or invalid.
 */
export function searchEngine(settings: SearchSettings, env: NodeJS.ProcessEnv): SearchEngine | undefined {
  const named = settings.engine ?? (settings.url === undefined ? undefined : "searxng");
  const kind =
    named === undefined
      ? engineKinds.find((each) => variableValue(each, env))
      : engineKinds.find((each) => each.name === named);
  if (!kind) return undefined;
  const value = settings.keyEnv === undefined ? variableValue(kind, env) : env[settings.keyEnv]?.trim();
  const url = settings.url ?? kind.url ?? (kind.needsKey ? undefined : variableValue(kind, env));
  if (url === undefined || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return undefined;
  const key = kind.needsKey || settings.keyEnv !== undefined ? (value ?? "") : "";
  return { kind, url, key };
}

/** Advice for users who have configured no search engine. */
export const howToConfigureSearch =
  "No search engine is configured. Set BRAVE_API_KEY, TAVILY_API_KEY or EXA_API_KEY, or SEARXNG_URL to the address of a SearXNG server (http://… or https://…), " +
  'or write "search": { "engine": "…" } into courser.json.';

function variableValue({ variables }: EngineKind, env: NodeJS.ProcessEnv): string | undefined {
  return variables.map((name) => env[name]?.trim()).find(Boolean);
}
