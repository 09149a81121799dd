// AcpClient: the editor at the other end, as sessions speak to it.
import type { RpcReply } from "./rpc.ts";
import type { ClientAbilities } from "./v1/initialize.ts";
import type { Update } from "./v1/updates.ts";

export interface AcpClient {
  readonly can: ClientAbilities;
  update(sessionId: string, update: Update): void;
  notify(method: string, params: object): void;
  /** Never rejects. */
  request(method: string, params: object, signal?: AbortSignal): Promise<RpcReply>;
  /** Resolves when the client has read enough for more. Undefined: it has. */
  ready(unless?: AbortSignal): Promise<void> | undefined;
  /** For people who look for a fault. */
  log(message: string): void;
}

/** Undefined where it failed. */
export function resultOf(reply: RpcReply): unknown {
  return "result" in reply ? reply.result : undefined;
}
