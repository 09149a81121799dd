// What servers ask of us: which folders are worked in, questions for the person, questions for the model.

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
  /** Folders. */
  roots: readonly string[];
  /** Asks the person; absent where nobody can answer. */
  elicit?(server: string, asked: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
  /** Asks the model, after the person has agreed; absent where nobody can. */
  sample?(server: string, asked: CreateMessageRequest["params"], signal: AbortSignal): Promise<CreateMessageResult>;
  /** What was refused, for the person. */
  refused(message: string): void;
};

/** Told to every server: one that asks gets an answer, which may be no. */
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

/** The code that the protocol gives to a person's no. */
export const userRejected = -1;
