// AcpClient: the interface through which sessions talk to the editor.
import type { RpcReply } from "./rpc.ts";
import type { ClientAbilities } from "./v1/initialize.ts";
import type { Update } from "./v1/updates.ts";

export interface AcpClient {
  readonly can: ClientAbilities;
  update(sessionId: string, update: Update): void;
  notify(method: string, params: object): void;
  /** Sends a request to the client. Never rejects. */
  request(method: string, params: object, signal?: AbortSignal): Promise<RpcReply>;
  /** Resolves when the client has read enough to be sent more. Undefined if it can be sent more now. */
  ready(unless?: AbortSignal): Promise<void> | undefined;
  /** Writes a line to the debug log. */
  log(message: string): void;
}

/** Returns the result in a reply, or undefined if the request failed. */
export function replyResult(reply: RpcReply): unknown {
  return "result" in reply ? reply.result : undefined;
}
