// How a fleet on NATS is reached: addresses, logins, certificates, what is too large for a message; and what is said where it fails.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { createAccount, createOperator, createUser, type KeyPair } from "@nats-io/nkeys";
import { afterAll, describe, expect, it } from "vitest";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { freePort } from "../support/free-port.ts";
import { NatsServer, type NatsServerOptions, noNatsServer } from "../support/nats-server.ts";
import { orSkipped } from "../support/skipping.ts";
import { ended, newRun } from "./fleet-kit.ts";

const folder = mkdtempSync(join(tmpdir(), "courser-fleet-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open = (url: string, env: NodeJS.ProcessEnv = {}) => openFleet(url, { configDir: folder, env });
const noOpenssl = spawnSync("openssl", ["version"]).status !== 0 && "there is no openssl here";

async function withServer(options: NatsServerOptions, use: (server: NatsServer) => Promise<void>): Promise<void> {
  const server = await NatsServer.start(options);
  try {
    await use(server);
  } finally {
    await server.remove();
  }
}

/** Whether it can be used. */
async function works(url: string, env?: NodeJS.ProcessEnv): Promise<void> {
  const fleet = await open(url, env);
  await fleet.enqueue(newRun(1));
  expect((await fleet.run("run-1"))?.state).toBe("queued");
  fleet.close();
}

describe("an address", () => {
  it("an invalid fleet address is reported without the credentials in it", async () => {
    for (const url of [
      "http://a:secret@b",
      "nats://",
      "nats://a:secret@b@c",
      "nats://a?color=red",
      "nats://a?replicas=2",
    ]) {
      const refused = open(url);
      await expect(refused).rejects.toMatchObject({ code: "USAGE" });
      await expect(refused).rejects.not.toThrow("secret");
    }
  });

  it("an unreachable NATS server is reported with how to start one", async () => {
    const url = `nats://user:secret@127.0.0.1:${await freePort()}`;
    await expect(open(url)).rejects.toMatchObject({ code: "FLEET_UNREACHABLE" });
    await expect(open(url)).rejects.toThrow(/nats-server -js/);
    await expect(open(url)).rejects.not.toThrow("secret");
  });

  it("a NATS server that is too old is reported", async () => {
    const info = { server_id: "x", version: "2.8.4", proto: 1, max_payload: 1_048_576, headers: true, jetstream: true };
    const old = createServer((socket) => {
      socket.write(`INFO ${JSON.stringify(info)}\r\n`);
      socket.on("data", (data) => String(data).includes("PING") && socket.write("PONG\r\n")).on("error", () => {});
    });
    await new Promise<void>((resolve) => old.listen(0, "127.0.0.1", resolve));
    const { port } = old.address() as { port: number };
    const refused = open(`nats://127.0.0.1:${port}`);
    await expect(refused).rejects.toMatchObject({ code: "FLEET_UNSUITABLE" });
    await expect(refused).rejects.toThrow(/2\.8\.4.*2\.9/);
    old.close();
  });
});

describe.skipIf(noNatsServer)(orSkipped("a server", noNatsServer), () => {
  it("a NATS server without JetStream, or a full one, is reported", async () => {
    await withServer({ hasJetStream: false }, async (server) => {
      await expect(open(server.url())).rejects.toMatchObject({ code: "FLEET_UNSUITABLE" });
    });
    const config = `jetstream { store_dir: "${join(folder, "small")}", max_file_store: 2MB }`;
    await withServer({ hasJetStream: false, config }, async (server) => {
      const fleet = await open(server.url());
      async function* much() {
        for (let piece = 0; piece < 60; piece++) yield Buffer.alloc(100_000, piece);
      }
      await expect(fleet.put("run-1", "patch", much())).rejects.toMatchObject({ code: "FLEET_FULL" });
      const fill = async () => {
        for (let number = 0; number < 30; number++) {
          const run = newRun(number);
          await fleet.enqueue({ ...run, spec: { ...run.spec, prompt: { text: "x".repeat(200_000) } } });
        }
      };
      await expect(fill()).rejects.toMatchObject({ code: "FLEET_FULL" });
      fleet.close();
    });
  });

  it("a NATS server accepts the password or the token, and a missing one is reported", async () => {
    await withServer({ config: "authorization { user: me, password: secret }" }, async (server) => {
      await works(`nats://me:secret@${server.address}`);
      for (const login of ["me:wrong@", ""])
        await expect(open(`nats://${login}${server.address}`)).rejects.toMatchObject({ code: "FLEET_REFUSED" });
    });
    await withServer({ config: 'authorization { token: "s3cret" }' }, async (server) => {
      await works(`nats://s3cret@${server.address}`);
    });
  });

  it("a NATS user without the permissions that a fleet needs is reported", async () => {
    const permissions = (publish: unknown, subscribe: readonly string[]) =>
      `authorization { users: [{ user: me, password: secret, permissions: ${JSON.stringify({ publish, subscribe })} }] }`;
    const needed = {
      publish: ["fleet.>", "$KV.fleet_runs.>", "$KV.fleet_state.>", "$O.fleet_objects.>", "$JS.API.>", "$JS.ACK.>"],
      subscribe: ["_INBOX.>", "fleet.live.>", "fleet.news.*"],
    };
    await withServer({ config: permissions(needed.publish, needed.subscribe) }, async (server) => {
      const url = `nats://me:secret@${server.address}?prefix=fleet`;
      await works(url);
      const fleet = await open(url);
      const lease = (await fleet.lease({ worker: "w", ttlMs: 60_000, wait: AbortSignal.timeout(20_000) }))!;
      await fleet.put("run-1", "patch", Readable.from([Buffer.from("diff")]));
      expect(await fleet.finish(lease, ended, lease.position, 0)).toBe(true);
      fleet.close();
    });
    // One who may send runs, but take none, is told so by whoever waits for a run.
    const sending = { allow: needed.publish, deny: ["$JS.API.CONSUMER.MSG.NEXT.>"] };
    await withServer({ config: permissions(sending, needed.subscribe) }, async (server) => {
      const fleet = await open(`nats://me:secret@${server.address}?prefix=fleet`);
      await fleet.enqueue(newRun(1));
      const refused = fleet.lease({ worker: "w", ttlMs: 60_000, wait: AbortSignal.timeout(20_000) });
      await expect(refused).rejects.toMatchObject({ code: "FLEET_REFUSED" });
      fleet.close();
    });
    await withServer({ config: permissions(["fleet.>"], needed.subscribe) }, async (server) => {
      const refused = open(`nats://me:secret@${server.address}?prefix=fleet`);
      await expect(refused).rejects.toMatchObject({ code: "FLEET_REFUSED" });
      await expect(refused).rejects.toThrow(/\$JS\.API/);
    });
  });

  it("a NATS server accepts a credentials file", async () => {
    const [operator, account, system, user] = [createOperator(), createAccount(), createAccount(), createUser()];
    const limits = {
      mem_storage: -1,
      disk_storage: -1,
      streams: -1,
      consumer: -1,
      subs: -1,
      conn: -1,
      data: -1,
      payload: -1,
    };
    const operatorJwt = jwt(operator, operator, { type: "operator" });
    const accountJwt = jwt(operator, account, { type: "account", limits });
    const userJwt = jwt(account, user, { type: "user", subs: -1, data: -1, payload: -1 });
    const accounts = [
      `${account.getPublicKey()}: ${accountJwt}`,
      `${system.getPublicKey()}: ${jwt(operator, system, { type: "account" })}`,
    ];
    const config = `operator: ${operatorJwt}
      system_account: ${system.getPublicKey()}
      resolver: MEMORY
      resolver_preload: { ${accounts.join(", ")} }`;
    const file = join(folder, "user.creds");
    const seed = Buffer.from(user.getSeed()).toString();
    writeFileSync(
      file,
      `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
    );
    await withServer({ config }, async (server) => {
      await works(server.url(), { COURSER_FLEET_CREDS: file });
      await expect(open(server.url())).rejects.toMatchObject({ code: "FLEET_REFUSED" });
    });
    const missing = open("nats://127.0.0.1:1", { COURSER_FLEET_CREDS: join(folder, "none.creds") });
    await expect(missing).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
  });

  it.skipIf(noOpenssl)(
    orSkipped("a fleet client connects by TLS only to a NATS server with a trusted certificate", noOpenssl),
    async () => {
      const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(folder, name));
      const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
      spawnSync("openssl", [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        key!,
        "-out",
        cert!,
        ...subject,
      ]);
      await withServer({ config: `tls { cert_file: "${cert}", key_file: "${key}" }` }, async (server) => {
        await works(`tls://${server.address}`, { COURSER_FLEET_CA: cert });
        const refused = open(`tls://${server.address}`);
        await expect(refused).rejects.toMatchObject({ code: "FLEET_REFUSED" });
        await expect(refused).rejects.toThrow(/COURSER_FLEET_CA/);
      });
    },
  );

  it("a fleet stores entries larger than a message, and prefixes keep fleets apart", async () => {
    await withServer({}, async (server) => {
      const [fleet, other] = await Promise.all([open(server.url("one")), open(server.url("two"))]);
      const large = "x".repeat(3_000_000);
      const run = newRun(1);
      await fleet.enqueue({ ...run, spec: { ...run.spec, prompt: { text: large } } });
      expect((await fleet.run("run-1"))?.spec.prompt.text).toBe(large);
      expect(await other.run("run-1")).toBeUndefined();
      const lease = (await fleet.lease({ worker: "w", ttlMs: 60_000 }))!;
      await fleet.say("run-1", { type: "steer", text: large });
      for await (const { message } of fleet.receive(lease, 0, new AbortController().signal)) {
        expect(message).toEqual({ type: "steer", text: large });
        break;
      }
      const position = await fleet.append(
        lease,
        [{ type: "event", event: { type: "text_end", text: large } }],
        lease.position,
      );
      await fleet.finish(lease, { ...ended, text: large }, position, Number.MAX_SAFE_INTEGER);
      const read: unknown[] = [];
      for await (const { entry } of fleet.follow("run-1", 0, new AbortController().signal)) read.push(entry);
      expect(read).toMatchObject([
        { type: "leased" },
        { event: { text: large } },
        { type: "result", end: { text: large } },
      ]);
      expect((await fleet.run("run-1"))?.end?.text).toBe(large);
      fleet.close();
      other.close();
    });
  });
});

it("a fleet without the NATS packages names the missing ones", () => {
  const dist = resolve(import.meta.dirname, "../../dist");
  const copy = join(folder, "program");
  for (const part of ["courser.cjs", "cli"]) cpSync(join(dist, part), join(copy, part), { recursive: true });
  expect(existsSync(join(copy, "node_modules"))).toBe(false);
  const run = spawnSync(
    process.execPath,
    [join(copy, "courser.cjs"), "runs", "list", "--fleet", "nats://127.0.0.1:1"],
    {
      cwd: folder,
      encoding: "utf8",
      env: { HOME: folder, PATH: process.env["PATH"] },
    },
  );
  expect(run.stderr).toMatch(/npm install @nats-io\/transport-node@3 .*\[FLEET_CLIENT_MISSING\]/);
  expect(run.status).toBe(1);
});

/** Signed by one for another, as NATS has them. */
function jwt(issuer: KeyPair, subject: KeyPair, nats: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const id = { jti: String(now), iat: now, iss: issuer.getPublicKey(), sub: subject.getPublicKey(), name: "test" };
  const signed = `${encode({ typ: "JWT", alg: "ed25519-nkey" })}.${encode({ ...id, nats: { ...nats, version: 2 } })}`;
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString("base64url")}`;
}
