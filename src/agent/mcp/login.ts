// Logs in to an MCP server with OAuth: opens the authorization page and exchanges the answer for tokens.
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createServerFetch } from "../../net/server-fetch.ts";
import type { McpServer } from "../../store/mcp-servers.ts";
import type { ResolvedServer } from "../../store/mcp-variables.ts";
import { type LoginInteraction, loginProvider } from "./oauth.ts";
import type { RemoteContext } from "./remote.ts";

export type LoginOptions = RemoteContext & {
  version: string;
  interaction: LoginInteraction;
  /** Resolves to the parameters that the browser brings back. */
  answer(): Promise<URLSearchParams>;
};

/** Returns "known" when the server accepted the existing credentials. */
export async function logIn(
  { transport }: McpServer,
  { url, headers, auth }: Extract<ResolvedServer, { kind: "url" }>,
  { env, configDir, version, interaction, answer }: LoginOptions,
): Promise<"known" | "new"> {
  let isShown = false;
  const open = async (address: URL) => {
    await interaction.open(address);
    isShown = true;
  };
  const authProvider = loginProvider({ configDir, url, ...(auth && { auth }) }, { ...interaction, open });
  const TransportClass = transport === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
  const connection = () => new TransportClass(url, { fetch: createServerFetch(url, { env, headers }), authProvider });
  const first = connection();
  try {
    await connectOnce(first, version);
    return "known";
  } catch (error) {
    if (!isShown) throw error;
  }
  await first.finishAuth(await answer());
  await connectOnce(connection(), version);
  return "new";
}

async function connectOnce(transport: SSEClientTransport | StreamableHTTPClientTransport, version: string) {
  const client = new Client({ name: "courser", version });
  try {
    await client.connect(transport, { timeout: 30_000 });
  } finally {
    await client.close().catch(() => {});
  }
}
