// WebSearch: queries the search engine that the user has configured.
import * as v from "valibot";
import { tool } from "./define.ts";
import { ToolFailure } from "./tool.ts";

export const webSearch = tool({
  name: "WebSearch",
  wire: "webSearch",
  aliases: ["web_search", "search_web", "mcp_web_search"],
  description: "Search the web; results have title, address and an excerpt.",
  readOnly: true,
  args: v.object({
    query: v.pipe(
      v.string(),
      v.check((text) => text.trim() !== "", "must not be empty"),
      v.check((text) => text.length <= 2000, "must not be longer than 2000 characters"),
    ),
  }),
  spellings: { search_term: "query", searchTerm: "query", q: "query", search_query: "query" },
  wireArgs: ({ query }, { callId }) => ({ searchTerm: query, toolCallId: callId }),
  // Without a search engine nothing is sent, so no permission is needed: the call fails with advice on what to
  // configure.
  needs: (_, { web }) => (web?.engine ? [{ kind: "WebSearch", target: web.engine.url }] : []),
  async run({ query }, { web, signal }) {
    const { howToConfigureSearch } = await import("../../web/search-engines.ts");
    if (!web?.engine) throw searchFailure(howToConfigureSearch);
    const { SearchError, searchWeb } = await import("../../web/search.ts");
    const { NetError } = await import("../../net/net-error.ts");
    try {
      const hits = await searchWeb(query, { engine: web.engine, signal, env: web.env });
      const references = hits.map(({ title, url, snippet }) => ({ title, url, chunk: snippet }));
      const lines = hits.map(({ title, url, snippet }, index) => `${index + 1}. ${title}\n   ${url}\n   ${snippet}`);
      return { outcome: { kind: "success", value: { references } }, text: lines.join("\n\n") || "Nothing was found." };
    } catch (error) {
      if (signal.aborted) throw searchFailure("The run was stopped.");
      if (error instanceof SearchError || error instanceof NetError) throw searchFailure(error.message);
      if ((error as Error).name === "TimeoutError")
        throw searchFailure(`${web.engine.kind.name} did not answer in time.`);
      throw error;
    }
  },
});

function searchFailure(error: string): ToolFailure {
  return new ToolFailure("error", { error }, `The web could not be searched: ${error}`);
}
