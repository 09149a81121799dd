// EventLines: parses a model's event stream line by line as it passes, to detect its end and lines that are too long.

const longestLine = 16 * 2 ** 20;
/** How many characters of a line are needed to recognise it. */
const headLength = 120;
/** How many characters at the end of a chunk are searched for a finish reason. */
const tailLength = 4096;

const lastEvent = /^(event:\s*|data:\s*\{\s*"type":\s*")(message_stop|response\.(completed|incomplete|failed))\b/;
const endMark = /^data:\s*\[DONE\]\s*$/;
const finishReason = /"finish_?reason":\s*"/i;

export class EventLines {
  /** Whether the last event has arrived. */
  isOver = false;
  /** Whether a finish reason has arrived, after which some servers send nothing more. */
  mayBeOver = false;
  /** Whether a line exceeded the size limit. */
  isTooLong = false;
  #head = "";
  #length = 0;
  #isInLastEvent = false;

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#receive(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    this.#receive(chunk.subarray(from));
    // Do not wait for a line break after the end mark, since nothing follows it.
    if (endMark.test(this.#head)) this.isOver = true;
    this.mayBeOver = finishReason.test(decodeLatin1(chunk.subarray(-tailLength)));
  }

  #receive(part: Uint8Array): void {
    if (this.#head.length < headLength) this.#head += decodeLatin1(part.subarray(0, headLength - this.#head.length));
    this.#length += part.length;
    if (this.#length > longestLine) this.isTooLong = true;
  }

  #endLine(): void {
    if (this.#length === 0 || this.#head === "\r") this.isOver ||= this.#isInLastEvent;
    else if (endMark.test(this.#head)) this.isOver = true;
    else this.#isInLastEvent ||= lastEvent.test(this.#head);
    this.#head = "";
    this.#length = 0;
  }
}

function decodeLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
