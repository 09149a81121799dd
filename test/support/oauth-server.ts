// An MCP server over HTTP that wants a login, and the authorization server that gives it: PKCE, registration, refresh.
import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type OAuthServer = {
  url: string;
  /** What was asked of it, by path. */
  asked: string[];
  /** Tokens that are good at the moment. */
  tokens: Set<string>;
  registrations: number;
  refreshes: number;
  stop(): Promise<void>;
};

/** `metadata`: fields that it lies about. `scopes`: seen at the authorization endpoint. */
export async function startOAuthServer(metadata: Record<string, unknown> = {}): Promise<OAuthServer> {
  const codes = new Map<string, { challenge: string; redirect: string; client: string }>();
  const refresh = new Set<string>();
  const clients = new Map<string, string[]>();
  const state: OAuthServer = {
    url: "",
    asked: [],
    tokens: new Set(),
    registrations: 0,
    refreshes: 0,
    stop: async () => {},
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", state.url);
    state.asked.push(url.pathname);
    const body = await bodyOf(request);
    const json = (status: number, value: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(value));
    };
    switch (url.pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return json(200, {
          resource: `${state.url}/mcp`,
          authorization_servers: [state.url],
          scopes_supported: ["read"],
        });
      case "/.well-known/oauth-authorization-server":
        return json(200, {
          issuer: state.url,
          authorization_endpoint: `${state.url}/authorize`,
          token_endpoint: `${state.url}/token`,
          registration_endpoint: `${state.url}/register`,
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          ...metadata,
        });
      case "/register": {
        const asked = JSON.parse(body);
        const id = randomUUID();
        state.registrations++;
        clients.set(id, asked.redirect_uris);
        return json(201, { ...asked, client_id: id });
      }
      case "/authorize": {
        const {
          client_id: client,
          redirect_uri: redirect,
          state: given,
          code_challenge: challenge,
        } = Object.fromEntries(url.searchParams);
        if (!clients.get(client!)?.includes(redirect!) || url.searchParams.get("code_challenge_method") !== "S256")
          return json(400, { error: "invalid_request" });
        const code = randomUUID();
        codes.set(code, { challenge: challenge!, redirect: redirect!, client: client! });
        response.writeHead(302, {
          location: `${redirect}?${new URLSearchParams({ code, state: given!, iss: state.url })}`,
        });
        return response.end();
      }
      case "/token":
        return token(new URLSearchParams(body), json);
      case "/mcp":
        return mcp(request, response, body, json);
    }
    json(404, { error: "not_found" });
  });

  function token(form: URLSearchParams, json: (status: number, value: unknown) => void): unknown {
    const give = () => {
      const access = randomUUID();
      const renew = randomUUID();
      state.tokens.clear();
      state.tokens.add(access);
      refresh.add(renew);
      json(200, { access_token: access, token_type: "Bearer", expires_in: 3600, refresh_token: renew, scope: "read" });
    };
    if (form.get("grant_type") === "refresh_token") {
      if (!refresh.delete(form.get("refresh_token")!)) return json(400, { error: "invalid_grant" });
      state.refreshes++;
      return give();
    }
    const code = codes.get(form.get("code")!);
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (!code || code.challenge !== verifier || code.redirect !== form.get("redirect_uri"))
      return json(400, { error: "invalid_grant" });
    codes.delete(form.get("code")!);
    give();
  }

  function mcp(
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
    json: (status: number, value: unknown, headers?: Record<string, string>) => void,
  ): unknown {
    const bearer = request.headers.authorization?.replace("Bearer ", "") ?? "";
    if (!state.tokens.has(bearer)) {
      const about = `${state.url}/.well-known/oauth-protected-resource/mcp`;
      return json(401, { error: "unauthorized" }, { "www-authenticate": `Bearer resource_metadata="${about}"` });
    }
    if (request.method !== "POST") return json(405, {});
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) {
      response.writeHead(202);
      response.end();
      return;
    }
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "guarded", version: "1" },
      },
      "tools/list": { tools: [{ name: "who", description: "Who asks", inputSchema: { type: "object" } }] },
      "tools/call": {
        content: [
          { type: "text", text: `you, with ${Object.keys(request.headers).includes("x-extra") ? "extra" : "nothing"}` },
        ],
      },
    };
    json(200, { jsonrpc: "2.0", id, result: results[method] ?? {} });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.stop = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return state;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
