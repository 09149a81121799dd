// --input-format stream-json: each line of stdin is a prompt, or calls off the turn that runs.
import { imageKind, largestImage } from "../agent/image.ts";
import { FrameError } from "../json/frame-error.ts";
import { JsonLines } from "../json/lines.ts";
import { isObject, type JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { Part } from "../protocol/message.ts";
import type { PromptText } from "./stdin.ts";

type Options = {
  /** Ends the waiting for lines. */
  signal: AbortSignal;
  /** A line says that the turn is not wanted any more. */
  onCancel(): void;
  /** What is said when stdin ends without any prompt. */
  noPrompt: UserError;
};

/** So many prompts may wait; then stdin does. */
const mostWaiting = 100;

/**
 * Prompts in the order of their lines, as soon as they are asked for. An error comes last, after the prompts before it: a
 * line that is no prompt, no line at all, or why the waiting was ended.
 */
export async function* readInputLines({ signal, onCancel, noPrompt }: Options): AsyncGenerator<PromptText | UserError> {
  const { stdin } = process;
  const reader = new JsonLines();
  const waiting: (PromptText | UserError)[] = [];
  let count = 0;
  let isOver = false;
  let wake = () => {};

  const take = (value: unknown) => {
    count++;
    if (isObject(value) && value.type === "cancel") onCancel();
    else waiting.push(promptOf(value));
  };
  const read = (step: () => void) => {
    try {
      step();
    } catch (error) {
      if (!(error instanceof FrameError) && !(error instanceof UserError)) throw error;
      const line = error instanceof FrameError ? count + 1 : count; // a frame that is none was never taken
      waiting.push(new UserError(error.code, `Line ${line} of stdin: ${error.message}`));
      over();
    }
    if (waiting.length >= mostWaiting) stdin.pause();
    wake();
  };
  const over = () => {
    isOver = true;
    wake();
  };
  stdin.on("data", (chunk: Buffer) => isOver || read(() => reader.push(chunk, take)));
  stdin.on("end", () => {
    if (!isOver) read(() => reader.end(take));
    over();
  });
  stdin.on("error", (error) => {
    waiting.push(new UserError("USAGE", `stdin cannot be read: ${error.message}.`));
    over();
  });
  signal.addEventListener("abort", over, { once: true });
  try {
    let given = 0;
    while (true) {
      if (signal.aborted) {
        yield signal.reason as UserError;
        return;
      }
      const next = waiting.shift();
      if (next) {
        given++;
        yield next;
        stdin.resume();
      } else if (isOver) {
        if (given === 0) yield noPrompt;
        return;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    signal.removeEventListener("abort", over);
    stdin.destroy();
  }
}

const example = '{"type":"user","message":{"role":"user","content":"what is 2+2?"}}';

function promptOf(line: unknown): PromptText {
  const refuse = (why: string) => new UserError("FRAME_SCHEMA", `${why}. A prompt is such a line: ${example}`);
  if (!isObject(line) || line.type !== "user") throw refuse('it must be an object of type "user" or "cancel"');
  const { message } = line;
  if (!isObject(message)) throw refuse("it has no message");
  if (message.role !== undefined && message.role !== "user") throw refuse('the role of its message must be "user"');
  const { content } = message;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(blocks)) throw refuse("the content of its message must be a text, or a list of blocks");
  const text: string[] = [];
  const pictures: Part[] = [];
  for (const block of blocks) {
    if (isObject(block) && block.type === "text" && typeof block.text === "string") text.push(block.text);
    else if (isObject(block) && block.type === "image") pictures.push(pictureOf(block, refuse));
    else throw refuse("a block of its content must be a text, or an image with its data");
  }
  const prompt = text.join("\n");
  if (prompt.trim() === "" && pictures.length === 0) throw refuse("it is empty");
  return { text: prompt, usedStdin: true, ...(pictures.length > 0 && { pictures }) };
}

function pictureOf({ source }: JsonObject, refuse: (why: string) => UserError): Part {
  if (!isObject(source) || source.type !== "base64" || typeof source.data !== "string")
    throw refuse("an image must have its data: source{type: base64, media_type, data}");
  const bytes = Buffer.from(source.data, "base64");
  if (bytes.length > largestImage) throw refuse(`an image is larger than ${largestImage / 1_048_576} MiB`);
  const mime = imageKind(bytes);
  if (!mime) throw refuse("an image is no PNG, JPEG, GIF or WebP picture");
  return { type: "image", mime, base64: source.data };
}
