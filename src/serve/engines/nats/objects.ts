// Objects: bytes of any length, in the object store of the server.
import type { Connected } from "./connect.ts";
import { fleetError } from "./errors.ts";

/** Whole, or not at all. */
export async function putObject(
  { objects, where }: Connected,
  name: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { error, source } = guarded(bytes);
  const failure = await objects.put({ name }, source).then(
    () => undefined,
    (problem: unknown) => fleetError(problem, where),
  );
  if (!failure && !error()) return;
  // What was there before under this name is gone: half of something else would be worse.
  await objects.delete(name).catch(() => {});
  throw error() ?? failure;
}

export async function getObject(
  { objects, where }: Connected,
  name: string,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const found = await objects.get(name);
  if (!found) return undefined;
  return (async function* () {
    for await (const piece of found.data as unknown as AsyncIterable<Uint8Array>) yield piece;
    const error = await found.error;
    if (error) throw fleetError(error, where);
  })();
}

export async function dropObject({ objects }: Connected, name: string): Promise<void> {
  await objects.delete(name).catch(() => {});
}

/** The store must not take a source that broke off for one that ended. */
function guarded(bytes: AsyncIterable<Uint8Array>): {
  source: ReadableStream<Uint8Array>;
  error(): Error | undefined;
} {
  let broken: Error | undefined;
  const iterator = bytes[Symbol.asyncIterator]();
  const source = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        broken = error as Error;
        controller.error(error);
      }
    },
  });
  return { source, error: () => broken };
}
