// The parts of a fleet over NATS by themselves: addresses, keys, names, payloads, retries, signs of life and quotas, over a server in memory.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readAddress } from "../../src/serve/engines/nats/address.ts";
import {
  byUrgency,
  decodeWord,
  isForAnybody,
  laneOf,
  lastWord,
  poolOf,
  senderOf,
  word,
} from "../../src/serve/engines/nats/keys.ts";
import { Names } from "../../src/serve/engines/nats/names.ts";
import { Payloads } from "../../src/serve/engines/nats/payloads.ts";
import { Quotas, shareOf } from "../../src/serve/engines/nats/quotas.ts";
import { messageId, publishOnce, untilAnswered } from "../../src/serve/engines/nats/retry.ts";
import { Refused, type Server, type Stored } from "../../src/serve/engines/nats/server.ts";
import { WorkerPresence } from "../../src/serve/engines/nats/worker-presence.ts";

/** What a stream of a server promises, in one process. */
function memoryServer({ maxBytes = 1000 } = {}) {
  const messages: (Stored & { stream: string })[] = [];
  const objects = new Map<string, Buffer>();
  const clock = { now: Date.UTC(2026, 0, 2, 12) };
  const isOf = (filter: string) => (key: string) =>
    filter.endsWith("*") ? key.startsWith(filter.slice(0, -1)) : key === filter;
  const inStream = (stream: string, filter: string) =>
    messages.filter((each) => each.stream === stream && isOf(filter)(each.key));
  const server = {
    maxBytes,
    publish: async (stream: string, key: string, data: string, { after }: { after?: number } = {}) => {
      const last = inStream(stream, key).at(-1)?.sequence ?? 0;
      if (after !== undefined && after !== last) throw new Refused();
      messages.push({ stream, key, sequence: messages.length + 1, at: clock.now, data: Buffer.from(data) });
      return messages.length;
    },
    last: async (stream: string, key: string) => inStream(stream, key).at(-1),
    range: async (stream: string, filter: string, from: number) => {
      const newest = new Map(inStream(stream, filter).map((each) => [each.key, each]));
      return [...newest.values()].filter(({ sequence }) => sequence >= from);
    },
    keys: async (stream: string, filter: string) => inStream(stream, filter).map(({ key }) => key),
    purge: async (stream: string, filter: string) => {
      for (const each of inStream(stream, filter))
        messages.splice(messages.indexOf(each), 1, { ...each, stream: "gone" });
    },
    now: async () => clock.now,
    putObject: async (name: string, bytes: AsyncIterable<Uint8Array>) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of bytes) pieces.push(piece);
      objects.set(name, Buffer.concat(pieces));
    },
    getObject: async (name: string) => {
      const bytes = objects.get(name);
      return (
        bytes &&
        (async function* () {
          yield bytes.subarray(0, 2);
          yield bytes.subarray(2);
        })()
      );
    },
    dropObject: async (name: string) => void objects.delete(name),
  };
  return { server: server as unknown as Server, messages, objects, clock };
}

describe("addresses of fleets", () => {
  it.each<[string, object]>([
    ["nats://h", { servers: ["h"], isTls: false, prefix: "courser", replicas: 1, files: {} }],
    [
      "tls://a:1,b:2/?prefix=p-_1&replicas=3&timeout=7",
      { servers: ["a:1", "b:2"], isTls: true, prefix: "p-_1", replicas: 3, timeoutMs: 7000, files: {} },
    ],
    [
      "nats://u%40:p%3A@h?replicas=5",
      { servers: ["h"], isTls: false, user: "u@", password: "p:", prefix: "courser", replicas: 5, files: {} },
    ],
    [
      "nats://u:@h?timeout=0",
      {
        servers: ["h"],
        isTls: false,
        user: "u",
        password: "",
        prefix: "courser",
        replicas: 1,
        timeoutMs: 0,
        files: {},
      },
    ],
    ["nats://token@h", { servers: ["h"], isTls: false, token: "token", prefix: "courser", replicas: 1, files: {} }],
    ["nats://@h", { servers: ["h"], isTls: false, prefix: "courser", replicas: 1, files: {} }],
  ])("the fleet address %s is parsed", (url, expected) => expect(readAddress(url, {})).toEqual(expected));

  it("the certificate and credentials files of a fleet address come from the environment", () => {
    const env = { COURSER_FLEET_CREDS: "/c", COURSER_FLEET_CA: "", COURSER_FLEET_CERT: "/d", COURSER_FLEET_KEY: "/k" };
    expect(readAddress("nats://h", env).files).toEqual({ creds: "/c", cert: "/d", key: "/k" });
  });

  it.each([
    ["http://h", "'http://h' is not the address of a fleet"],
    ["nats://u:p@", "is not the address of a fleet"],
    ["nats://h?other=1", "has no parameter 'other'. Available: prefix, replicas, timeout."],
    [`nats://h?prefix=${"x".repeat(33)}`, "may only contain letters"],
    ["nats://h?prefix=a.b", "may only contain letters"],
    ["nats://h?replicas=2", "is 1, 3 or 5"],
    ["nats://h?timeout=-1", "is a number of seconds: '-1' does not fit"],
    ["nats://h?timeout=12345678", "is a number of seconds"],
  ])("the fleet address %s is refused", (url, words) => {
    expect(() => readAddress(url, {})).toThrow(words);
    expect(() => readAddress(`nats://h?prefix=${"x".repeat(32)}`, {})).not.toThrow();
  });
});

describe("keys and lanes", () => {
  it.each(["plain", "a-b_C9", "a.b", "ä b", "=x", ""])(
    "encoding '%s' as a part of a NATS subject and decoding it gives the same text",
    (text) => {
      expect(word(text)).toMatch(/^=?[\w-]*$/);
      expect(decodeWord(word(text))).toBe(text);
      expect(lastWord(`one.two.${word(text)}`)).toBe(text);
    },
  );

  it("a queue lane's name holds pool, priority, labels in any order, and sender", () => {
    expect(laneOf()).toBe("default.normal.any");
    expect(laneOf({ pool: "a.b", priority: "high" }, "me-too")).toBe("=YS5i.high.any-me-too");
    const labelled = laneOf({ labels: { a: "1", b: "2" } });
    expect(labelled).toMatch(/^default\.normal\.[\da-f]{16}$/);
    expect(laneOf({ labels: { b: "2", a: "1" } })).toBe(labelled);
    expect(laneOf({ labels: { a: "1" } })).not.toBe(labelled);
    expect([poolOf(laneOf({ pool: "a.b" })), poolOf(labelled)]).toEqual(["a.b", "default"]);
    expect([senderOf(laneOf({}, "a.b-c")), senderOf(labelled)]).toEqual(["a.b-c", undefined]);
    expect([isForAnybody(laneOf({}, "x")), isForAnybody(labelled)]).toEqual([true, false]);
  });

  it("a worker looks at urgent queue lanes first, then those few workers can take; senders take turns", () => {
    const [low, any, few, high] = ["p.low.any", "p.normal.any", "p.normal.0123", "p.high.any"] as const;
    expect(byUrgency([low, any, few, high], 0)).toEqual([high, few, any, low]);
    const senders = ["p.normal.any-a", "p.normal.any-b", "p.normal.any-c"] as const;
    expect(
      [0, 1, 2, 3].map((turn) =>
        byUrgency(senders, turn)
          .map((lane) => senderOf(lane))
          .join(""),
      ),
    ).toEqual(["abc", "bca", "cab", "abc"]);
    expect(byUrgency([], 3)).toEqual([]);
  });

  it("fleets under different prefixes share no stream and no subject", () => {
    const [one, two] = [new Names("one"), new Names("two")];
    const all = (names: Names) => [
      ...names.streams(),
      ...[names.subject("log", "k"), names.subject("runs", "k"), names.live("log", "k"), names.lanes, names.objects],
      ...[names.objectStream, names.piece("i"), names.description("n")],
    ];
    expect(all(one)).toEqual([
      ...["one_log", "one_work", "one_say", "one_lease", "KV_one_runs", "KV_one_state"],
      ...["one.log.k", "$KV.one_runs.k", "one.live.log.k", "one.news.lanes", "one_objects"],
      ...["OBJ_one_objects", "$O.one_objects.C.i", "$O.one_objects.M.n"],
    ]);
    expect(all(one).filter((name) => all(two).includes(name))).toEqual([]);
    for (const name of ["log", "state"] as const) {
      expect(one.keyOf(name, one.subject(name, "a.b"))).toBe("a.b");
      expect(one.keyOfLive(name, one.live(name, "a.b"))).toBe("a.b");
    }
  });
});

describe("payloads", () => {
  it("a fleet record that fits is in the message; a larger one is stored as an object of its run", async () => {
    const { server, objects, messages } = memoryServer({ maxBytes: 30 });
    const payloads = new Payloads(server);
    const pack = (value: unknown, options = {}) => payloads.pack("run.1", value, options);
    const fits = "x".repeat(30 - '{"value":""}'.length);
    expect(await pack(fits)).toBe(`{"value":"${fits}"}`);
    expect(objects.size).toBe(0);
    const large = await pack(`${fits}y`);
    const kept = await pack(`${fits}z`, { keep: true });
    expect([large, kept]).toEqual([
      expect.stringMatching(/^\{"object":"large-/),
      expect.stringMatching(/^\{"object":"spec-/),
    ]);
    expect(messages.map(({ stream, key }) => [stream, key.split(".").slice(0, 2).join(".")])).toEqual([
      ["state", `object.${word("run.1")}`],
      ["state", `kept.${word("run.1")}`],
    ]);
    const unpack = (text: string) => payloads.unpack("run.1", Buffer.from(text));
    expect([await unpack(`{"value":7}`), await unpack(large), await unpack(kept)]).toEqual([7, `${fits}y`, `${fits}z`]);
    await payloads.drop("run.1", ["object"]);
    expect([await unpack(large), await unpack(kept)]).toEqual([undefined, `${fits}z`]);
    await payloads.drop("run.1", ["object", "kept"]);
    expect(objects.size).toBe(0);
    expect(await server.keys("state", "kept.*")).toEqual([]);
  });

  it("a fleet stores and reads objects by run and name", async () => {
    const { server } = memoryServer();
    const payloads = new Payloads(server);
    const bytes = async function* (text: string) {
      yield Buffer.from(text);
    };
    await payloads.put("r", "a.gz", bytes("whole"));
    const pieces: string[] = [];
    for await (const piece of (await payloads.get("r", "a.gz"))!) pieces.push(Buffer.from(piece).toString());
    expect(pieces).toEqual(["wh", "ole"]);
    expect(await payloads.get("other", "a.gz")).toBeUndefined();
    await payloads.drop("r", ["object"]);
    expect(await payloads.get("r", "a.gz")).toBeUndefined();
  });
});

describe("retries", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("a fleet request is retried with growing pauses until its time limit", async () => {
    const at: number[] = [];
    const work = async () => {
      at.push(performance.now());
      throw new Error("away");
    };
    const begun = performance.now();
    const failed = untilAnswered(work, { patienceMs: 1500, isPassing: () => true }).catch((error) => error);
    for (let step = 0; step < 3000; step += 10) await vi.advanceTimersByTimeAsync(10);
    expect((await failed).message).toBe("away");
    expect(at.map((each) => Math.round(each - begun))).toEqual([0, 20, 60, 140, 300, 620, 1120]);
  });

  it("a fleet request is not retried once answered or refused, or when retrying would not help", async () => {
    for (const [error, isPassing] of [
      [new Refused(), true],
      [new Error("bug"), false],
    ] as const) {
      const work = vi.fn(async () => {
        throw error;
      });
      await expect(untilAnswered(work, { patienceMs: 1000, isPassing: () => isPassing })).rejects.toBe(error);
      expect(work).toHaveBeenCalledTimes(1);
    }
    expect(await untilAnswered(async () => 7, { patienceMs: 0, isPassing: () => true })).toBe(7);
  });

  it("publishing to a fleet succeeds if the stored message is this writer's, sent once or twice", async () => {
    const publish = (sent: object | Error, stored?: { sequence: number; writer?: string }) =>
      publishOnce({
        writer: "me",
        send: async () => {
          if (sent instanceof Error) throw sent;
          return sent as never;
        },
        isOvertaken: ({ message }: any) => message === "overtaken",
        stored: async (sequence) => {
          expect(sequence).toBe("sequence" in sent ? 5 : undefined);
          return stored;
        },
      }).catch((error) => error);
    expect(await publish({ sequence: 5, isDuplicate: false })).toBe(5);
    expect(await publish({ sequence: 5, isDuplicate: true }, { sequence: 5, writer: "me" })).toBe(5);
    expect(await publish({ sequence: 5, isDuplicate: true }, { sequence: 5, writer: "other" })).toBeInstanceOf(Refused);
    expect(await publish(new Error("overtaken"), { sequence: 4, writer: "me" })).toBe(4);
    expect(await publish(new Error("overtaken"))).toBeInstanceOf(Refused);
    expect((await publish(new Error("down"))).message).toBe("down");
  });

  it("writers of the same next message share its id, but the first message of a key has the writer's own", () => {
    expect(messageId("k", "a", 3)).toBe(messageId("k", "b", 3));
    expect(messageId("k", "a", 3)).not.toBe(messageId("k", "a", 4));
    expect(messageId("k", "a", 3)).not.toBe(messageId("l", "a", 3));
    expect(messageId("k", "a", undefined)).not.toBe(messageId("k", "b", undefined));
  });
});

describe("signs of life and quotas", () => {
  const signs = () => {
    const { server, clock, messages } = memoryServer();
    const presence = new WorkerPresence(server);
    return { server, clock, messages, presence, quotas: new Quotas(server, presence) };
  };

  it("a worker's later heartbeats keep its start time and quota share, also from another process", async () => {
    const { server, presence } = signs();
    presence.begin("h");
    await presence.give("h", { ttlMs: 100, share: "s" });
    await presence.give("h", { ttlMs: 100, run: "r" });
    expect(await presence.last("h")).toMatchObject({ owner: "h", since: 1, share: "s", run: "r", ttlMs: 100 });
    await new WorkerPresence(server).give("h", { ttlMs: 200 });
    expect(await presence.last("h")).toMatchObject({ since: 1, share: "s", ttlMs: 200 });
    expect((await presence.all()).map(({ owner }) => owner)).toEqual(["h"]);
    await presence.forget("h");
    expect(await presence.last("h")).toBeUndefined();
    await presence.give("h", { ttlMs: 1 });
    expect((await presence.last("h"))!.since).toBe(4);
  });

  it("a worker's place in the queue counts earlier workers of the same quota that still live", async () => {
    const { presence, clock } = signs();
    const sign = (share: string) => ({ ttlMs: 100, share });
    await presence.before("a", sign("s"), () => true);
    await presence.before("b", sign("other"), () => true);
    clock.now += 50;
    const isSame = ({ share }: { share?: string }) => share === "s";
    expect(await presence.before("c", sign("s"), isSame)).toBe(1);
    clock.now += 49;
    expect(await presence.before("d", sign("s"), isSame)).toBe(2);
    clock.now += 1;
    expect(await presence.before("e", sign("s"), isSame)).toBe(2);
  });

  it("quotas are set one by one, removed with 0, and explain why a run waits", async () => {
    const { quotas } = signs();
    expect(await quotas.reason("ann", "p", 99)).toBeUndefined();
    await quotas.set({ runs: 2 });
    await quotas.set({ costPerDay: 1.5 });
    expect(await quotas.read()).toEqual({ runs: 2, costPerDay: 1.5 });
    expect(await quotas.reason("ann", "p", 1)).toBeUndefined();
    expect(await quotas.reason("ann", "p", 2)).toBe("ann has 2 runs in pool p at once, and 2 is the most");
    await quotas.set({ runs: 1 });
    expect(await quotas.reason("ann", "p", 1)).toBe("ann has 1 run in pool p at once, and 1 is the most");
    await quotas.set({ runs: 0 });
    expect(await quotas.read()).toEqual({ costPerDay: 1.5 });
  });

  it("a fleet sums the cost of runs for each sender and day", async () => {
    const { quotas, clock } = signs();
    await quotas.set({ costPerDay: 1 });
    await quotas.spend("ann", 0.5);
    expect(await quotas.reason("ann", "p", 0)).toBeUndefined();
    await quotas.spend("ann", 0.5);
    await quotas.spend("bob", 0.25);
    expect(await quotas.reason("ann", "p", 0)).toBe("the runs of ann have cost $1.00 today, and $1 a day is the most");
    expect(await quotas.reason("bob", "p", 0)).toBeUndefined();
    clock.now += 12 * 3_600_000;
    expect(await quotas.reason("ann", "p", 0)).toBeUndefined();
    await quotas.spend("ann", 0.25);
    await quotas.set({ costPerDay: 0.25 });
    expect(await quotas.reason("ann", "p", 0)).toContain("have cost $0.25 today");
  });

  it("a fleet loses no cost when two hosts write one at the same time", async () => {
    const { quotas, server } = signs();
    await quotas.set({ costPerDay: 1 });
    const { last } = server;
    let isFirst = true;
    server.last = async (...args) => {
      const found = await last(...args);
      if (isFirst && args[1].startsWith("spent.")) {
        isFirst = false;
        await server.publish("state", args[1], '{"day":"2026-01-02","usd":0.75}');
      }
      return found;
    };
    await quotas.spend("ann", 0.5);
    expect(await quotas.reason("ann", "p", 0)).toContain("$1.25");
  });

  it("a host keeps its quota place in order of arrival, and gives it back if it finds no run", async () => {
    const { quotas, presence } = signs();
    expect(await quotas.findPlace("a", "ann", "p", 100)).toBe(true);
    expect(await presence.all()).toEqual([]);
    await quotas.set({ runs: 1 });
    expect(await quotas.findPlace("a", "ann", "p", 100)).toBe(true);
    expect(await quotas.findPlace("b", "ann", "p", 100)).toBe(false);
    expect(await quotas.findPlace("c", "bob", "p", 100)).toBe(true);
    expect(await quotas.findPlace("d", "ann", "q", 100)).toBe(true);
    expect((await presence.all()).map(({ owner, share }) => [owner, share])).toEqual([
      ["a", shareOf("ann", "p")],
      ["c", shareOf("bob", "p")],
      ["d", shareOf("ann", "q")],
    ]);
  });
});
