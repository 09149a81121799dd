// The connection to a server of NATS: made with packages that only those who have a fleet install.
import { readFileSync } from "node:fs";
import type { JetStreamClient, JetStreamManager, StreamConfig } from "@nats-io/jetstream";
import type { ObjectStore } from "@nats-io/obj";
import type { NatsConnection } from "@nats-io/transport-node";
import { UserError } from "../../../protocol/error-codes.ts";
import { systemErrorText } from "../../../text/system-error.ts";
import type { Address } from "./address.ts";
import { fleetError, noJetStream } from "./errors.ts";
import { isBucket, Names } from "./names.ts";
import { type StreamName, streamNames } from "./server.ts";

export type Connected = {
  packages: Packages;
  connection: NatsConnection;
  jetstream: JetStreamClient;
  manager: JetStreamManager;
  objects: ObjectStore;
  names: Names;
  /** The address, for people. */
  where: string;
};

type Packages = Awaited<ReturnType<typeof loadPackages>>;

const install = "npm install @nats-io/transport-node@3 @nats-io/jetstream@3 @nats-io/obj@3";

async function loadPackages() {
  try {
    const [transport, jetstream, obj] = await Promise.all([
      import("@nats-io/transport-node"),
      import("@nats-io/jetstream"),
      import("@nats-io/obj"),
    ]);
    return { transport, jetstream, obj };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "MODULE_NOT_FOUND" && code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new UserError(
      "FLEET_CLIENT_MISSING",
      `Fleets on NATS need packages that are not installed. Install them beside courser-agent (with -g if it is global): ${install}`,
    );
  }
}

/** A server that is away for longer than this does not hear from us, and we from it; found out within three times as long. */
const pingMs = 10_000;
const connectMs = 5000;
const oldestServer = [2, 9] as const;
/** How long a message that is sent twice is known: longer than any retry of ours. */
const knownMs = 120_000;
const leasesKeptMs = 24 * 3_600_000;

export async function connectFleet(address: Address): Promise<Connected> {
  const packages = await loadPackages();
  const where = `${address.isTls ? "tls" : "nats"}://${address.servers.join(",")}`;
  const connection = await dial(packages, address, where);
  try {
    checkVersion(connection, where);
    const jetstream = packages.jetstream.jetstream(connection);
    const manager = await packages.jetstream.jetstreamManager(connection, { checkAPI: false });
    const names = new Names(address.prefix);
    const objects = await openStreams({ packages, jetstream, manager, names, replicas: address.replicas });
    return { packages, connection, jetstream, manager, objects, names, where };
  } catch (error) {
    await connection.close();
    throw fleetError(error, where);
  }
}

async function dial({ transport }: Packages, address: Address, where: string): Promise<NatsConnection> {
  const { creds, ca, cert, key } = address.files;
  const hasTls = address.isTls || ca !== undefined || cert !== undefined;
  try {
    return await transport.connect({
      servers: address.servers,
      name: `courser ${process.pid}`,
      ...(address.user !== undefined && { user: address.user, pass: address.password ?? "" }),
      ...(address.token !== undefined && { token: address.token }),
      ...(creds !== undefined && {
        authenticator: transport.credsAuthenticator(readFile(creds, "COURSER_FLEET_CREDS")),
      }),
      ...(hasTls && {
        tls: {
          ...(ca !== undefined && { ca: text(ca, "COURSER_FLEET_CA") }),
          ...(cert !== undefined && { cert: text(cert, "COURSER_FLEET_CERT") }),
          ...(key !== undefined && { key: text(key, "COURSER_FLEET_KEY") }),
        },
      }),
      timeout: connectMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      reconnectJitterTLS: 500,
      pingInterval: pingMs,
      maxPingOut: 2,
    });
  } catch (error) {
    throw fleetError(error, where);
  }
}

function readFile(file: string, variable: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UserError("FILE_UNREADABLE", `${variable}: ${file} cannot be read: ${systemErrorText(error)}.`);
  }
}

function text(file: string, variable: string): string {
  return Buffer.from(readFile(file, variable)).toString();
}

function checkVersion({ info }: NatsConnection, where: string): void {
  const [major = 0, minor = 0] = (info?.version ?? "").split(".").map(Number);
  const isOld = major < oldestServer[0] || (major === oldestServer[0] && minor < oldestServer[1]);
  if (isOld)
    throw new UserError(
      "FLEET_UNSUITABLE",
      `The server at ${where} is NATS ${info?.version}; fleets need ${oldestServer.join(".")} or newer.`,
    );
  if (info?.jetstream !== true) throw noJetStream(where);
}

type Opening = Pick<Connected, "packages" | "jetstream" | "manager" | "names"> & { replicas: number };

/** Whoever comes first makes them; those of a fleet that is there are left as they are. */
async function openStreams({ packages, jetstream, manager, names, replicas }: Opening): Promise<ObjectStore> {
  const stores = new packages.obj.Objm(jetstream);
  // The last one to be made: where it is, so are the others.
  const isThere = await manager.streams.info(`OBJ_${names.objects}`).catch((error: Error & { code?: unknown }) => {
    if (error.code === packages.jetstream.JetStreamApiCodes.StreamNotFound) return undefined;
    throw error;
  });
  if (isThere) return stores.open(names.objects, false);
  for (const name of streamNames) await manager.streams.add(streamConfig(name, names, replicas, packages));
  return stores.create(names.objects, { storage: packages.jetstream.StorageType.File, replicas });
}

function streamConfig(
  name: StreamName,
  names: Names,
  replicas: number,
  { jetstream }: Packages,
): Partial<StreamConfig> & { name: string } {
  const { DiscardPolicy, RetentionPolicy, StorageType } = jetstream;
  const nanoseconds = 1_000_000;
  const common = {
    name: names.stream(name),
    subjects: [names.subject(name, ">")],
    storage: StorageType.File,
    num_replicas: replicas,
    allow_direct: true,
    duplicate_window: knownMs * nanoseconds,
  };
  const republish = { republish: { src: names.subject(name, ">"), dest: names.live(name, ">") } };
  if (isBucket(name))
    return {
      ...common,
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.New,
      allow_rollup_hdrs: true,
      deny_delete: true,
    };
  if (name === "work") return { ...common, retention: RetentionPolicy.Workqueue };
  if (name === "lease") return { ...common, max_msgs_per_subject: 1, max_age: leasesKeptMs * nanoseconds };
  return { ...common, ...republish };
}
