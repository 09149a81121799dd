// --input-format stream-json: reads stdin line by line, each a prompt or a control line.
import { isAbsolute } from "node:path";
import { FrameError } from "../json/frame-error.ts";
import { JsonLines } from "../json/lines.ts";
import { isObject, type JsonObject } from "../json/object.ts";
import { type ControlLine, readControlLine } from "../protocol/control-lines.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import { imageKind, largestImage } from "../protocol/image.ts";
import type { Prompt } from "../protocol/run.ts";

export type PromptLine = { type: "user"; prompt: Prompt; id?: string };

export interface InputLines {
  /** Calls `take` for each line, then `onEnd` once, with an error if a line could not be parsed. */
  start(take: (line: ControlLine | PromptLine) => void, onEnd: (error: UserError | undefined) => void): void;
  pause(): void;
  resume(): void;
  close(): void;
}

export function openInputLines(): InputLines {
  const { stdin } = process;
  const reader = new JsonLines();
  let count = 0;
  let isOver = false;
  return {
    start(take, onEnd) {
      const end = (error?: UserError) => {
        if (isOver) return;
        isOver = true;
        onEnd(error);
      };
      const read = (step: () => void) => {
        if (isOver) return;
        try {
          step();
        } catch (error) {
          if (!(error instanceof FrameError) && !(error instanceof UserError)) throw error;
          // a line that could not be decoded was not counted yet
          const line = error instanceof FrameError ? count + 1 : count;
          end(new UserError(error.code, `Line ${line} of stdin: ${error.message}`));
        }
      };
      const takeValue = (value: unknown) => {
        count++;
        if (!isOver) take(parseInputLine(value));
      };
      stdin.on("data", (chunk: Buffer) => read(() => reader.push(chunk, takeValue)));
      stdin.on("end", () => {
        read(() => reader.end(takeValue));
        end();
      });
      stdin.on("error", (error) => end(usageError(`stdin cannot be read: ${error.message}.`)));
    },
    pause: () => stdin.pause(),
    resume: () => stdin.resume(),
    close() {
      isOver = true;
      stdin.destroy();
    },
  };
}

const example = '{"type":"user","message":{"role":"user","content":"what is 2+2?"}}';

function refuse(why: string): UserError {
  return new UserError("FRAME_SCHEMA", `${why}. A prompt is such a line: ${example}`);
}

function parseInputLine(line: unknown): ControlLine | PromptLine {
  const control = readControlLine(line);
  if (typeof control === "string") throw new UserError("FRAME_SCHEMA", `${control}.`);
  if (control) return control;
  if (!isObject(line) || line.type !== "user") throw refuse('it must be an object of type "user", or a control line');
  return { type: "user", prompt: parsePrompt(line), ...(typeof line.id === "string" && { id: line.id }) };
}

function parsePrompt({ message }: JsonObject): Prompt {
  if (!isObject(message)) throw refuse("it has no message");
  if (message.role !== undefined && message.role !== "user") throw refuse('the role of its message must be "user"');
  const { content } = message;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(blocks)) throw refuse("the content of its message must be a string, or a list of blocks");
  const text: string[] = [];
  const data: string[] = [];
  const images: (string | { mime: string; base64: string })[] = [];
  for (const block of blocks) {
    if (isObject(block) && block.type === "text" && typeof block.text === "string") text.push(block.text);
    else if (isObject(block) && block.type === "data" && typeof block.text === "string") data.push(block.text);
    else if (isObject(block) && block.type === "image") images.push(imageOf(block));
    else throw refuse("a block of its content must be a string, data, or an image with its data or its path");
  }
  const prompt = text.join("\n");
  if (prompt.trim() === "" && images.length === 0 && data.length === 0) throw refuse("it is empty");
  return {
    text: prompt,
    ...(data.length > 0 && { data: data.join("\n") }),
    ...(images.length > 0 && { images }),
  };
}

function imageOf({ source }: JsonObject): string | { mime: string; base64: string } {
  if (isObject(source) && source.type === "file" && typeof source.path === "string") {
    if (!isAbsolute(source.path)) throw refuse("the path of an image must be absolute");
    return source.path;
  }
  if (!isObject(source) || source.type !== "base64" || typeof source.data !== "string")
    throw refuse("an image must have its data: source{type: base64, media_type, data}");
  const bytes = Buffer.from(source.data, "base64");
  if (bytes.length > largestImage) throw refuse(`an image is larger than ${largestImage / 1_048_576} MiB`);
  const mime = imageKind(bytes);
  if (!mime) throw refuse("an image is not a PNG, JPEG, GIF or WebP image");
  return { mime, base64: source.data };
}
