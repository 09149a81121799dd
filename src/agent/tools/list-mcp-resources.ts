// ListMcpResources: lists the resources of MCP servers. It is also offered without servers, and then lists none.
import * as v from "valibot";
import { tool } from "./define.ts";
import type { Tool, ToolContext } from "./tool.ts";

export type ListedResource = { server: string; uri: string; name: string; description?: string; mimeType?: string };

/** Creates the tool that lists MCP resources. `list` returns the resources of one server, or of all servers. */
export function listMcpResources(
  list: (server: string | undefined, signal: AbortSignal) => Promise<readonly ListedResource[]>,
): Tool<{ server?: string | undefined }> {
  return tool({
    name: "ListMcpResources",
    wire: "listMcpResources",
    description: "List the resources that MCP servers offer.",
    readOnly: true,
    args: v.object({ server: v.optional(v.string()) }),
    wireArgs: (args) => args,
    needs: () => [],
    async run({ server }, { signal, resultLimit }: ToolContext) {
      const all = await list(server, signal);
      const resources = all.map(({ server: _, ...resource }) => resource);
      const lines = all.map((each) => `${each.server}: ${each.uri}  ${each.description ?? each.name}`);
      const text = lines.length > 0 ? lines.join("\n") : "There are none.";
      return { outcome: { kind: "success", value: { resources } }, text: text.slice(0, resultLimit) };
    },
  });
}

export const noMcpResources = listMcpResources(async () => []);
