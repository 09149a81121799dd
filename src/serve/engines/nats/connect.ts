// Connects to a NATS server and creates the fleet's streams. The client packages are optional: only users of a fleet install them.
import { readFileSync } from "node:fs";
import type { JetStreamClient, JetStreamManager, StreamConfig } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { UserError } from "../../../protocol/error-codes.ts";
import { systemErrorText } from "../../../text/system-error.ts";
import type { Address } from "./address.ts";
import { fleetError, isPassing, noJetStream } from "./errors.ts";
import { isBucket, Names } from "./names.ts";
import { untilAnswered } from "./retry.ts";
import { type StreamName, streamNames } from "./server.ts";

export type Connected = {
  packages: Packages;
  connection: NatsConnection;
  jetstream: JetStreamClient;
  manager: JetStreamManager;
  /** Reads single messages, with a shorter timeout than other requests. */
  reader: JetStreamManager;
  names: Names;
  /** Called when the server refuses a publish: for most messages no reply is awaited. */
  onRefused: Set<(error: Error, subject: string) => void>;
  /** The address without the login, for messages. */
  where: string;
};

type Packages = Awaited<ReturnType<typeof loadPackages>>;

const install = "npm install @nats-io/transport-node@3 @nats-io/jetstream@3";

async function loadPackages() {
  try {
    const [transport, jetstream] = await Promise.all([import("@nats-io/transport-node"), import("@nats-io/jetstream")]);
    return { transport, jetstream };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "MODULE_NOT_FOUND" && code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new UserError(
      "FLEET_CLIENT_MISSING",
      `Fleets on NATS need packages that are not installed. Install them beside courser-agent (with -g if it is global): ${install}`,
    );
  }
}

/**
 * The interval between pings to the server. A lost connection is noticed within three times as long, so that another server of
 * the cluster can be reached within a lease.
 */
const pingMs = 2500;
const connectMs = 5000;
/** How long the reply to a message, or to a read of one, may take before it is repeated. */
export const answerMs = 2500;
/** How long opening may take: a cluster that just started or lost a server needs some seconds to elect a leader. */
const openingMs = 20_000;
const oldestServer = [2, 9] as const;
/** How long the server detects duplicates: longer than any retry here. */
const knownMs = 120_000;
/** How long logs, messages to hosts and files are kept, unless `fleet limits` changes it. */
const keptMs = 30 * 24 * 3_600_000;
const leasesKeptMs = 24 * 3_600_000;

export async function connectFleet(address: Address): Promise<Connected> {
  const packages = await loadPackages();
  const where = `${address.isTls ? "tls" : "nats"}://${address.servers.join(",")}`;
  const connection = await dial(packages, address, where);
  try {
    checkVersion(connection, where);
    const jetstream = packages.jetstream.jetstream(connection);
    const managing = packages.jetstream.jetstreamManager;
    const manager = await managing(connection, { checkAPI: false });
    const reader = await managing(connection, { checkAPI: false, timeout: answerMs });
    const names = new Names(address.prefix);
    const opening = { packages, manager, names, replicas: address.replicas };
    await untilAnswered(() => openStreams(opening), { patienceMs: openingMs, isPassing });
    return { packages, connection, jetstream, manager, reader, names, where, onRefused: new Set() };
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
          ...(ca !== undefined && { ca: String(readFile(ca, "COURSER_FLEET_CA")) }),
          ...(cert !== undefined && { cert: String(readFile(cert, "COURSER_FLEET_CERT")) }),
          ...(key !== undefined && { key: String(readFile(key, "COURSER_FLEET_KEY")) }),
        },
      }),
      timeout: connectMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      reconnectJitterTLS: 500,
      noAsyncTraces: true, // a stack trace for each request is a tenth of its cost
      pingInterval: pingMs,
      maxPingOut: 2,
    });
  } catch (error) {
    throw fleetError(error, where);
  }
}

function readFile(file: string, variable: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UserError("FILE_UNREADABLE", `${variable}: ${file} cannot be read: ${systemErrorText(error)}.`);
  }
}

function checkVersion({ info }: NatsConnection, where: string): void {
  const [major = 0, minor = 0] = (info?.version ?? "").split(".").map(Number);
  const isOld = major < oldestServer[0] || (major === oldestServer[0] && minor < oldestServer[1]);
  if (isOld)
    throw new UserError(
      "FLEET_UNSUITABLE",
      `The server at ${where} is NATS ${info?.version}; fleets need ${oldestServer.join(".")} or newer.`,
    );
  // A server of a cluster may lack JetStream while others have it.
  if (info?.jetstream !== true && info?.cluster === undefined) throw noJetStream(where);
}

type Opening = Pick<Connected, "packages" | "manager" | "names"> & { replicas: number };
type Config = Partial<StreamConfig> & { name: string };

/** Creates the streams if they do not exist yet; leaves existing ones unchanged. */
async function openStreams({ packages, manager, names, replicas }: Opening): Promise<void> {
  // This stream is created last: if it exists, so do the others.
  const isThere = await manager.streams.info(names.objectStream).catch((error: Error & { code?: unknown }) => {
    if (error.code === packages.jetstream.JetStreamApiCodes.StreamNotFound) return undefined;
    throw error;
  });
  if (isThere) return;
  for (const name of streamNames) await manager.streams.add(streamConfig(name, names, replicas, packages));
  await manager.streams.add(objectsConfig(names, replicas, packages));
}

/** Configures the stream as the NATS object store does. */
function objectsConfig(names: Names, replicas: number, { jetstream }: Packages): Config {
  return {
    name: names.objectStream,
    subjects: [names.piece(">"), names.description(">")],
    storage: jetstream.StorageType.File,
    num_replicas: replicas,
    allow_direct: true,
    max_age: keptMs * 1_000_000,
  };
}

function streamConfig(name: StreamName, names: Names, replicas: number, { jetstream }: Packages): Config {
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
      ...(name === "runs" && { max_age: keptMs * nanoseconds }),
    };
  if (name === "work") return { ...common, retention: RetentionPolicy.Workqueue };
  if (name === "lease") return { ...common, max_msgs_per_subject: 1, max_age: leasesKeptMs * nanoseconds };
  return { ...common, ...republish, max_age: keptMs * nanoseconds };
}
