// Tools that list the resources of all MCP servers and read one of them.
import * as v from "valibot";
import { tool } from "../tools/define.ts";
import { listMcpResources } from "../tools/list-mcp-resources.ts";
import { failure, type Tool, ToolFailure } from "../tools/tool.ts";
import type { Connection } from "./connection.ts";
import { shownResource, toolResult } from "./content.ts";
import { serverFailure } from "./server-tool.ts";

const maxListed = 1000;

/**
 * Creates the tools that list and read MCP resources. `connections` returns the servers that have resources; `consents`
 * returns whether a server's resources may be read without asking.
 */
export function resourceTools(connections: () => readonly Connection[], consents: (server: string) => boolean): Tool[] {
  const named = (server: string | undefined) => {
    if (server === undefined) return connections();
    const found = connections().filter(({ name }) => name === server);
    if (found.length > 0) return found;
    const names = connections().map(({ name }) => name);
    throw failure(`No MCP server "${server}" has resources. Available: ${names.join(", ")}.`);
  };
  const list = listMcpResources(async (server, signal) => {
    const lists = await Promise.allSettled(
      named(server).map(async (connection) =>
        (await connection.listResources({ signal })).map(({ uri, name, description, mimeType }) => ({
          server: connection.name,
          uri,
          name,
          ...(description !== undefined && { description }),
          ...(mimeType !== undefined && { mimeType }),
        })),
      ),
    );
    const failed = lists.find((each) => each.status === "rejected");
    if (failed && lists.every((each) => each.status === "rejected")) throw serverFailure(failed.reason);
    return lists.flatMap((each) => (each.status === "fulfilled" ? each.value : [])).slice(0, maxListed);
  });
  const read = tool({
    name: "ReadMcpResource",
    wire: "readMcpResource",
    description: "Read a resource from ListMcpResources.",
    readOnly: true,
    args: v.object({ server: v.string(), uri: v.string() }),
    wireArgs: (args) => args,
    needs: ({ server, uri }) => [
      { kind: "Mcp", target: `${server}:${uri}`, ...(consents(server) && { consented: true }) },
    ],
    async run({ server, uri }, { signal, resultLimit }) {
      const [connection] = named(server);
      try {
        const rendered = shownResource(await connection!.readResource(uri, { signal }), resultLimit);
        return toolResult({ kind: "success", value: { uri, content: rendered.wire } }, rendered);
      } catch (error) {
        const { message } = serverFailure(error);
        throw new ToolFailure("error", { uri, error: message }, message);
      }
    },
  });
  return [list, read];
}
