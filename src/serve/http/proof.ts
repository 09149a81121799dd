// Proof that this is the service that a page was told of. A page that lost its connection asks for it before it sends its
// token again: by then another program may listen on the port.
import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { securityHeaders } from "./guard.ts";
import { errorBody } from "./route.ts";

export const proofPath = "/api/proof";

/** `?nonce=`: 32 to 128 letters and digits of the page's choice. False: it is not asked for. */
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
