// Unpacks the .tar.gz archive of a workspace within limits, and refuses entries that lead out of its folder.
import { mkdirSync } from "node:fs";
import { posix } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { UserError } from "../../protocol/error-codes.ts";
import { systemErrorText } from "../../text/system-error.ts";

export type ArchiveLimits = { files: number; bytes: number };

const limits: ArchiveLimits = { files: 200_000, bytes: 4 * 1024 ** 3 };
/** The maximum depth of a path. */
const deepestFolder = 100;

/** Unpacks a tar archive. Throws a UserError if anything in it is unsafe or too large; nothing is silently left out. */
export async function unpackArchive(
  bytes: AsyncIterable<Uint8Array>,
  folder: string,
  most: ArchiveLimits = limits,
): Promise<void> {
  const { unpackTar } = await import("modern-tar/fs");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let files = 0;
  let size = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      done(size > most.bytes + files * 1024 ? tooLarge(most) : null, chunk);
    },
  });
  let fault: UserError | undefined;
  const unpack = unpackTar(folder, {
    maxDepth: deepestFolder,
    filter({ name, linkname, type, size: length }) {
      files++;
      fault ??= files > most.files || length > most.bytes ? tooLarge(most) : undefined;
      fault ??= faultOf(name, type === "symlink" || type === "link" ? { type, linkname } : undefined);
      if (fault) throw fault;
      return type === "file" || type === "directory" || type === "symlink" || type === "link";
    },
  });
  try {
    await pipeline(Readable.from(bytes), process.getBuiltinModule("node:zlib").createGunzip(), counted, unpack);
  } catch (error) {
    if (fault) throw fault;
    if (error instanceof UserError) throw error;
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") throw error; // the caller knows which disk it is
    throw new UserError(
      "FILE_UNREADABLE",
      `The archive of the workspace cannot be unpacked: ${systemErrorText(error)}.`,
    );
  }
}

function faultOf(
  name: string,
  link: { type: "symlink" | "link"; linkname?: string | undefined } | undefined,
): UserError | undefined {
  if (leadsOut(name)) return unsafeArchiveError(`the path ${JSON.stringify(name)}`);
  if (!link) return undefined;
  const { type, linkname = "" } = link;
  const target = type === "symlink" ? posix.join(posix.dirname(name), linkname) : linkname;
  return posix.isAbsolute(linkname) || leadsOut(target)
    ? unsafeArchiveError(`a link to ${JSON.stringify(linkname)}`)
    : undefined;
}

function leadsOut(path: string): boolean {
  if (path.includes("\0") || path.includes("\\") || posix.isAbsolute(path) || /^[a-z]:/i.test(path)) return true;
  const plain = posix.normalize(path);
  return plain === ".." || plain.startsWith("../");
}

function unsafeArchiveError(what: string): UserError {
  return new UserError("USAGE", `The archive of the workspace contains ${what}, which leads outside of it.`);
}

function tooLarge({ files, bytes }: ArchiveLimits): UserError {
  return new UserError(
    "USAGE",
    `The archive of the workspace is too large: at most ${files} files and ${bytes} bytes.`,
  );
}
