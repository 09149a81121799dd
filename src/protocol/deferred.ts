// A promise that is resolved from outside.

export type Deferred<Value> = { promise: Promise<Value>; resolve(value: Value): void };

export function deferred<Value = void>(): Deferred<Value> {
  let resolve: Deferred<Value>["resolve"] = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
