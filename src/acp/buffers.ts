// Files through the client: what an editor has open and has not saved is read there, and edits go there.
import type { OpenBuffers } from "../agent/seams.ts";
import { failure } from "../agent/tools/tool.ts";
import { isObject } from "../json/object.ts";
import type { AcpClient } from "./client.ts";
import { type RpcFailure, rpcCodes } from "./rpc.ts";

/** A client that says nothing is not waited for: reads go to the disk, writes fail. */
const patienceMs = 15_000;

/** `signal`: of the turn that runs. */
export function clientBuffers(
  client: AcpClient,
  sessionId: string,
  signal: () => AbortSignal,
): OpenBuffers | undefined {
  const { readsFiles, writesFiles } = client.can;
  if (!readsFiles) return undefined;
  /** What the client gave us: it must take it back, since it may hold what is not saved. */
  const given = new Set<string>();
  const waiting = () => AbortSignal.any([signal(), AbortSignal.timeout(patienceMs)]);
  return {
    async read(path) {
      const reply = await client.request("fs/read_text_file", { sessionId, path }, waiting());
      given.delete(path);
      if ("error" in reply) {
        if (isRefusal(reply.error))
          throw failure(`The editor refused to read ${path}: ${textOf(reply.error)}`, { path });
        return undefined; // it is not there, or not the client's: the disk knows
      }
      const content = isObject(reply.result) ? reply.result["content"] : undefined;
      if (typeof content !== "string") return undefined;
      given.add(path);
      return content;
    },
    async write(path, text) {
      if (!writesFiles) return false;
      const reply = await client.request("fs/write_text_file", { sessionId, path, content: text }, waiting());
      if (!("error" in reply)) return true;
      if (!given.has(path) && !isRefusal(reply.error) && reply.error.code !== rpcCodes.cancelled) return false;
      throw failure(`The editor did not write ${path}: ${textOf(reply.error)}`, { path });
    },
  };
}

/** Clients have no code for it. */
function isRefusal(error: RpcFailure): boolean {
  return error.code !== rpcCodes.notFound && /permission|denied|not allowed|refused|reject/i.test(textOf(error));
}

/** The message of many clients is only that there is a failure; what it is stands beside it. */
function textOf({ message, data }: RpcFailure): string {
  const details = isObject(data) ? data["details"] : data;
  return typeof details === "string" && details !== "" ? `${message}: ${details}` : message;
}
