// Answers requests of MCP servers: workspace roots, questions for the user, and questions for the model.

import { pathToFileURL } from "node:url";
import {
  type Client,
  type ClientCapabilities,
  type CreateMessageRequest,
  type CreateMessageResult,
  type ElicitRequest,
  type ElicitResult,
  ProtocolError,
} from "@modelcontextprotocol/client";
import { redactedStart } from "../../redact/shorten.ts";

export type ServerRequests = {
  /** The workspace folders, which MCP servers may request. */
  roots: readonly string[];
  /** Asks the user; absent when no user can answer. */
  elicit?(server: string, asked: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
  /** Asks the model after the user has agreed; absent when no user can. */
  sample?(server: string, asked: CreateMessageRequest["params"], signal: AbortSignal): Promise<CreateMessageResult>;
  /** Tells the user that a server's request was refused. */
  refused(message: string): void;
};

/** Announced to every server: each request gets an answer, which may be a refusal. */
export const capabilities: ClientCapabilities = { roots: {}, elicitation: { form: {}, url: {} }, sampling: {} };

export function answerRequests(client: Client, server: string, requests: ServerRequests): void {
  const { roots, elicit, sample, refused } = requests;
  client.setRequestHandler("roots/list", () => ({
    roots: roots.map((path) => ({ uri: pathToFileURL(path).href, name: path.replace(/^.*[\\/]/, "") || path })),
  }));
  client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => {
    if (elicit) return elicit(server, params, mcpReq.signal);
    refused(`The MCP server ${server} asked a question, but nobody can answer: ${redactedStart(params.message, 200)}`);
    return { action: "decline" };
  });
  client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) => {
    if (sample) return sample(server, params, mcpReq.signal);
    refused(`The MCP server ${server} wanted to call the model, but nobody can allow it.`);
    throw new ProtocolError(userRejected, "Nobody can allow a request to the model.");
  });
}

/** The error code in the MCP protocol for a request that the user rejected. */
export const userRejected = -1;
