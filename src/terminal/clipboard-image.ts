// Ctrl+V: reads the image in the clipboard with whichever system program is available.
import { findProgram } from "../process/find-program.ts";
import { runProgram } from "../process/run-program.ts";
import { imageKind, largestImage } from "../protocol/image.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type ClipboardImage =
  | { type: "image"; image: { mime: string; base64: string } }
  | { type: "none"; message: string };

type Reader = {
  program: string;
  /** An environment variable without which the program cannot reach a clipboard. */
  needs?: string;
  /** Command that prints the types in the clipboard. Without it, only the first wanted type is tried. */
  kinds?: readonly string[];
  read(kind: string): readonly string[];
  /** Converts the program's output to the bytes of the image. */
  decode?(output: Buffer): Buffer;
};

const readers: readonly Reader[] = [
  {
    program: "wl-paste",
    needs: "WAYLAND_DISPLAY",
    kinds: ["--list-types"],
    read: (kind) => ["--no-newline", "--type", kind],
  },
  {
    program: "xclip",
    needs: "DISPLAY",
    kinds: ["-selection", "clipboard", "-t", "TARGETS", "-o"],
    read: (kind) => ["-selection", "clipboard", "-t", kind, "-o"],
  },
  { program: "pngpaste", read: () => ["-"] },
  {
    program: "osascript",
    read: () => ["-e", "get the clipboard as «class PNGf»"],
    decode: (output) => Buffer.from(/PNGf([0-9A-F]+)/i.exec(output.toString("latin1"))?.[1] ?? "", "hex"),
  },
  {
    program: "powershell.exe", // this also works in WSL
    read: () => [
      "-NoProfile",
      "-NonInteractive",
      "-Command",
      "Add-Type -AssemblyName System.Windows.Forms; $image = [Windows.Forms.Clipboard]::GetImage(); if ($image) { $stream = " +
        "New-Object IO.MemoryStream; $image.Save($stream, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($stream.ToArray()) }",
    ],
    decode: (output) => Buffer.from(output.toString("latin1").trim(), "base64"),
  },
];

/** Image types that models accept, in order of preference. */
const wanted = ["image/png", "image/jpeg", "image/webp", "image/gif"];

const instead = "Save it to a file and name that: @path/to/image.png";

export async function readClipboardImage({ env, cwd }: { env: Environment; cwd: string }): Promise<ClipboardImage> {
  const usable = readers.filter(({ program, needs }) => (!needs || env[needs]) && findProgram(program, { ...env }));
  if (usable.length === 0) return none(missing(env));
  for (const reader of usable) {
    const run = (args: readonly string[]) =>
      runProgram({
        command: [reader.program, ...args],
        cwd,
        env: { ...env },
        timeoutMs: 5000,
        keepBytes: 3 * largestImage,
        leftovers: "ignore",
      });
    let kind = wanted[0]!;
    if (reader.kinds) {
      const offered = (await run(reader.kinds)).stdout.toString("utf8").split(/\s+/);
      const best = wanted.find((each) => offered.includes(each));
      if (!best) continue;
      kind = best;
    }
    const { stdout, exitCode, isCut } = await run(reader.read(kind));
    if (exitCode !== 0 || stdout.length === 0) continue;
    const bytes = reader.decode?.(stdout) ?? stdout;
    const mime = imageKind(bytes);
    if (isCut || bytes.length > largestImage)
      return none("Images may be at most 3.75 MB. Make it smaller and copy it again.");
    if (mime) return { type: "image", image: { mime, base64: bytes.toString("base64") } };
  }
  return none("The clipboard contains no image.");
}

function missing(env: Environment): string {
  if (process.platform === "linux" && !env["WAYLAND_DISPLAY"] && !env["DISPLAY"])
    return `There is no clipboard here: neither WAYLAND_DISPLAY nor DISPLAY is set. ${instead}`;
  const program = process.platform === "darwin" ? "pngpaste" : env["WAYLAND_DISPLAY"] ? "wl-clipboard" : "xclip";
  return `Reading images from the clipboard needs ${program}, which is not installed. ${instead}`;
}

function none(message: string): ClipboardImage {
  return { type: "none", message };
}
