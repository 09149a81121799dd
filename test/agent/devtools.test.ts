// The line to a browser, without one: answers, events, time limits, and what becomes of those who wait when it breaks.
import { afterEach, describe, expect, it, vi } from "vitest";
import { Devtools } from "../../src/agent/browser/devtools.ts";

afterEach(() => void vi.useRealTimers());

function opened(write: (text: string) => Promise<void> = async () => {}) {
  const sent: string[] = [];
  let broken = 0;
  const devtools = new Devtools(
    (text) => {
      sent.push(text);
      return write(text);
    },
    () => broken++,
  );
  const say = (value: unknown) => devtools.receive(Buffer.from(`${JSON.stringify(value)}\0`));
  return { devtools, sent, say, broken: () => broken };
}

describe("the DevTools connection", () => {
  it("each DevTools command has a number, by which its answer reaches the caller", async () => {
    const { devtools, sent, say } = opened();
    const [one, two, three] = [
      devtools.send("A", { x: 1, y: undefined }),
      devtools.send("B", {}, "s"),
      devtools.send("C"),
    ];
    expect(sent).toEqual([
      '{"id":1,"method":"A","params":{"x":1}}\0',
      '{"id":2,"method":"B","params":{},"sessionId":"s"}\0',
      '{"id":3,"method":"C","params":{}}\0',
    ]);
    say({ id: 2, result: { b: 1 } });
    say({ id: 1, error: { message: "cannot" } });
    say({ id: 3, result: "nothing" });
    say({ id: 9, result: {} });
    expect(await two).toEqual({ b: 1 });
    await expect(one).rejects.toThrow("cannot");
    expect(await three).toEqual({});
  });

  it("DevTools events reach all listeners until they unsubscribe", () => {
    const { devtools, say } = opened();
    const heard: unknown[] = [];
    const stop = devtools.listen((event) => heard.push(event));
    say({ method: "Page.loaded", params: { a: 1 }, sessionId: "s" });
    say({ method: "Page.bare", params: 7, sessionId: 8 });
    say({ params: {} });
    say("text");
    expect(heard).toEqual([
      { method: "Page.loaded", params: { a: 1 }, sessionId: "s" },
      { method: "Page.bare", params: {}, sessionId: undefined },
    ]);
    stop();
    say({ method: "later" });
    expect(heard).toHaveLength(2);
  });

  it("a DevTools command times out after 30 seconds", async () => {
    vi.useFakeTimers();
    const { devtools, say } = opened();
    const late = devtools.send("Slow.method");
    const soon = devtools.send("Quick.method");
    let isOver = false;
    const told = late.catch((error: Error) => {
      isOver = true;
      return error.message;
    });
    await vi.advanceTimersByTimeAsync(29_999);
    expect(isOver).toBe(false);
    say({ id: 2, result: { ok: 1 } });
    await vi.advanceTimersByTimeAsync(1);
    expect(await told).toBe("the browser did not answer Slow.method in time");
    expect(await soon).toEqual({ ok: 1 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("a lost DevTools connection rejects all waiting commands and refuses new ones", async () => {
    vi.useFakeTimers();
    const { devtools, say } = opened();
    const heard: unknown[] = [];
    devtools.listen((event) => heard.push(event));
    const waiting = [devtools.send("A"), devtools.send("B")].map((each) => each.catch((error: Error) => error.message));
    devtools.end(new Error("gone"));
    devtools.end(new Error("again"));
    expect(await Promise.all(waiting)).toEqual(["gone", "gone"]);
    await expect(devtools.send("C")).rejects.toThrow("gone");
    say({ method: "late" });
    expect(heard).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("an unreachable browser is reported, and invalid or endless JSON closes the connection", async () => {
    const away = opened(async () => Promise.reject(new Error("EPIPE")));
    await expect(away.devtools.send("A")).rejects.toThrow("the browser cannot be reached: EPIPE");
    const odd = opened();
    const waiting = odd.devtools.send("A");
    odd.devtools.receive(Buffer.from("nonsense\0"));
    await expect(waiting).rejects.toThrow("not JSON");
    expect(odd.broken()).toBe(1);
    const endless = opened();
    const piece = Buffer.alloc(32 * 2 ** 20, "a");
    endless.devtools.receive(piece);
    endless.devtools.receive(piece);
    expect(endless.broken()).toBe(0);
    endless.devtools.receive(Buffer.from("a"));
    expect(endless.broken()).toBe(1);
    await expect(endless.devtools.send("A")).rejects.toThrow("endless message");
  });
});
