// Uploads the files of a workspace to a fleet, as the archive from which a worker creates the workspace of a run.
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { firstOf } from "../../text/first-of.ts";
import { byteSize, counted } from "../../view/numbers.ts";
import type { Fleet, WorkspaceSource } from "../fleet.ts";
import { type FilesToSend, filesToSend } from "./files-to-send.ts";

export type Upload = Omit<FilesToSend, "files"> & { source: WorkspaceSource; count: number; packedBytes: number };

const object = "workspace.tar.gz";

/** Stores an archive of the workspace in the fleet for `run`, which need not be queued yet. */
export async function uploadWorkspace(
  fleet: Fleet,
  run: string,
  workspace: string,
  call: { env: NodeJS.ProcessEnv; signal?: AbortSignal; isWhole?: boolean },
): Promise<Upload> {
  const { files, ...rest } = await filesToSend(workspace, call);
  const { packTar } = await import("modern-tar/fs");
  const tar = packTar(
    files.map((path) => ({ type: "file", source: join(workspace, path), target: path, uid: 0, gid: 0 })),
    { concurrency: 4 },
  );
  const packed = process.getBuiltinModule("node:zlib").createGzip();
  const packing = pipeline(tar, packed).catch(() => {}); // whoever reads `packed` gets the error
  let packedBytes = 0;
  const count = (bytes: number) => (packedBytes += bytes);
  await fleet.put(run, object, countBytes(packed, count));
  await packing;
  return { ...rest, source: { type: "archive", object, run }, count: files.length, packedBytes };
}

export function describeUpload(workspace: string, { count, bytes, packedBytes, secrets, others }: Upload): string {
  const sent = `Sent ${counted(count, "file")} of ${workspace}: ${byteSize(bytes)}, packed ${byteSize(packedBytes)}.`;
  const left = [
    ...(secrets.length > 0 ? [`may hold secrets: ${firstOf(secrets, 5)}`] : []),
    ...(others.length > 0 ? [`repositories of their own, and links that lead out: ${firstOf(others, 5)}`] : []),
  ];
  return left.length === 0 ? sent : `${sent} Left out: ${left.join("; ")}.`;
}

async function* countBytes(
  pieces: AsyncIterable<Uint8Array>,
  onPiece: (bytes: number) => void,
): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) {
    onPiece(piece.length);
    yield piece;
  }
}
