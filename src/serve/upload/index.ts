// Puts the files of a workspace into a fleet, as the archive that a worker makes the workspace of a run from.
import { createGzip } from "node:zlib";
import { byteSize } from "../../view/numbers.ts";
import type { Fleet, WorkspaceSource } from "../fleet.ts";
import { type FilesToSend, filesToSend } from "./files-to-send.ts";
import { tarOf } from "./tar.ts";

export type Upload = Omit<FilesToSend, "files"> & { source: WorkspaceSource; count: number; packedBytes: number };

const object = "workspace.tar.gz";

/** `run`: whose archive it is; it need not be queued yet. */
export async function uploadWorkspace(
  fleet: Fleet,
  run: string,
  workspace: string,
  call: { env: NodeJS.ProcessEnv; signal?: AbortSignal },
): Promise<Upload> {
  const { files, ...rest } = await filesToSend(workspace, call);
  let packedBytes = 0;
  await fleet.put(
    run,
    object,
    counted(packed(workspace, files), (bytes) => (packedBytes += bytes)),
  );
  return { ...rest, source: { type: "archive", object, run }, count: files.length, packedBytes };
}

/** For people: what was sent, how much, and what was left out. */
export function describeUpload(workspace: string, { count, bytes, packedBytes, secrets, others }: Upload): string {
  const sent = `Sent ${count} ${count === 1 ? "file" : "files"} of ${workspace}: ${byteSize(bytes)}, packed ${byteSize(packedBytes)}.`;
  const left = [
    ...(secrets.length > 0 ? [`may hold secrets: ${named(secrets)}`] : []),
    ...(others.length > 0 ? [`repositories of their own: ${named(others)}`] : []),
  ];
  return left.length === 0 ? sent : `${sent} Left out: ${left.join("; ")}.`;
}

function named(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).join(", ");
  return paths.length > 5 ? `${shown} and ${paths.length - 5} more` : shown;
}

async function* packed(workspace: string, files: FilesToSend["files"]): AsyncIterable<Uint8Array> {
  const gzip = createGzip({ level: 6 });
  const fed = (async () => {
    for await (const piece of tarOf(workspace, files))
      if (!gzip.write(piece)) await new Promise((resolve) => gzip.once("drain", resolve));
    gzip.end();
  })().catch((error: Error) => gzip.destroy(error));
  yield* gzip;
  await fed;
}

async function* counted(
  pieces: AsyncIterable<Uint8Array>,
  onPiece: (bytes: number) => void,
): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) {
    onPiece(piece.length);
    yield piece;
  }
}
