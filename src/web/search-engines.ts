// The search engines that can be asked: what to send, and where the results stand in the answer.
import { isObject, type JsonObject } from "../protocol/json-object.ts";

export type SearchHit = { title: string; url: string; snippet: string };

export type EngineRequest = { url: string; headers: Record<string, string>; body?: string };

export type EngineKind = {
  name: string;
  /** Variables that hold its key, or its address where it needs no key. */
  variables: readonly string[];
  /** None: it is the user's own server, and only the user knows where. */
  url?: string;
  needsKey: boolean;
  request(query: string, place: { url: string; key: string; count: number }): EngineRequest;
  /** The list of results in the answer. */
  results(answer: JsonObject): unknown;
  hit(result: JsonObject): { title?: unknown; url?: unknown; snippet?: unknown };
};

export const engineKinds: readonly EngineKind[] = [
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
