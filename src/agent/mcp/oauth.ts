// OAuth client for MCP servers: stores and refreshes tokens, and obtains the first ones.
import { type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../json/object.ts";
import { isLoopback } from "../../net/server-fetch.ts";
import { type McpLogin, readLogin, updateLogin } from "../../store/mcp-logins.ts";
import type { McpDefinition } from "../../store/mcp-servers.ts";

export type LoginContext = {
  configDir: string;
  url: URL;
  /** The OAuth client from the user's configuration. Without it, a client is registered dynamically. */
  auth?: McpDefinition["auth"];
};

export type LoginInteraction = {
  redirectUrl: string;
  /** A random value that the authorization server must return, so that a forged answer is not accepted. */
  state: string;
  /** Opens the authorization page for the user. */
  open(url: URL): void | Promise<void>;
};

/** Returns a provider with saved tokens for a run, refreshed when they expire; undefined when none are saved. */
export function savedLogin(context: LoginContext): OAuthClientProvider | undefined {
  const { tokens, redirectUrl } = readLogin(context.configDir, context.url);
  if (!tokens) return undefined;
  return loginProvider(context, {
    redirectUrl: redirectUrl ?? "http://127.0.0.1/callback",
    state: "",
    open: () => {
      throw new UnauthorizedError("the login is no longer valid");
    },
  });
}

export function loginProvider({ configDir, url, auth }: LoginContext, way: LoginInteraction): OAuthClientProvider {
  const { redirectUrl, state } = way;
  const read = () => readLogin(configDir, url);
  const save = (change: (login: McpLogin) => McpLogin) => updateLogin(configDir, url, change);
  let verifier = "";
  let discovered: Awaited<ReturnType<NonNullable<OAuthClientProvider["discoveryState"]>>>;
  let used: unknown;
  return {
    redirectUrl,
    clientMetadata: {
      client_name: "Courser",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: auth?.CLIENT_SECRET === undefined ? "none" : "client_secret_post",
      ...(auth?.scopes && { scope: auth.scopes.join(" ") }),
    },
    state: () => state,
    clientInformation() {
      if (auth)
        return {
          client_id: auth.CLIENT_ID,
          ...(auth.CLIENT_SECRET !== undefined && { client_secret: auth.CLIENT_SECRET }),
        };
      const saved = read();
      // A client that was registered for another redirect port cannot be used.
      if (saved.redirectUrl !== redirectUrl) return undefined;
      return saved.client as ReturnType<OAuthClientProvider["clientInformation"]>;
    },
    saveClientInformation: (client) => save((login) => ({ ...login, client: client as JsonObject, redirectUrl })),
    tokens() {
      used = read().tokens;
      return used as ReturnType<OAuthClientProvider["tokens"]>;
    },
    saveTokens: (tokens) => save((login) => ({ ...login, tokens: tokens as unknown as JsonObject, redirectUrl })),
    redirectToAuthorization(address) {
      if (!isSafeToOpen(address))
        throw new UnauthorizedError(
          `the server's login address ${address.protocol}//${address.host} is neither https nor on this machine`,
        );
      return way.open(address);
    },
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(found) {
      discovered = found;
    },
    discoveryState: () => discovered,
    invalidateCredentials(scope) {
      if (scope === "verifier" || scope === "discovery") return;
      save((login) => {
        const { tokens, client, redirectUrl: registered, ...rest } = login;
        // Keep the stored tokens if another run has refreshed them in the meantime.
        const isRenewed = JSON.stringify(tokens) !== JSON.stringify(used);
        return {
          ...rest,
          ...(tokens && (scope === "client" || isRenewed) && { tokens }),
          ...(client && scope === "tokens" && { client }),
          ...(registered !== undefined && { redirectUrl: registered }),
        };
      });
    },
  };
}

/** Returns whether a URL is safe to open in a browser: no other protocols, and no user name that could disguise the host. */
export function isSafeToOpen(url: URL): boolean {
  if (url.username || url.password) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}
