// EventLines: looks at a model's stream of events line by line as it passes. Is it over, and does it stay within bounds?

const longestLine = 16 * 2 ** 20;
/** So much of a line says what it is. */
const headLength = 120;
/** So much of the end of a piece is searched for a reason to finish. */
const tailLength = 4096;

const lastEvent = /^(event:\s*|data:\s*\{\s*"type":\s*")(message_stop|response\.(completed|incomplete|failed))\b/;
const endMark = /^data:\s*\[DONE\]\s*$/;
const finishReason = /"finish_?reason":\s*"/i;

export class EventLines {
  /** The last event came: whatever the connection does, there is nothing left to say. */
  isOver = false;
  /** The model gave its reason to finish. Some servers say no more than that. */
  mayBeOver = false;
  /** A line that nobody could keep whole. */
  isTooLong = false;
  #head = "";
  #length = 0;
  #isInLastEvent = false;

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#take(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    this.#take(chunk.subarray(from));
    // Its line need not end: nothing can follow that would belong to it.
    if (endMark.test(this.#head)) this.isOver = true;
    this.mayBeOver = finishReason.test(latin(chunk.subarray(-tailLength)));
  }

  #take(part: Uint8Array): void {
    if (this.#head.length < headLength) this.#head += latin(part.subarray(0, headLength - this.#head.length));
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

function latin(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
