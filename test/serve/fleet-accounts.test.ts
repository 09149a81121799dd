// The server configuration that is shipped, as it is: each kind of user can do its work, and is attacked through the raw API for what it must
// not do, to its own team and to another one.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../../src/serve/fleet.ts";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { freePort } from "../support/free-port.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { repository } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { newRun } from "./fleet-kit.ts";

const missing = noNatsServer || (spawnSync("openssl", ["version"]).status !== 0 && "there is no openssl here");
const shipped = join(repository, "integrations/fleet/nats");
const users = [
  "build-admin",
  "build-sender",
  "build-worker",
  "build-reader",
  "data-sender",
  "data-worker",
  "data-reader",
];

describe.skipIf(missing)(orSkipped("the accounts that are shipped", missing), () => {
  const folder = mkdtempSync(join(tmpdir(), "courser-accounts-"));
  const ca = join(folder, "ca.pem");
  const raw = new Map<string, NatsConnection>();
  const servers: NatsServer[] = [];
  const address = () => servers.map((server) => server.address).join(",");
  const url = (user: string) => `tls://${user}:pw-${user}@${address()}?replicas=3`;
  const open = (user: string) => openFleet(url(user), { configDir: "/nowhere", env: { COURSER_FLEET_CA: ca } });
  const withFleets = async (names: readonly string[], work: (...fleets: Fleet[]) => Promise<void>) => {
    const fleets = await Promise.all(names.map(open));
    try {
      await work(...fleets);
    } finally {
      for (const fleet of fleets) fleet.close();
    }
  };

  beforeAll(async () => {
    makeCertificate(folder);
    const ports = await Promise.all([1, 2, 3].map(async () => ({ port: await freePort(), route: await freePort() })));
    for (const [index, { port }] of ports.entries()) {
      const place = join(folder, `node-${index + 1}`);
      cpSync(shipped, place, { recursive: true });
      writeFileSync(join(place, "node.conf"), nodeConf(place, ports, index));
      writeFileSync(join(place, "passwords.conf"), passwordsConf());
      const server = new NatsServer({ file: join(place, "server.conf") });
      server.port = port;
      servers.push(server);
    }
    await Promise.all(servers.map((server) => server.start()));
    (await open("build-admin")).close();
    (await open("data-admin")).close();
    for (const user of users)
      raw.set(
        user,
        await connect({
          servers: address().split(","),
          user,
          pass: `pw-${user}`,
          tls: { ca: readFileSync(ca, "utf8") },
        }),
      );
  }, 30_000);
  afterAll(async () => {
    for (const connection of raw.values()) await connection.close();
    await Promise.all(servers.map((server) => server.remove()));
    rmSync(folder, { recursive: true, force: true });
  });

  it("the example of fleet accounts sets every variable that its server configuration uses", () => {
    const names = (file: string) => [...readFileSync(join(shipped, file), "utf8").matchAll(/: \$([A-Z]+_[A-Z_]+)/g)];
    const used = new Set([...names("server.conf"), ...names("teams.conf")].map(([, name]) => name));
    const example = ["node.conf", "passwords.conf"].map((file) => readFileSync(join(shipped, file), "utf8")).join("");
    const set = new Set([...example.matchAll(/^([A-Z_]+):/gm)].map(([, name]) => name));
    expect([...used].filter((name) => !set.has(name!))).toEqual([]);
  });

  it("each kind of fleet account can do the work that it is for", { timeout: 30_000 }, async () => {
    await withFleets(["build-sender", "build-worker", "build-reader"], async (sender, worker, reader) => {
      await sender!.put("run-0", "archive", bytes("files"));
      await sender!.enqueue(newRun(0));
      const lease = (await worker!.lease({ worker: "w", ttlMs: 15_000, wait: AbortSignal.timeout(15_000) }))!;
      expect(await textOf(await worker!.get("run-0", "archive"))).toBe("files");
      const question = { id: "q", hash: "h", type: "permission", tool: "Shell", args: {}, reasons: [] } as never;
      const position = await worker!.append(lease, [{ type: "question", question }], lease.position);
      expect(await reader!.questions()).toHaveLength(1);
      await sender!.answer("run-0", { question: "q", hash: "h", answer: { type: "yes" } as never });
      const told = worker!.receive(lease, 0, AbortSignal.timeout(10_000))[Symbol.asyncIterator]();
      const heard = await told.next();
      expect(heard.value.message).toMatchObject({ type: "answer", question: "q" });
      const closed = await worker!.append(lease, [{ type: "question_closed", question: "q" }], position);
      await worker!.put("run-0", "patch", bytes("diff"));
      const end = { outcome: "finished", text: "done", durationMs: 1, turns: 1 } as const;
      expect(await worker!.finish(lease, end, closed, Number.MAX_SAFE_INTEGER)).toBe(true);
      const read: string[] = [];
      for await (const { entry } of reader!.follow("run-0", 0, AbortSignal.timeout(10_000))) read.push(entry.type);
      expect(read).toEqual(["leased", "question", "question_closed", "result"]);
      expect(await textOf(await reader!.get("run-0", "patch"))).toBe("diff");
      expect(await reader!.waiting()).toMatchObject({ count: 0, hosted: 0 });
      // A run that waits is stopped by the worker that takes it.
      await sender!.enqueue(newRun(1));
      expect(await sender!.cancel("run-1", "not needed")).toBe(true);
      await worker!.lease({ worker: "w", ttlMs: 15_000, wait: AbortSignal.timeout(15_000) });
      expect(await worker!.run("run-1")).toMatchObject({ cancelReason: "not needed" });
    });
  });

  it("fleet accounts for readers and workers cannot send runs, and get an error at once", {
    timeout: 30_000,
  }, async () => {
    await withFleets(["build-reader", "build-worker"], async (reader, worker) => {
      for (const fleet of [reader!, worker!]) {
        const began = Date.now();
        await expect(fleet.enqueue(newRun(7))).rejects.toMatchObject({ code: "FLEET_REFUSED" });
        expect(Date.now() - began).toBeLessThan(3000);
      }
    });
  });

  const forbidden: Readonly<Record<string, readonly string[]>> = {
    "build-sender": [
      ...["DELETE", "PURGE", "UPDATE", "CREATE", "SNAPSHOT", "RESTORE", "LEADER.STEPDOWN", "PEER.REMOVE"].map(
        (verb) => `$JS.API.STREAM.${verb}.courser_log`,
      ),
      "$JS.API.STREAM.MSG.DELETE.courser_log",
      "$JS.API.STREAM.PURGE.KV_courser_runs",
      "$JS.API.CONSUMER.DELETE.courser_work.default_normal_any",
      "$JS.API.CONSUMER.CREATE.courser_work.x.courser.work.>",
      "$JS.API.CONSUMER.DURABLE.CREATE.courser_work.x",
      "$JS.API.CONSUMER.MSG.NEXT.courser_work.default_normal_any",
      "$JS.ACK.courser_work.default_normal_any.1.1.1.1.0",
      "courser.log.run-0",
      "courser.lease.host.x",
      "$KV.courser_state.quota",
      "$KV.courser_state.spent.ann",
      "$SYS.REQ.SERVER.PING",
    ],
    "build-worker": [
      "$KV.courser_state.quota",
      "courser.work.default.normal.any.run-9",
      "$KV.courser_runs.run.run-9",
      "$JS.API.STREAM.DELETE.courser_work",
      "$JS.API.STREAM.PURGE.courser_work",
      "$JS.API.STREAM.PURGE.KV_courser_runs",
      "$JS.API.STREAM.UPDATE.courser_log",
      "$JS.API.CONSUMER.DELETE.courser_work.default_normal_any",
      "$SYS.REQ.SERVER.PING",
    ],
    "build-reader": [
      "courser.log.run-0",
      "courser.say.run-0.cancel",
      "courser.work.default.normal.any.run-9",
      "$KV.courser_runs.run.run-9",
      "$KV.courser_state.agent.agent-0",
      "$O.courser_objects.M.x",
      "$JS.API.STREAM.PURGE.courser_log",
      "$JS.API.STREAM.MSG.DELETE.courser_log",
      "$JS.API.STREAM.DELETE.courser_log",
      "$JS.API.CONSUMER.DELETE.courser_work.default_normal_any",
    ],
  };
  for (const [user, subjects] of Object.entries(forbidden))
    it(`the NATS server refuses ${user} what its account may not do`, { timeout: 30_000 }, async () => {
      for (const subject of subjects)
        await expect(raw.get(user)!.request(subject, "{}", { timeout: 2000 }), subject).rejects.toThrow(/permission/i);
    });

  it("a fleet account of another team sees and changes nothing", { timeout: 60_000 }, async () => {
    await withFleets(["build-sender"], async (sender) => {
      await sender!.enqueue(newRun(3));
      const before = await sender!.runs();
      for (const user of users.filter((name) => name.startsWith("data-"))) {
        const connection = raw.get(user)!;
        const heard: string[] = [];
        for (const subject of ["courser.live.>", "courser.news.*", "_INBOX.>"])
          connection.subscribe(subject, {
            callback(error, message) {
              if (!error) heard.push(message.subject);
            },
          });
        const ask = (subject: string, body: object = {}) =>
          connection.request(subject, JSON.stringify(body), { timeout: 2000 }).then(
            (answer) => answer.string(),
            (error: Error) => error.message,
          );
        const answers = [
          await ask("$JS.API.STREAM.INFO.KV_courser_runs", { subjects_filter: ">" }),
          await ask("$JS.API.STREAM.MSG.GET.KV_courser_runs", { last_by_subj: "$KV.courser_runs.run.run-3" }),
          await ask("$JS.API.STREAM.NAMES"),
          await ask("$JS.API.STREAM.PURGE.courser_log"),
          await ask("$JS.API.STREAM.DELETE.courser_work"),
        ];
        expect(answers.join("\n")).not.toContain("run-3");
        await sender!.say("run-3", { type: "steer", text: "secret" });
        const fleet = await open(user);
        expect(await fleet.runs()).toEqual([]);
        expect(await fleet.run("run-3")).toBeUndefined();
        fleet.close();
        expect(heard.filter((subject) => subject.startsWith("courser.live.say"))).toEqual([]);
      }
      expect((await sender!.runs()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    });
  });

  it("a fleet refuses connections without a login or without TLS", async () => {
    const refused = openFleet(`tls://${address()}`, { configDir: "/nowhere", env: { COURSER_FLEET_CA: ca } });
    await expect(refused).rejects.toMatchObject({ code: "FLEET_REFUSED" });
    const plain = openFleet(`nats://build-reader:wrong@${address()}`, { configDir: "/nowhere", env: {} });
    await expect(plain).rejects.toMatchObject({ code: "FLEET_REFUSED" });
  });
});

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function textOf(found: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of found!) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function makeCertificate(folder: string): void {
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "ca.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  spawnSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...files, ...subject]);
  if (!existsSync(join(folder, "ca.pem"))) throw new Error("openssl made no certificate");
}

/** The example, with values of this machine. */
function nodeConf(place: string, ports: readonly { port: number; route: number }[], index: number): string {
  const { port, route } = ports[index]!;
  const values: Record<string, string> = {
    NODE_NAME: `"fleet-${index + 1}"`,
    NODE_LISTEN: `"127.0.0.1:${port}"`,
    NODE_ROUTE_LISTEN: `"127.0.0.1:${route}"`,
    NODE_ROUTES: JSON.stringify(ports.map((each) => `nats-route://127.0.0.1:${each.route}`)),
    NODE_MONITOR: '"127.0.0.1:-1"',
    NODE_STORE: `"${join(place, "store")}"`,
    NODE_STORE_SIZE: "1GB",
    NODE_CERT: `"${join(place, "../ca.pem")}"`,
    NODE_KEY: `"${join(place, "../key.pem")}"`,
    NODE_CA: `"${join(place, "../ca.pem")}"`,
  };
  const example = readFileSync(join(shipped, "node.conf"), "utf8");
  return example.replace(/^([A-Z_]+): .*$/gm, (_line, name: string) => `${name}: ${values[name]}`);
}

function passwordsConf(): string {
  const example = readFileSync(join(shipped, "passwords.conf"), "utf8");
  return example.replace(/^([A-Z_]+)_PASSWORD: .*$/gm, (_line, name: string) => {
    return `${name}_PASSWORD: "pw-${name.toLowerCase().replaceAll("_", "-")}"`;
  });
}
