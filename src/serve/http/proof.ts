// Proves to a page that this is the service it knows. A page that lost its connection asks for the proof before it sends its
// token again, because another program may listen on the port by then.
import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { securityHeaders } from "./guard.ts";
import { errorBody } from "./route.ts";

export const proofPath = "/api/proof";

/** Proves that this service has the token, by a hash with the `?nonce=` of the page. Returns false for a request for something else. */
export function proveToken({ url = "", method }: IncomingMessage, response: ServerResponse, token: string): boolean {
  const [path, query] = url.split("?");
  if (path !== proofPath || method !== "GET") return false;
  const nonce = /^nonce=([A-Za-z0-9]{32,128})$/.exec(query ?? "")?.[1];
  response.writeHead(nonce === undefined ? 400 : 200, { ...securityHeaders, "Content-Type": "application/json" });
  const answer =
    nonce === undefined
      ? errorBody("invalid_request", "The query must be nonce=, with 32 to 128 letters and digits.")
      : { proof: createHmac("sha256", token).update(`courser:${nonce}`).digest("hex") };
  response.end(JSON.stringify(answer));
  return true;
}
