// Reads and writes files through the client, so that unsaved text in the editor is seen and edits go to its buffers.
import type { OpenBuffers } from "../agent/seams.ts";
import { failure } from "../agent/tools/tool.ts";
import { isObject } from "../json/object.ts";
import { abortAfter } from "../protocol/abort-after.ts";
import type { AcpClient } from "./client.ts";
import { type RpcFailure, rpcCodes } from "./rpc.ts";

/** How many milliseconds to wait for the client. After that, files are read from disk and writes fail. */
const patienceMs = 15_000;

/** Reads and writes files through the client, which may have unsaved text. `signal` is that of the current turn. */
export function clientBuffers(
  client: AcpClient,
  sessionId: string,
  signal: () => AbortSignal,
): OpenBuffers | undefined {
  const { readsFiles, writesFiles } = client.can;
  if (!readsFiles) return undefined;
  /** Paths that were read from the client. They must also be written through it, since it may have unsaved text. */
  const returnedBuffers = new Set<string>();
  const waiting = () => AbortSignal.any([signal(), abortAfter(patienceMs)]);
  return {
    async read(path) {
      const reply = await client.request("fs/read_text_file", { sessionId, path }, waiting());
      returnedBuffers.delete(path);
      if ("error" in reply) {
        if (isRefusal(reply.error))
          throw failure(`The editor refused to read ${path}: ${failureText(reply.error)}`, { path });
        return undefined; // the client does not have the file: read it from disk
      }
      const content = isObject(reply.result) ? reply.result["content"] : undefined;
      if (typeof content !== "string") return undefined;
      returnedBuffers.add(path);
      return content;
    },
    async write(path, text) {
      if (!writesFiles) return false;
      const reply = await client.request("fs/write_text_file", { sessionId, path, content: text }, waiting());
      if (!("error" in reply)) return true;
      if (!returnedBuffers.has(path) && !isRefusal(reply.error) && reply.error.code !== rpcCodes.cancelled)
        return false;
      throw failure(`The editor did not write ${path}: ${failureText(reply.error)}`, { path });
    },
  };
}

/** Recognises a refusal by its message, since the protocol has no error code for it. */
function isRefusal(error: RpcFailure): boolean {
  return error.code !== rpcCodes.notFound && /permission|denied|not allowed|refused|reject/i.test(failureText(error));
}

/** Adds the details to the message: many clients send only a generic message and put the cause in `data`. */
function failureText({ message, data }: RpcFailure): string {
  const details = isObject(data) ? data["details"] : data;
  return typeof details === "string" && details !== "" ? `${message}: ${details}` : message;
}
