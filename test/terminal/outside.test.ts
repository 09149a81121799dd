// What the terminal asks of other programs: an editor, a clipboard. Small programs stand in for them.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { copyText, terminalCopy } from "../../src/terminal/clipboard.ts";
import { readClipboardImage } from "../../src/terminal/clipboard-image.ts";
import { editExternally } from "../../src/terminal/external-editor.ts";

const folder = mkdtempSync(join(tmpdir(), "outside-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;

/** An environment in which only these programs are found, beside those of the system that scripts need. */
function withPrograms(programs: Record<string, string>, more: Record<string, string> = {}) {
  const bin = mkdtempSync(join(folder, `bin-${++count}-`));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { env: { PATH: [bin, "/usr/bin", "/bin"].join(delimiter), TMPDIR: folder, ...more }, cwd: folder };
}

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const pngFile = join(folder, "image.png");
writeFileSync(pngFile, png);

describe("the external editor", () => {
  it("an external editor returns the saved text, and leaves no file", async () => {
    const place = withPrograms({ ed1: `sed -i 's/one/ONE/' "$2"; echo more >> "$2"` }, { EDITOR: "ed1 --wait" });
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("message-")).length;
    expect(await editExternally("one\ntwo", place)).toEqual({ type: "edited", text: "ONE\ntwo\nmore" });
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("message-")).length).toBe(before);
  });

  it("VISUAL is preferred, and quotes are read like in a shell", async () => {
    const place = withPrograms(
      { "my editor": `printf '%s' "$1" > "$2"` },
      { VISUAL: `"my editor" 'a b'`, EDITOR: "false" },
    );
    expect(await editExternally("", place)).toEqual({ type: "edited", text: "a b" });
  });

  it("a failed external editor is reported with the reason", async () => {
    expect(await editExternally("x", withPrograms({}, { EDITOR: "exit 3;" }))).toMatchObject({
      type: "failed",
      message: expect.stringContaining("exit code 3"),
    });
    expect(await editExternally("x", withPrograms({}, { EDITOR: "no-such-editor" }))).toMatchObject({
      type: "failed",
      message: expect.stringContaining("export EDITOR="),
    });
  });
});

describe("the clipboard", () => {
  it("the terminal copies text with the program that can reach the clipboard", async () => {
    const place = withPrograms(
      { xclip: `cat > ${folder}/copied; sleep 5 & exit 0`, "wl-copy": "exit 1" },
      { DISPLAY: ":7" },
    );
    expect(await copyText("some text", place)).toEqual({ type: "copied", by: "xclip" });
    expect(readFileSync(join(folder, "copied"), "utf8")).toBe("some text");
    const failing = withPrograms({ "wl-copy": "echo no display >&2; exit 1" }, { WAYLAND_DISPLAY: "w" });
    expect(await copyText("x", failing)).toMatchObject({
      type: "failed",
      message: expect.stringContaining("no display"),
    });
    expect(await copyText("x", withPrograms({}))).toMatchObject({
      type: "failed",
      message: expect.stringContaining("xclip"),
    });
  });

  it("the terminal can copy text by an escape code, within its limits", () => {
    expect(terminalCopy("é")).toBe("\x1b]52;c;w6k=\x07");
    expect(terminalCopy("x".repeat(100_000))).toBeUndefined();
  });

  it("the terminal pastes an image in the best offered format", async () => {
    const place = withPrograms(
      {
        "wl-paste": `case "$*" in --list-types) echo text/plain; echo image/jpeg; echo image/png;; *image/png) cat ${pngFile};; *) exit 1;; esac`,
      },
      { WAYLAND_DISPLAY: "w" },
    );
    expect(await readClipboardImage(place)).toEqual({
      type: "image",
      image: { mime: "image/png", base64: png.toString("base64") },
    });
  });

  it("clipboard output of other operating systems' tools is read", async () => {
    const hex = withPrograms({ osascript: `echo '«data PNGf${png.toString("hex").toUpperCase()}»'` });
    expect(await readClipboardImage(hex)).toMatchObject({ type: "image", image: { mime: "image/png" } });
    const base64 = withPrograms({ "powershell.exe": `echo ${png.toString("base64")}` });
    expect(await readClipboardImage(base64)).toMatchObject({ type: "image", image: { mime: "image/png" } });
  });

  it("a missing clipboard tool or image is reported", async () => {
    expect(await readClipboardImage(withPrograms({}))).toMatchObject({
      type: "none",
      message: expect.stringContaining("@path/to/image.png"),
    });
    const text = withPrograms({ xclip: "echo UTF8_STRING" }, { DISPLAY: ":7" });
    expect(await readClipboardImage(text)).toEqual({ type: "none", message: "The clipboard contains no image." });
    const lie = withPrograms(
      { xclip: `case "$*" in *TARGETS*) echo image/png;; *) echo text;; esac` },
      { DISPLAY: ":7" },
    );
    expect(await readClipboardImage(lie)).toEqual({ type: "none", message: "The clipboard contains no image." });
  });
});
