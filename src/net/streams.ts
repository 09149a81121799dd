// Implements the part of the web's streams that provider packages use. Node's own take 4 ms to load, and a promise or ten for each
// chunk in each of the six streams that an answer passes. A stream is pulled only while somebody reads, never ahead.
type Read<Value> = { done: false; value: Value } | { done: true; value: undefined };
type Reader<Value> = { read(): Promise<Read<Value>>; cancel(reason?: unknown): Promise<void>; releaseLock(): void };
type Controller<Value> = {
  readonly desiredSize: number;
  enqueue(value: Value): void;
  close(): void;
  error(error: unknown): void;
  terminate(): void;
};
type Source<Value> = {
  start?(controller: Controller<Value>): unknown;
  pull?(controller: Controller<Value>): unknown;
  cancel?(reason: unknown): unknown;
  /** Called instead of `cancel` if the stream fails or is ended by itself. */
  dropped?(reason: unknown): void;
};
type Transformer<From, To> = {
  start?(controller: Controller<To>): unknown;
  transform?(value: From, controller: Controller<To>): unknown;
  flush?(controller: Controller<To>): unknown;
};
type Waiting<Value> = { resolve(result: Read<Value>): void; reject(error: unknown): void };

const end = { done: true, value: undefined } as const;

class Readable<Value> {
  readonly #source: Source<Value>;
  readonly #controller: Controller<Value>;
  readonly #values: Value[] = [];
  readonly #waiting: Waiting<Value>[] = [];
  #state: "open" | "closed" | "failed" = "open";
  #error: unknown;
  #isPulling = false;
  #pullsAgain = false;
  #isLocked = false;

  constructor(source: Source<Value> = {}) {
    this.#source = source;
    const desired = () => this.#waiting.length - this.#values.length;
    this.#controller = {
      get desiredSize() {
        return desired();
      },
      enqueue: (value) => {
        if (this.#state !== "open") return;
        const first = this.#waiting.shift();
        if (first) first.resolve({ done: false, value });
        else this.#values.push(value);
        this.#pull();
      },
      close: () => this.#close(),
      terminate: () => {
        this.#close();
        source.dropped?.(undefined);
      },
      error: (error) => {
        if (this.#state !== "open") return;
        this.#state = "failed";
        this.#error = error;
        this.#values.length = 0;
        for (const { reject } of this.#waiting.splice(0)) reject(error);
        source.dropped?.(error);
      },
    };
    this.#run(source.start);
  }

  get locked(): boolean {
    return this.#isLocked;
  }

  getReader(): Reader<Value> {
    if (this.#isLocked) throw new TypeError("The stream has a reader already.");
    this.#isLocked = true;
    return {
      read: () => this.#read(),
      cancel: (reason) => this.#cancel(reason),
      releaseLock: () => {
        this.#isLocked = false;
      },
    };
  }

  async cancel(reason?: unknown): Promise<void> {
    if (this.#isLocked) throw new TypeError("The stream has a reader, which alone may cancel it.");
    return this.#cancel(reason);
  }

  pipeThrough<To>({ writable, readable }: { writable: unknown; readable: To }): To {
    if (writable instanceof Entrance) writable.source = this.getReader();
    else void pump(this.getReader(), (writable as WritableStream<Value>).getWriter());
    return readable;
  }

  tee(): [Readable<Value>, Readable<Value>] {
    const reader = this.getReader();
    const open = new Set<Controller<Value>>();
    let reading: Promise<void> | undefined;
    const take = async () => {
      try {
        const { done, value } = await reader.read();
        for (const branch of open) done ? branch.close() : branch.enqueue(value);
      } catch (error) {
        for (const branch of open) branch.error(error);
      }
      reading = undefined;
    };
    const branch = () => {
      let own: Controller<Value>;
      return new Readable<Value>({
        start(controller) {
          own = controller;
          open.add(own);
        },
        pull: () => (reading ??= take()),
        cancel: (reason) => (open.delete(own) && open.size === 0 ? reader.cancel(reason) : undefined),
      });
    };
    return [branch(), branch()];
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value> {
    const reader = this.getReader();
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    } finally {
      reader.cancel().catch(() => {});
      reader.releaseLock();
    }
  }

  #read(): Promise<Read<Value>> {
    if (this.#values.length > 0) return Promise.resolve({ done: false, value: this.#values.shift()! });
    if (this.#state === "closed") return Promise.resolve(end);
    if (this.#state === "failed") return Promise.reject(this.#error);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#pull();
    });
  }

  #pull(): void {
    if (this.#state !== "open" || this.#waiting.length === 0) return;
    if (this.#isPulling) this.#pullsAgain = true;
    else this.#run(this.#source.pull);
  }

  #run(step: Source<Value>["pull"]): void {
    if (!step) return;
    this.#isPulling = true;
    const finished = () => {
      this.#isPulling = false;
      if (!this.#pullsAgain) return;
      this.#pullsAgain = false;
      this.#pull();
    };
    try {
      const running = step.call(this.#source, this.#controller);
      if (running instanceof Promise) running.then(finished, this.#controller.error);
      else finished();
    } catch (error) {
      this.#controller.error(error);
    }
  }

  #close(): void {
    if (this.#state !== "open") return;
    this.#state = "closed";
    for (const { resolve } of this.#waiting.splice(0)) resolve(end);
  }

  async #cancel(reason: unknown): Promise<void> {
    this.#values.length = 0;
    if (this.#state === "failed") throw this.#error;
    if (this.#state === "closed") return;
    this.#close();
    await this.#source.cancel?.(reason);
  }
}

/** The writable side of a transform stream. */
class Entrance<Value> {
  source: Reader<Value> | undefined;
}

class Transform<From, To> {
  readonly writable = new Entrance<From>();
  readonly readable: Readable<To>;

  constructor({ start, transform, flush }: Transformer<From, To> = {}) {
    const { writable } = this;
    const same = (value: From, controller: Controller<To>) => controller.enqueue(value as unknown as To);
    const change = transform ?? same;
    this.readable = new Readable<To>({
      ...(start && { start }),
      async pull(controller) {
        do {
          const { done, value } = await writable.source!.read();
          const step = done ? flush?.(controller) : change(value, controller);
          if (step instanceof Promise) await step;
          if (done) controller.close();
        } while (controller.desiredSize > 0);
      },
      cancel: (reason) => writable.source?.cancel(reason),
      dropped: (reason) => void writable.source?.cancel(reason).catch(() => {}),
    });
  }
}

class Decoding extends Transform<Uint8Array, string> {
  constructor() {
    const decoder = new TextDecoder();
    const say = (text: string, controller: Controller<string>) => text && controller.enqueue(text);
    super({
      transform: (chunk, controller) => say(decoder.decode(chunk, { stream: true }), controller),
      flush: (controller) => say(decoder.decode(), controller),
    });
  }
}

/** Copies a web stream to a stream of Node. */
async function pump<Value>(reader: Reader<Value>, writer: WritableStreamDefaultWriter<Value>): Promise<void> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      await writer.ready;
      await writer.write(next.value);
    }
    await writer.close();
  } catch (error) {
    reader.cancel(error).catch(() => {});
    writer.abort(error).catch(() => {});
  }
}

const ReadableStream = Readable as unknown as typeof globalThis.ReadableStream;
const TransformStream = Transform as unknown as typeof globalThis.TransformStream;
const TextDecoderStream = Decoding as unknown as typeof globalThis.TextDecoderStream;

export { ReadableStream, TextDecoderStream, TransformStream };
