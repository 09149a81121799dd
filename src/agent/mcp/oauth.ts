// Who we are at a server that wants a login: tokens that are kept and renewed, and the way to get the first ones.
import { type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../json/object.ts";
import { isLoopback } from "../../net/server-fetch.ts";
import { type McpLogin, readLogin, updateLogin } from "../../store/mcp-logins.ts";
import type { McpDefinition } from "../../store/mcp-servers.ts";

export type LoginContext = {
  configDir: string;
  url: URL;
  /** An application that was registered by hand; else we register ourselves. */
  auth?: McpDefinition["auth"];
};

export type LoginInteraction = {
  redirectUrl: string;
  /** Comes back with the answer, so that nobody else's answer is taken for ours. */
  state: string;
  /** Shows the person where to agree. */
  open(url: URL): void | Promise<void>;
};

/** For a run: saved tokens, renewed when they are old. Undefined where there are none, and then there is nothing to try. */
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
      // It was registered to answer at another port.
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
        // Another run may have renewed them meanwhile: those are good.
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

/** What a browser is sent to; never anything that another program would open, nor a name that hides the host behind it. */
export function isSafeToOpen(url: URL): boolean {
  if (url.username || url.password) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}
