// Detects pastes that consist of image paths: files dropped onto the terminal, or paths that were copied.

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "../protocol/error-codes.ts";
import { readImage } from "../run/images.ts";
import { homeDir } from "../store/config-dir.ts";
import type { App } from "./app.ts";
import type { Image } from "./editor/paste.ts";

const maxPaths = 10;
const longestPaste = 10_000;

/**
 * Inserts the images of a paste; returns false if it is an ordinary paste. Some terminals send an empty paste for an image in the
 * clipboard.
 */
export function pasteImages(app: App, text: string): boolean {
  if (text === "") app.perform("pasteImage");
  const images = pastedImages(text, { workspace: app.conversation.request.workspace, home: homeDir(app.env) });
  for (const image of images) app.editor.insertImage(image);
  return text === "" || images.length > 0;
}

/** Returns the images in order, or an empty array if the text is anything else. */
function pastedImages(text: string, { workspace, home }: { workspace: string; home: string }): Image[] {
  if (text.length > longestPaste || !/\.(png|jpe?g|gif|webp)\b/i.test(text)) return [];
  const imagesAt = (paths: readonly string[]): Image[] => {
    if (paths.length > maxPaths) return [];
    try {
      return paths.map((path) => readImage(absolutePath(path, workspace, home)));
    } catch (error) {
      if (error instanceof UserError || error instanceof TypeError) return [];
      throw error;
    }
  };
  const whole = text.trim();
  const images = imagesAt(pathsIn(whole));
  // The blanks of a copied path may be neither quoted nor escaped.
  return images.length > 0 ? images : imagesAt([whole]);
}

/** Splits paths that are quoted, have escaped blanks, or are one per line. */
function pathsIn(text: string): string[] {
  const words = text.match(/'[^'\n]*'|"[^"\n]*"|(?:\\.|[^\s\\])+/g) ?? [];
  return words.map((word) => (/^['"]/.test(word) ? word.slice(1, -1) : word.replace(/\\(.)/g, "$1")));
}

function absolutePath(path: string, workspace: string, home: string): string {
  if (path.startsWith("file://")) return fileURLToPath(path);
  return resolve(workspace, path.replace(/^~(?=\/)/, home));
}
